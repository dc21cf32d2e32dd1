// From the motion of a pointer to a force.

export const N_PER_M = 150;
export const MOST_N = 60;
// A virtual push below this counts as zero.
const NONE_N = 0.7;

export type Vector = [number, number, number];

/** The push [N] for a drag by `way` [m], up to the largest push by hand. */
export function forceFor(way: Vector): Vector {
  const length = Math.hypot(...way);
  const scale = length === 0 ? 0 : Math.min(N_PER_M, MOST_N / length);
  return [way[0] * scale, way[1] * scale, way[2] * scale];
}

/** The virtual push [N] whose handle was dragged by `way` [m], at this many metres per newton. */
export function pulledBy(way: Vector, metresPerNewton: number): Vector {
  const newtons = Math.hypot(...way) / metresPerNewton;
  if (newtons < NONE_N) return [0, 0, 0];
  const scale = Math.min(1, MOST_N / newtons) / metresPerNewton;
  return [round(way[0] * scale), round(way[1] * scale), round(way[2] * scale)];
}

function round(value: number): number {
  return Math.round(100 * value) / 100;
}

export function newtons(force: Vector): string {
  return `${Math.hypot(...force).toFixed(1)} N`;
}
