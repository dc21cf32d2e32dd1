// Messages as the Studio declares them, for tests.

import type { Channel, Declared, HeadField, Hello, LawWords, Slider } from "../src/wire";

export function parameter(name: string, unit: string, type = "number", live = true): [string, Declared] {
  return [name, { name, type, unit, live, help: "", low: 0, high: null, default: 0, scale: "" }];
}

export function slider(parameter: string, label: string, more: Partial<Slider> = {}): Slider {
  return { parameter, label, group: "Group", when: null, axes: "", ...more };
}

export function law(more: Partial<LawWords> = {}): LawWords {
  return {
    name: "my_law", ramps: false, sliders: [], switches: [], buttons: [], states: [], reasons: [], moves_goal: true, pushes: true, drags_push: false, no_push: "", no_goal: "",
    no_virtual_push: "", ...more,
  };
}

export function channel(name: string, more: Partial<Channel> = {}): Channel {
  return { name, unit: "", plot: "", key: "", dashed: false, band: "", follows: "", law: "", ...more };
}

/** The places of the fields of a head; fields that are not given have no numbers. */
export function places(given: Partial<Record<HeadField, number>>): Hello["head"] {
  const fields: HeadField[] = ["goal", "tool", "force", "arrow", "push", "law", "stopped", "limits", "trouble", "states", "ramp", "tank", "asked", "allowed", "base"];
  let at = 0;
  const place = (name: HeadField): [number, number] => {
    const count = given[name] ?? 0;
    at += count;
    return [at - count, count];
  };
  return Object.fromEntries(fields.map((name) => [name, place(name)])) as Hello["head"];
}
