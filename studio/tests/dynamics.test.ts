import assert from "node:assert/strict";
import { test } from "node:test";

import { knobsOf, nameOf, shownBy, turned } from "../src/dynamics";
import type { Declared } from "../src/wire";

const UNITS: Record<string, string> = { mass: "kg, kg m²", stiffness: "N/m, N m/rad", damping_ratio: "", damping: "N s/m, N m s/rad" };
const SCALARS: Record<string, string> = { "sense.cutoff_hz": "Hz", "sense.deadband_n": "N", "sense.deadband_nm": "N m", "limits.linear_speed_m_s": "m/s" };

function item(name: string, unit: string, type = "number", live = true): [string, Declared] {
  return [name, { name, type, unit, live, help: "", low: 0, high: null, default: 0 }];
}

const sixes = ["admittance", "impedance"].flatMap((law) => Object.entries(UNITS).map(([name, unit]) => item(`${law}.${name}`, unit, "6 numbers")));
const all = new Map([...sixes, ...Object.entries(SCALARS).map(([name, unit]) => item(name, unit))]);

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
  const few = new Map([item("sense.cutoff_hz", "Hz"), item("sense.deadband_n", "N", "number", false), item("limits.pose_error_m", "m", "number", false)]);
  assert.deepEqual(knobsOf("admittance", true, {}, few).map((knob) => knob.parameter), ["sense.cutoff_hz"]);
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

test("every limit that is one number has a knob, with its declared unit, and with the words of its name where it has no others", () => {
  const more = new Map([...all, item("limits.jerk_m_s3", "m/s³"), item("limits.box_m", "m", "3 numbers")]);
  const knobs = knobsOf("hold", true, {}, more).filter((knob) => knob.group === "Limits");
  assert.deepEqual(knobs.map((knob) => [knob.label, knob.unit]), [["Tool speed", "m/s"], ["jerk m s3", "m/s³"]]);
});

test("units are those that were declared", () => {
  for (const knob of knobsOf("admittance", false, { "admittance.damping_by": "value" }, all)) {
    const units = all.get(knob.parameter)!.unit.split(", ");
    assert.equal(knob.unit, units[(knob.parts[0] ?? 0) > 2 ? 1 : 0]);
  }
});
