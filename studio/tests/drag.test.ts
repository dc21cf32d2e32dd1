import assert from "node:assert/strict";
import { test } from "node:test";

import { Drags } from "../src/drag";

test("one hold of a pointer is one change, however long it rests", () => {
  const drags = new Drags();
  drags.press("mass");
  const first = drags.next("mass", 0);
  assert.equal(drags.next("mass", 10_000), first);
  drags.release();
  drags.press("mass");
  assert.notEqual(drags.next("mass", 10_100), first);
});

test("keys in quick succession are one change, and another after a pause", () => {
  const drags = new Drags();
  const first = drags.next("mass", 0);
  assert.notEqual(first, 0);
  assert.equal(drags.next("mass", 400), first);
  assert.equal(drags.next("mass", 800), first);
  assert.notEqual(drags.next("mass", 1400), first);
});

test("another slider is another change", () => {
  const drags = new Drags();
  const first = drags.next("stiffness.0", 0);
  assert.notEqual(drags.next("stiffness.1", 10), first);
});
