// Missing numbers: null in messages and plots, where they are gaps; NaN in calculations.

export type Gapped = number | null;

/** A column for a plot, with null for every missing number. */
export function withGaps(column: Float32Array): Float32Array | Gapped[] {
  return column.every(Number.isFinite) ? column : Array.from(column, (value) => (Number.isFinite(value) ? value : null));
}

/** A received row as numbers. */
export function numbersOf(row: Gapped[]): number[] {
  return row.map((value) => value ?? Number.NaN);
}

export function allFinite(values: ArrayLike<number>, from = 0, count = values.length - from): boolean {
  for (let i = from; i < from + count; i++) if (!Number.isFinite(values[i])) return false;
  return true;
}

/** A number as text; a dash if it is missing. */
export function worded(value: Gapped | undefined, digits: number): string {
  return value === null || value === undefined || !Number.isFinite(value) ? "–" : value.toFixed(digits);
}
