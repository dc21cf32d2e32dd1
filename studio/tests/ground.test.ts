import assert from "node:assert/strict";
import { test } from "node:test";

import { blocksOf, outlineOf, piecesOf, ribbonOf, ringOf } from "../src/ground";

test("a ribbon is as wide as it should be, all along", () => {
  const { positions, index } = ribbonOf([[0, 0], [1, 0], [1, 0], [2, 0]], 0.1, 0.5);
  assert.equal(positions.length, 3 * 2 * 3);
  assert.equal(index.length, 2 * 6);
  for (let i = 0; i < 3; i++) {
    const [left, right] = [positions.slice(6 * i, 6 * i + 3), positions.slice(6 * i + 3, 6 * i + 6)];
    assert.ok(Math.abs(left[1]! - 0.05) < 1e-12 && Math.abs(right[1]! + 0.05) < 1e-12);
    assert.equal(left[2], 0.5);
  }
});

test("a way that turns back on itself stays a ribbon, and a point is none", () => {
  const { positions } = ribbonOf([[0, 0], [1, 0], [0, 0]], 0.1, 0);
  assert.ok(positions.every(Number.isFinite));
  assert.deepEqual(ribbonOf([[1, 1], [1, 1]], 0.1, 0), { positions: [], index: [] });
});

test("a way is cut where its direction changes, without a gap", () => {
  const way = [[0, 0, 0, 1], [1, 0, 0, 1], [0.5, 0, 0, -1], [0, 0, 0, -1]];
  const pieces = piecesOf(way);
  assert.deepEqual(pieces.map(([direction]) => direction), [1, -1]);
  assert.deepEqual(pieces[1]![1][0], way[1]);
});

test("a footprint is turned with its base", () => {
  const [first, second] = outlineOf([0.2, 0.5, 0.3], [1, 2, Math.PI / 2]);
  assert.ok(Math.abs(first![0]! - 1.3) < 1e-9 && Math.abs(first![1]! - 1.8) < 1e-9);
  assert.ok(Math.abs(second![0]! - 1.3) < 1e-9 && Math.abs(second![1]! - 2.5) < 1e-9);
});

test("a ring is closed", () => {
  const ring = ringOf(1, 2, 0.5);
  assert.ok(Math.hypot(ring[0]![0]! - ring[24]![0]!, ring[0]![1]! - ring[24]![1]!) < 1e-9);
});

test("blocks cover every blocked cell once, and no other", () => {
  const cells = ["##..#", "##..#", ".#.##", "....."].join("");
  const blocks = blocksOf((i) => cells[i] === "#", 5, 4);
  const covered = Array.from(cells, () => 0);
  for (const block of blocks) {
    for (let y = block.y; y < block.y + block.height; y++) for (let x = block.x; x < block.x + block.width; x++) covered[5 * y + x]!++;
  }
  assert.deepEqual(covered, Array.from(cells, (cell) => (cell === "#" ? 1 : 0)));
  assert.equal(blocks.length, 4);
});
