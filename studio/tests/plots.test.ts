import assert from "node:assert/strict";
import { test } from "node:test";

import { resampled } from "../src/resample";

test("another run is shown at the times of this one, and not beyond its end", () => {
  const other = [[0, 1, 2], [10, 11, 12]];
  assert.deepEqual(resampled(other, [1], [0, 0.5, 1, 1.9, 2, 2.5]), [[10, 10, 11, 11, 12, null]]);
});
