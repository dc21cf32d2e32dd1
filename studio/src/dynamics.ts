// Which parameters make up the virtual dynamics of a law, and how one slider stands for several numbers.

import type { Value, Values } from "./wire";

export interface Knob {
  label: string;
  parameter: string;
  /** Which of the parameter's numbers it turns; none: the parameter is one number. */
  parts: number[];
  unit: string;
}

const SHIFT = [0, 1, 2];
const TURN = [3, 4, 5];
const AXES = ["x", "y", "z"];

const COMPLIANT: [string, string, string, string][] = [
  ["Mass", "mass", "kg", "kg m²"],
  ["Damping ratio", "damping_ratio", "", ""],
  ["Stiffness", "stiffness", "N/m", "N m/rad"],
];

const SINGLE: Record<string, [string, string, string][]> = {
  all: [
    ["Filter", "sense.cutoff_hz", "Hz"],
    ["Deadband", "sense.deadband_n", "N"],
    ["Tool speed", "limits.linear_speed_m_s", "m/s"],
  ],
  hybrid: [["Force", "contact.target_n", "N"]],
};

/** The knobs of a law; with `linked`, one for the three shifts and one for the three turns. */
export function knobsOf(law: string, linked: boolean, known: (name: string) => boolean): Knob[] {
  const knobs: Knob[] = [];
  const section = law === "impedance" ? "impedance" : "admittance";
  if (law !== "hybrid" && law !== "hold") {
    for (const [label, name, unit, turning] of COMPLIANT) {
      const parameter = `${section}.${name}`;
      if (linked) {
        knobs.push({ label, parameter, parts: SHIFT, unit });
        knobs.push({ label: `${label}, turning`, parameter, parts: TURN, unit: turning });
      } else {
        for (const part of [...SHIFT, ...TURN]) {
          const axis = `${part > 2 ? "about " : ""}${AXES[part % 3]}`;
          knobs.push({ label: `${label} ${axis}`, parameter, parts: [part], unit: part > 2 ? turning : unit });
        }
      }
    }
  }
  for (const [label, parameter, unit] of [...(SINGLE[law] ?? []), ...SINGLE["all"]!]) knobs.push({ label, parameter, parts: [], unit });
  return knobs.filter((knob) => known(knob.parameter));
}

/** What a knob shows: its first number; null when the parameter cannot be turned by it (a full matrix). */
export function shownBy(knob: Knob, values: Values): number | null {
  const value = values[knob.parameter];
  if (typeof value === "number") return value;
  const part = Array.isArray(value) ? value[knob.parts[0] ?? 0] : undefined;
  return typeof part === "number" ? part : null;
}

/** The parameter with this knob turned to `to`. */
export function turned(knob: Knob, values: Values, to: number): Value {
  const value = values[knob.parameter];
  if (!Array.isArray(value)) return to;
  return value.map((old, i) => (knob.parts.includes(i) ? to : old));
}
