// How a slider position becomes a value: linearly, or logarithmically if the range spans decades.

export interface Range {
  low: number;
  high: number;
  log: boolean;
}

const STEPS = 1000;
// In a range that begins at 0, the lowest step is 0 itself, and the rest spans this many decades.
const DECADES = 3;
// A declared bound below this means "more than 0".
const LEAST = 1e-12;

/** The range that a slider offers: the declared bounds where they are narrow, else around default and value; `scale` may be declared as linear or log. */
export function rangeOf(low: number | null, high: number | null, usual: number, now: number, scale = ""): Range {
  const size = Math.max(Math.abs(usual), Math.abs(now), 1e-3);
  let top = high !== null && high <= 1000 * size ? high : 20 * size;
  top = Math.max(top, now);
  const open = low !== null && low > 0 && low < LEAST; // more than 0, whatever it is
  const bottom = open ? top / 10 ** DECADES : low !== null && low >= 0 ? low : Math.max(low ?? -10 * size, -10 * size);
  const span = bottom > 0 ? top / bottom : Number.POSITIVE_INFINITY;
  const wide = scale ? scale === "log" : bottom > 0 ? span > 30 : top / size > 5;
  return { low: Math.min(bottom, now), high: top, log: bottom >= 0 && wide };
}

/** The range of an axis: slightly more than the values, and at least `least`. */
export function spanOf(low: number, high: number, least: number): [number, number] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, least];
  const short = Math.max(0, least - (high - low)) / 2;
  const room = 0.06 * (high - low);
  const bottom = low - Math.max(short, room);
  // values that are never negative start at 0
  return low >= 0 && bottom < 0 ? [0, Math.max(high + room, least)] : [bottom, high + Math.max(short, room)];
}

function floorOf(range: Range): number {
  return range.low > 0 ? range.low : range.high / 10 ** DECADES;
}

export function toStep(range: Range, value: number): number {
  if (!range.log) return Math.round((STEPS * (value - range.low)) / (range.high - range.low));
  const floor = floorOf(range);
  if (value < floor) return 0;
  return Math.max(range.low > 0 ? 0 : 1, Math.round((STEPS * Math.log(value / floor)) / Math.log(range.high / floor)));
}

export function fromStep(range: Range, step: number): number {
  if (!range.log) return round(range.low + ((range.high - range.low) * step) / STEPS);
  if (step <= 0) return range.low;
  const floor = floorOf(range);
  return Math.min(range.high, Math.max(range.low, round(floor * (range.high / floor) ** (step / STEPS))));
}

/** Three significant digits: the precision of a slider. */
export function round(value: number): number {
  return value === 0 ? 0 : Number(value.toPrecision(3));
}

export const MOST = STEPS;
