import assert from "node:assert/strict";
import { test } from "node:test";

import { MOST } from "../src/scale";
import { allowedStep, PLACES, stepsOf, trackOf, zoneAt } from "../src/zones";
import type { Zone } from "../src/wire";

const ZONES: Zone[] = [
  { first: 0, last: 31, level: 0, why: "" },
  { first: 32, last: 47, level: 1, why: "little reserve" },
  { first: 48, last: PLACES - 1, level: 2, why: "unstable" },
];

test("the places that are asked about reach from one end of the slider to the other", () => {
  assert.equal(stepsOf()[0], 0);
  assert.equal(stepsOf()[PLACES - 1], MOST);
});

test("a slider stops before the first value that is refused", () => {
  const step = allowedStep(ZONES, 0, MOST);
  assert.ok(step < (MOST * 48) / (PLACES - 1));
  assert.equal(zoneAt(ZONES, step)!.level, 1);
  assert.equal(zoneAt(ZONES, step + 1)!.why, "unstable");
  assert.equal(allowedStep(ZONES, step, 10), 10);
});

test("who stands in the red may go anywhere: the loop decides", () => {
  assert.equal(allowedStep(ZONES, MOST, 900), 900);
  assert.equal(allowedStep([], 0, MOST), MOST);
});

test("the track shows every zone", () => {
  assert.equal(trackOf([]), "");
  assert.match(trackOf(ZONES), /--thin.*--stop/);
});
