import assert from "node:assert/strict";
import { test } from "node:test";

import { cutsOf, type Ramp } from "../src/cuts";
import { Head } from "../src/wire";
import { law, places } from "./declared";

const HELLO = {
  limits: [{ name: "tool speed", unit: "m/s" }, { name: "joint speed", unit: "rad/s" }],
  troubles: { "0": "", "3": "is frozen" },
};
const PLACES = places({ limits: 1, trouble: 1, ramp: 1, tank: 1, asked: 2, allowed: 2 });

function cuts(limits: number, trouble: number, ramp: number, tank: number, ramps = true): string[] {
  return cutsOf(HELLO, new Head(new Float32Array([limits, trouble, ramp, tank, 0.5, 2, 0.25, 1]), PLACES), law({ ramps }));
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
  assert.deepEqual(cuts(0, 0, 0.37, 0, false), []);
});

test("a line that is still ramping to its parameter says where it is and where it goes", () => {
  const head = new Head(new Float32Array([0, 0, 1, 0.05, 0, 0, 0, 0]), PLACES);
  const at = (now: number): string[] => cutsOf(HELLO, head, law(), [{ label: "target force", unit: "N", now, target: 18.6 } satisfies Ramp]);
  assert.deepEqual(at(5), ["target force: 5.0 N, ramping to 18.6 N"]);
  assert.deepEqual(at(18.6), []);
  assert.deepEqual(at(Number.NaN), []); // there is none now
});

test("the force sensor comes last", () => {
  assert.deepEqual(cuts(1, 3, 1, 0), ["tool speed: 0.500 → 0.250 m/s", "force sensor is frozen"]);
});
