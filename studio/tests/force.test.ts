import assert from "node:assert/strict";
import { test } from "node:test";

import { forceFor, MOST_N, N_PER_M, newtons, pulledBy } from "../src/force";

test("a short pull is a spring, a long one is as hard as a hand", () => {
  assert.deepEqual(forceFor([0.1, 0, 0]), [0.1 * N_PER_M, 0, 0]);
  const far = forceFor([3, 0, 4]);
  assert.ok(Math.abs(Math.hypot(...far) - MOST_N) < 1e-9);
  assert.ok(Math.abs(far[2] / far[0] - 4 / 3) < 1e-9);
});

test("no pull is no force", () => {
  assert.deepEqual(forceFor([0, 0, 0]), [0, 0, 0]);
  assert.equal(newtons([3, 4, 0]), "5.0 N");
});

test("a virtual push is as long as its arrow, and back at rest it is none", () => {
  assert.deepEqual(pulledBy([0.12, 0, 0], 0.012), [10, 0, 0]);
  assert.deepEqual(pulledBy([0.005, 0, 0], 0.012), [0, 0, 0]);
  assert.ok(Math.abs(Math.hypot(...pulledBy([9, 9, 9], 0.012)) - MOST_N) < 0.02);
});
