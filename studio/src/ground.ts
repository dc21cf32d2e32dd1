// Shapes on the floor, computed without drawing: ribbons along a path, and a few boxes for many blocked cells.

export interface Strip {
  positions: number[];
  index: number[];
}

/** A flat ribbon of a width [m] along points (x, y), at height z. Coincident points are left out. */
export function ribbonOf(points: ArrayLike<number>[], width: number, z: number): Strip {
  const kept: ArrayLike<number>[] = [];
  for (const point of points) {
    const last = kept[kept.length - 1];
    if (!last || Math.hypot(point[0]! - last[0]!, point[1]! - last[1]!) > 1e-4) kept.push(point);
  }
  const positions: number[] = [];
  const index: number[] = [];
  if (kept.length < 2) return { positions, index };
  kept.forEach((point, i) => {
    const before = kept[Math.max(0, i - 1)]!;
    const after = kept[Math.min(kept.length - 1, i + 1)]!;
    let [x, y] = [after[0]! - before[0]!, after[1]! - before[1]!];
    if (Math.hypot(x, y) < 1e-6) [x, y] = [point[0]! - before[0]!, point[1]! - before[1]!]; // it turns back on itself
    const half = width / 2 / Math.hypot(x, y);
    positions.push(point[0]! - y * half, point[1]! + x * half, z, point[0]! + y * half, point[1]! - x * half, z);
    if (i > 0) index.push(2 * i - 2, 2 * i - 1, 2 * i, 2 * i, 2 * i - 1, 2 * i + 1);
  });
  return { positions, index };
}

/** The path in pieces, each driven in one direction: [1 or -1, points]. */
export function piecesOf(way: number[][]): [number, number[][]][] {
  const pieces: [number, number[][]][] = [];
  for (const row of way) {
    const last = pieces[pieces.length - 1];
    if (last && last[0] === row[3]) last[1].push(row);
    else pieces.push([row[3]!, last ? [last[1][last[1].length - 1]!, row] : [row]]);
  }
  return pieces;
}

/** Corners of a footprint (behind, ahead, to each side) at a pose, closed. */
export function outlineOf([rear, front, side]: [number, number, number], pose: number[]): number[][] {
  const [x, y, heading] = pose as [number, number, number];
  const [c, s] = [Math.cos(heading), Math.sin(heading)];
  const corners = [[-rear, -side], [front, -side], [front, side], [-rear, side], [-rear, -side]];
  return corners.map(([a, b]) => [x + c * a! - s * b!, y + s * a! + c * b!]);
}

/** A ring of a radius around a point, closed. */
export function ringOf(x: number, y: number, radius: number): number[][] {
  return Array.from({ length: 25 }, (_, i) => [x + radius * Math.cos((i * Math.PI) / 12), y + radius * Math.sin((i * Math.PI) / 12)]);
}

export interface Block {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Rectangles that cover every blocked cell once; rows from the top, as in a picture. */
export function blocksOf(blocked: (i: number) => boolean, columns: number, rows: number): Block[] {
  const done: Block[] = [];
  let open = new Map<string, Block>();
  for (let y = 0; y < rows; y++) {
    const next = new Map<string, Block>();
    for (let x = 0; x < columns; x++) {
      if (!blocked(y * columns + x)) continue;
      const from = x;
      while (x < columns && blocked(y * columns + x)) x++;
      const key = `${from} ${x}`;
      const above = open.get(key);
      if (above) above.height++;
      next.set(key, above ?? { x: from, y, width: x - from, height: 1 });
      open.delete(key);
    }
    done.push(...open.values());
    open = next;
  }
  return [...done, ...open.values()];
}
