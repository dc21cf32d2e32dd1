// Two runs on one axis of time.

import type { Gapped } from "./gaps";

/** Channels of another run at the times of this one: the last sample before each. */
export function resampled(columns: Gapped[][], wanted: number[], time: number[]): Gapped[][] {
  const own = columns[0]! as number[]; // a clock has no gaps
  let at = 0;
  const places = time.map((t) => {
    while (at + 1 < own.length && own[at + 1]! <= t + 1e-9) at++;
    return t > own[own.length - 1]! + 1e-9 ? -1 : at;
  });
  return wanted.map((channel) => places.map((place) => (place < 0 ? null : columns[channel]![place]!)));
}
