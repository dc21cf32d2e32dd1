// From the way of a pointer to a force.

export const N_PER_M = 150;
export const MOST_N = 60;

export type Vector = [number, number, number];

/** The push [N] for a pull by `way` [m], never harder than a hand should. */
export function forceFor(way: Vector): Vector {
  const length = Math.hypot(...way);
  const scale = length === 0 ? 0 : Math.min(N_PER_M, MOST_N / length);
  return [way[0] * scale, way[1] * scale, way[2] * scale];
}

export function newtons(force: Vector): string {
  return `${Math.hypot(...force).toFixed(1)} N`;
}
