// Camera positions that fit any arm.

import type { Vector } from "./force";

export interface Stand {
  from: Vector;
  to: Vector;
}

const DIRECTIONS: Record<string, Vector> = { Free: [0.7, -0.66, 0.3], Front: [1, 0, 0.08], Side: [0, -1, 0.08], Top: [0, -0.02, 1] };
// An arm that moves in a plane is viewed perpendicular to that plane.
const ACROSS: Record<string, Vector> = { Free: [0.25, 0.12, 1], Front: [0, 0, 1], Side: [1, 0.2, 0.4], Top: [0, 1, 0.02] };

// A map is viewed from above, with x to the right.
const MAP: Record<string, Vector> = { Free: [0, -0.62, 0.8], Top: [0, -0.001, 1] };

export const VIEWS = [...Object.keys(DIRECTIONS), "Tool"];

/** Whether an arm with this upward direction moves in the plane of x and y. */
export function isPlanar(up: ArrayLike<number>): boolean {
  return Math.abs(up[2] ?? 1) < 0.5;
}

/** The camera position for a scene with this centre and radius [m], or for a map; `Tool` is close to the tool. */
export function standFor(view: string, planar: boolean, middle: Vector, radius: number, tool: Vector, map = false): Stand {
  const close = view === "Tool";
  const whole = map && view in MAP;
  const table = planar ? ACROSS : whole ? MAP : DIRECTIONS;
  const way = (close ? table["Free"] : table[view]) ?? table["Free"]!;
  const lift = close || planar || whole ? 0 : 0.1 * radius; // room for what is written above the arm
  const to: Vector = close ? tool : [middle[0], middle[1], middle[2] + lift];
  const far = ((close ? (map ? 1.4 : 0.75) : 3.3) * radius) / Math.hypot(...way);
  return { from: [to[0] + far * way[0], to[1] + far * way[1], to[2] + far * way[2]], to };
}
