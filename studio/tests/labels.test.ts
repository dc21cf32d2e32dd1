import assert from "node:assert/strict";
import { test } from "node:test";

import { Labels } from "../src/labels";
import { law, parameter, slider } from "./declared";

const item = (name: string, unit: string, type = "number") => parameter(name, unit, type)[1];
const LAWS = {
  "1": law({
    sliders: [
      slider("contact.target_n", "Target force"), slider("contact.force_limit_n", "Force limit"), slider("contact.lag_s", "Total lag"), slider("sense.cutoff_hz", "Filter cutoff"),
      slider("admittance.mass", "Mass"), slider("limits.linear_speed_m_s", "Tool speed"),
    ],
  }),
};

const labels = new Labels([
  item("contact.target_n", "N"), item("contact.force_limit_n", "N"), item("contact.lag_s", "s"), item("contact.touch_n", "N"),
  item("sense.cutoff_hz", "Hz"), item("admittance.mass", "kg, kg m²", "6 numbers"), item("limits.linear_speed_m_s", "m/s"),
], LAWS);

test("a value and its limit have labels and units, with the names behind", () => {
  assert.equal(
    labels.of("contact.target_n is 80.0, but it must be at most contact.force_limit_n (60)."),
    "Target force (contact.target_n) is 80 N, but it must be at most 60 N (Force limit, contact.force_limit_n).",
  );
  assert.equal(
    labels.of("the peak is 70 N, more than contact.force_limit_n (60 N)."),
    "the peak is 70 N, more than 60 N (Force limit, contact.force_limit_n).",
  );
});

test("a bound has the unit of its parameter", () => {
  assert.equal(
    labels.of("sense.cutoff_hz is 4000, but it must be at most 400."),
    "Filter cutoff (sense.cutoff_hz) is 4000 Hz, but it must be at most 400 Hz.",
  );
  assert.equal(
    labels.of("limits.linear_speed_m_s is -1, but it must be greater than 0."),
    "Tool speed (limits.linear_speed_m_s) is -1 m/s, but it must be greater than 0 m/s.",
  );
});

test("a name is written out once", () => {
  assert.equal(
    labels.of("contact.lag_s = 0.005 is rejected. It may go as far as contact.lag_s = 0.004."),
    "Total lag (contact.lag_s) = 0.005 is rejected. It may go as far as Total lag = 0.004.",
  );
});

test("what is not a number keeps its words", () => {
  assert.equal(labels.of("sense.cutoff_hz is 'plenty', but it must be a number."), "Filter cutoff (sense.cutoff_hz) is 'plenty', but it must be a number.");
  assert.equal(labels.of("admittance.mass is [1, -2], but it must be positive definite."), "Mass (admittance.mass) is [1, -2], but it must be positive definite.");
});

test("names without a slider, in quotes, in commands and in lists stay as they are", () => {
  for (const text of [
    "contact.touch_n is 3, but it must be less than 2.",
    "Unknown parameter 'contact.target_n'. Known: contact.lag_s, sense.cutoff_hz.",
    "Use `contact.lag_s`, or pliant set contact.lag_s=0.1.",
    "contact.target_n.old and my.contact.lag_s are unknown.",
    "",
  ]) assert.equal(labels.of(text), text);
});
