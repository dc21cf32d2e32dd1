import assert from "node:assert/strict";
import { test } from "node:test";

import { Pace } from "../src/pace";

test("news that come too often wait, and the first do not", () => {
  const pace = new Pace();
  const due = [0, 50, 99, 100, 150, 200].filter((now) => pace.isDue(now, 10));
  assert.deepEqual(due, [0, 100, 200]);
});

test("a higher rate counts at once, and one without bound always", () => {
  const pace = new Pace();
  assert.ok(pace.isDue(0, 1));
  assert.equal(pace.isDue(100, 1), false);
  assert.ok(pace.isDue(100, 20));
  assert.ok(pace.isDue(100, Number.POSITIVE_INFINITY));
});

test("who is in a hurry does not wait", () => {
  const pace = new Pace();
  assert.ok(pace.isDue(0, 1));
  pace.hurry();
  assert.ok(pace.isDue(1, 1));
});
