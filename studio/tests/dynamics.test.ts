import assert from "node:assert/strict";
import { test } from "node:test";

import { knobsOf, nameOf, shownBy, turned } from "../src/dynamics";

const all = () => true;

test("linked axes have one knob for shifts and one for turns", () => {
  const knobs = knobsOf("admittance", true, {}, all).filter((knob) => knob.parameter === "admittance.mass");
  assert.deepEqual(knobs.map((knob) => knob.parts), [[0, 1, 2], [3, 4, 5]]);
  assert.deepEqual(knobs.map((knob) => knob.unit), ["kg", "kg m²"]);
});

test("axes that are not linked have six", () => {
  const knobs = knobsOf("impedance", false, {}, all).filter((knob) => knob.parameter === "impedance.stiffness");
  assert.deepEqual(knobs.map((knob) => knob.label), ["x", "y", "z", "↻ x", "↻ y", "↻ z"].map((axis) => `Stiffness ${axis}`));
});

test("a knob changes its own numbers and no other", () => {
  const [shift] = knobsOf("admittance", true, {}, all);
  const values = { "admittance.mass": [8, 8, 8, 0.5, 0.5, 0.5] };
  assert.equal(shownBy(shift!, values), 8);
  assert.deepEqual(turned(shift!, values, 4), [4, 4, 4, null, null, null]);
});

test("a full matrix is not turned by a knob", () => {
  const [shift] = knobsOf("admittance", true, {}, all);
  assert.equal(shownBy(shift!, { "admittance.mass": [[8, 1], [1, 8]] }), null);
});

test("only what may change while the loop runs gets a knob", () => {
  assert.deepEqual(knobsOf("admittance", true, {}, (name) => name === "sense.cutoff_hz").map((knob) => knob.parameter), ["sense.cutoff_hz"]);
});

test("a law whose damping is given by its value has a knob for that value", () => {
  const names = knobsOf("impedance", true, { "impedance.damping_by": "value" }, all).map((knob) => knob.parameter);
  assert.ok(names.includes("impedance.damping") && !names.includes("impedance.damping_ratio"));
});

test("directions that do not give way have no knob", () => {
  const values = { "impedance.axes": [true, true, false, false, false, false] };
  const knobs = knobsOf("impedance", true, values, all).filter((knob) => knob.parameter === "impedance.stiffness");
  assert.deepEqual(knobs.map((knob) => knob.parts), [[0, 1]]);
  assert.equal(nameOf(knobs[0]!), "impedance.stiffness");
});
