import assert from "node:assert/strict";
import { test } from "node:test";

import { fromStep, MOST, rangeOf, spanOf, toStep } from "../src/scale";

test("the ends of a slider are the ends of its range", () => {
  for (const range of [rangeOf(0, 1, 0.5, 0.5), rangeOf(0, null, 200, 200), rangeOf(0.1, 100, 1, 1)]) {
    assert.equal(fromStep(range, 0), range.low);
    assert.ok(Math.abs(fromStep(range, MOST) - range.high) <= 0.01 * range.high);
  }
});

test("a value comes back from its place to three digits", () => {
  const range = rangeOf(0, null, 200, 200);
  for (const value of [0, 10, 50, 200, 1000, 4000]) {
    assert.ok(Math.abs(fromStep(range, toStep(range, value)) - value) <= 0.006 * value + 1e-9, String(value));
  }
});

test("no place leads outside the declared bounds", () => {
  const range = rangeOf(0.5, 50, 8, 8);
  for (let step = 0; step <= MOST; step++) {
    const value = fromStep(range, step);
    assert.ok(value >= 0.5 && value <= 50);
  }
});

test("a value above what is usual is still within the slider", () => {
  assert.ok(rangeOf(0, null, 1, 500).high >= 500);
});

test("what must be more than 0 has a slider of three decades that does not reach 0", () => {
  const range = rangeOf(5e-324, 200, 5, 5);
  assert.equal(fromStep(range, 0), 0.2);
  assert.equal(fromStep(range, MOST), 200);
});

test("an axis never shows noise as if it were something", () => {
  assert.deepEqual(spanOf(0, 0, 0.1), [0, 0.1]);
  const [low, high] = spanOf(-1e-13, 1e-13, 0.1);
  assert.ok(high - low >= 0.1 && low < 0);
  const [bottom, top] = spanOf(6, 7, 0.1);
  assert.ok(bottom < 6 && bottom > 5.9 && top > 7 && top < 7.1);
  assert.deepEqual(spanOf(Number.NaN, 1, 2), [0, 2]);
});
