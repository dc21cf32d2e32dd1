import assert from "node:assert/strict";
import { test } from "node:test";

import { forceFor, MOST_N, N_PER_M, newtons } from "../src/force";

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
