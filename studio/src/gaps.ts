// What is no number: null on the wire and in a plot, where it is a gap; NaN where it is reckoned with.

export type Gapped = number | null;

/** A column as a plot takes it: as it is where all are numbers, with null for a gap where not. */
export function withGaps(column: Float32Array): Float32Array | Gapped[] {
  return column.every(Number.isFinite) ? column : Array.from(column, (value) => (Number.isFinite(value) ? value : null));
}

/** A row from the wire as numbers. */
export function numbersOf(row: Gapped[]): number[] {
  return row.map((value) => value ?? Number.NaN);
}

export function allFinite(values: ArrayLike<number>, from = 0, count = values.length - from): boolean {
  for (let i = from; i < from + count; i++) if (!Number.isFinite(values[i])) return false;
  return true;
}

/** A number in words; a dash where there is none. */
export function worded(value: Gapped | undefined, digits: number): string {
  return value === null || value === undefined || !Number.isFinite(value) ? "–" : value.toFixed(digits);
}
