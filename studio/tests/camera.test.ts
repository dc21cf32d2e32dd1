import assert from "node:assert/strict";
import { test } from "node:test";

import { isPlanar, standFor, VIEWS } from "../src/camera";

test("every view looks at the cell from outside, and the last at the tool from near", () => {
  for (const planar of [false, true]) {
    for (const view of VIEWS) {
      const { from, to } = standFor(view, planar, [0.2, 0, 0.4], 0.6, [0.5, 0.1, 0.3]);
      const far = Math.hypot(from[0] - to[0], from[1] - to[1], from[2] - to[2]);
      assert.ok(view === "Tool" ? far < 0.6 : far > 1.2, view);
    }
  }
});

test("an arm whose weight does not pull along z moves in a plane", () => {
  assert.equal(isPlanar([0, 0, 1]), false);
  assert.equal(isPlanar([0, 1, 0]), true);
});

test("a map is looked down upon, with all of it in view", () => {
  for (const view of ["Free", "Top"]) {
    const { from, to } = standFor(view, false, [5, 3.5, 0], 4, [1, 1, 1], true);
    assert.deepEqual(to, [5, 3.5, 0]);
    assert.ok(from[2] > 8, view);
  }
});
