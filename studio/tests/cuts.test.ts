import assert from "node:assert/strict";
import { test } from "node:test";

import { cutsOf } from "../src/cuts";
import type { Hello } from "../src/wire";

const HELLO = {
  limits: [{ name: "tool speed", unit: "m/s" }, { name: "joint speed", unit: "rad/s" }],
  loop: { troubles: { "0": "", "3": "is frozen" } },
} as unknown as Hello;
const AT = { limits: 0, trouble: 1, ramp: 2, tank: 3, "cut 0": 4 };

function cuts(limits: number, trouble: number, ramp: number, tank: number, law = "admittance"): string[] {
  return cutsOf(HELLO, new Float32Array([limits, trouble, ramp, tank, 0.5, 2, 0.25, 1]), AT, law);
}

test("where nothing holds the arm back nothing is said", () => {
  assert.deepEqual(cuts(0, 0, 1, 0), []);
});

test("a limit says what was asked and what is left of it", () => {
  assert.deepEqual(cuts(2, 0, 1, 0.05), ["joint speed: 2.00 → 1.00 rad/s"]);
  assert.equal(cuts(3, 0, 1, 0.05).length, 2);
});

test("gains that wait for the tank say how far they are, and ramps that are paid for say nothing", () => {
  assert.match(cuts(0, 0, 0.379, 0)[0]!, /^new gains: 37 % applied, the rest waits/);
  assert.deepEqual(cuts(0, 0, 0.37, 0.05), []);
  assert.deepEqual(cuts(0, 0, 0.37, 0, "contact"), []);
});

test("a force target that is still ramping says where it is and where it goes", () => {
  const at = { ...AT, target: 8 };
  const cutsAt = (now: number, target: number, law = "contact") => cutsOf(HELLO, new Float32Array([0, 0, 1, 0.05, 0, 0, 0, 0, now]), at, law, target);
  assert.deepEqual(cutsAt(5, 18.6), ["target force: 5.0 N, ramping to 18.6 N"]);
  assert.deepEqual(cutsAt(18.6, 18.6), []);
  assert.deepEqual(cutsAt(Number.NaN, 18.6), []); // no contact presses
  assert.deepEqual(cutsAt(5, 18.6, "admittance"), []);
});

test("the force sensor comes last", () => {
  assert.deepEqual(cuts(1, 3, 1, 0), ["tool speed: 0.500 → 0.250 m/s", "force sensor is frozen"]);
});
