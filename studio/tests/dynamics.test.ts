import assert from "node:assert/strict";
import { test } from "node:test";

import { hasAxes, knobsOf, labelsOf, nameOf, shownBy, turned } from "../src/dynamics";
import { law, parameter, slider } from "./declared";

const UNITS: Record<string, string> = { mass: "kg, kg m²", stiffness: "N/m, N m/rad", ratio: "", damping: "N s/m, N m s/rad" };
const axes = "spring.axes";
const SPRING = law({
  sliders: [
    slider("spring.mass", "Mass", { axes }),
    slider("spring.damping", "Damping", { when: ["spring.by", "value"], axes }),
    slider("spring.ratio", "Damping ratio", { when: ["spring.by", "ratio"], axes }),
    slider("spring.stiffness", "Stiffness", { axes }),
    slider("sense.cutoff_hz", "Filter cutoff", { group: "Sensing" }),
  ],
});
const all = new Map([
  ...Object.entries(UNITS).map(([name, unit]) => parameter(`spring.${name}`, unit, "6 numbers")),
  parameter("sense.cutoff_hz", "Hz"), parameter("my_law.place_m", "m", "3 numbers"),
]);
all.set("spring.by", { ...parameter("spring.by", "", "ratio or value")[1], default: "ratio" });

test("linked axes have one knob for translations and one for rotations", () => {
  const knobs = knobsOf(SPRING, true, {}, all).filter((knob) => knob.parameter === "spring.mass");
  assert.deepEqual(knobs.map((knob) => knob.parts), [[0, 1, 2], [3, 4, 5]]);
  assert.deepEqual(knobs.map((knob) => knob.unit), ["kg", "kg m²"]);
});

test("axes that are not linked have a knob each", () => {
  const knobs = knobsOf(SPRING, false, {}, all).filter((knob) => knob.parameter === "spring.stiffness");
  assert.deepEqual(knobs.map((knob) => knob.label), ["x", "y", "z", "↻ x", "↻ y", "↻ z"].map((axis) => `Stiffness ${axis}`));
  const three = law({ sliders: [slider("my_law.place_m", "Place")] });
  assert.deepEqual(knobsOf(three, false, {}, all).map((knob) => knob.label), ["Place x", "Place y", "Place z"]);
  assert.ok(hasAxes(three, all) && !hasAxes(law({ sliders: [slider("sense.cutoff_hz", "Filter cutoff")] }), all));
});

test("a knob changes its own numbers and no other", () => {
  const [shift] = knobsOf(SPRING, true, {}, all);
  const values = { "spring.mass": [8, 8, 8, 0.5, 0.5, 0.5] };
  assert.equal(shownBy(shift!, values), 8);
  assert.deepEqual(turned(shift!, values, 4), [4, 4, 4, null, null, null]);
});

test("a full matrix is not turned by a knob", () => {
  const [shift] = knobsOf(SPRING, true, {}, all);
  assert.equal(shownBy(shift!, { "spring.mass": [[8, 1], [1, 8]] }), null);
});

test("only what may change while the loop runs gets a knob", () => {
  const few = new Map([parameter("sense.cutoff_hz", "Hz"), parameter("spring.mass", "kg", "6 numbers", false)]);
  assert.deepEqual(knobsOf(SPRING, true, {}, few).map((knob) => knob.parameter), ["sense.cutoff_hz"]);
});

test("a slider that depends on another parameter is shown while that has its value", () => {
  const names = (values: Record<string, string>) => knobsOf(SPRING, true, values, all).map((knob) => knob.parameter);
  assert.ok(names({ "spring.by": "value" }).includes("spring.damping") && !names({ "spring.by": "value" }).includes("spring.ratio"));
  assert.ok(names({}).includes("spring.ratio") && !names({}).includes("spring.damping")); // its default
});

test("axes whose flag is not set have no knob", () => {
  const knobs = knobsOf(SPRING, true, { [axes]: [true, true, false, false, false, false] }, all).filter((knob) => knob.parameter === "spring.stiffness");
  assert.deepEqual(knobs.map((knob) => knob.parts), [[0, 1]]);
  assert.equal(nameOf(knobs[0]!), "spring.stiffness");
});

test("a law without words has no knobs, and labels are those of all laws", () => {
  assert.deepEqual(knobsOf(null, true, {}, all), []);
  assert.equal(labelsOf({ "1": SPRING }).get("spring.mass"), "Mass");
});

test("units are those that were declared", () => {
  for (const knob of knobsOf(SPRING, false, { "spring.by": "value" }, all)) {
    const units = all.get(knob.parameter)!.unit.split(", ");
    assert.equal(knob.unit, units[(knob.parts[0] ?? 0) > 2 ? 1 : 0]);
  }
});
