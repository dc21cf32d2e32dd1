import assert from "node:assert/strict";
import { test } from "node:test";

import { Ring } from "../src/ring";

const rows = (...times: number[]) => new Float32Array(times.flatMap((t) => [t, 10 * t]));

test("a ring gives its samples oldest first, before and after it is full", () => {
  const ring = new Ring(2, 4);
  ring.add(rows(1, 2, 3), 3);
  assert.deepEqual([...ring.column(0)], [1, 2, 3]);
  ring.add(rows(4, 5, 6), 3);
  assert.deepEqual([...ring.column(0)], [3, 4, 5, 6]);
  assert.deepEqual([...ring.column(1)], [30, 40, 50, 60]);
  assert.equal(ring.newest(1), 60);
  assert.equal(ring.length, 4);
});

test("a clock that goes back is another loop", () => {
  const ring = new Ring(2, 4);
  ring.add(rows(5, 6), 2);
  ring.add(rows(0), 1);
  assert.deepEqual([...ring.column(0)], [0]);
});
