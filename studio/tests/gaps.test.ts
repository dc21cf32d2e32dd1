import assert from "node:assert/strict";
import { test } from "node:test";

import { allFinite, numbersOf, withGaps, worded } from "../src/gaps";
import { resampled } from "../src/resample";

test("a column with something that is no number has a gap there, and is not copied without", () => {
  const whole = new Float32Array([1, 2]);
  assert.equal(withGaps(whole), whole);
  assert.deepEqual(withGaps(new Float32Array([1, Number.NaN, Number.POSITIVE_INFINITY, 4])), [1, null, null, 4]);
});

test("null is no number, and not zero", () => {
  assert.ok(Number.isNaN(numbersOf([0, null])[1]));
  assert.equal(allFinite(numbersOf([0, null])), false);
  assert.equal(allFinite([Number.NaN, 1, 2, Number.NaN], 1, 2), true);
  assert.equal(worded(null, 1), "–");
  assert.equal(worded(Number.NaN, 1), "–");
  assert.equal(worded(2, 1), "2.0");
});

test("a gap of another run stays a gap on the times of this one", () => {
  assert.deepEqual(resampled([[0, 1], [5, null]], [1], [0, 0.5, 1]), [[5, 5, null]]);
});
