// Which parameters make up the virtual dynamics of a law, and how one slider stands for several numbers.

import type { Value, Values } from "./wire";

export interface Knob {
  label: string;
  parameter: string;
  /** Which of the parameter's numbers it turns; none: the parameter is one number. */
  parts: number[];
  unit: string;
  group: string;
}

const AXES = ["x", "y", "z"];

type Six = [label: string, name: string, unit: string, turning: string];
type One = [label: string, parameter: string, unit: string];

const MASS: Six = ["Mass", "mass", "kg", "kg m²"];
const STIFFNESS: Six = ["Stiffness", "stiffness", "N/m", "N m/rad"];
const RATIO: Six = ["Damping ratio", "damping_ratio", "", ""];
const DAMPING: Six = ["Damping", "damping", "N s/m", "N m s/rad"];

const CONTACT: One[] = [
  ["Force", "contact.target_n", "N"],
  ["First touch", "contact.peak_n", "N"],
  ["Force limit", "contact.force_limit_n", "N"],
  ["Gain margin", "contact.margin", ""],
  ["Total lag", "contact.lag_s", "s"],
  ["Path speed", "contact.speed_m_s", "m/s"],
];
const SENSING: One[] = [
  ["Filter", "sense.cutoff_hz", "Hz"],
  ["Deadband", "sense.deadband_n", "N"],
];
const LIMITS: One[] = [
  ["Tool speed", "limits.linear_speed_m_s", "m/s"],
  ["Turning speed", "limits.angular_speed_rad_s", "rad/s"],
];

/** The knobs of a law; with `linked`, one for all shifts that give way and one for all turns. */
export function knobsOf(law: string, linked: boolean, values: Values, known: (name: string) => boolean): Knob[] {
  const knobs: Knob[] = [];
  if (law === "admittance" || law === "impedance") knobs.push(...compliant(law, linked, values));
  const add = (group: string, items: One[]) => knobs.push(...items.map(([label, parameter, unit]) => ({ label, parameter, parts: [], unit, group })));
  if (law === "hybrid") add("Contact", CONTACT);
  add("Sensing", SENSING);
  add("Limits", LIMITS);
  return knobs.filter((knob) => known(knob.parameter));
}

function compliant(section: string, linked: boolean, values: Values): Knob[] {
  const damping = values[`${section}.damping_by`] === "value" ? DAMPING : RATIO;
  const flags = values[`${section}.axes`];
  const free = [0, 1, 2, 3, 4, 5].filter((part) => !Array.isArray(flags) || flags[part] === true);
  const group = "Virtual dynamics";
  return [MASS, damping, STIFFNESS].flatMap(([label, name, unit, turning]) => {
    const parameter = `${section}.${name}`;
    if (!linked) {
      return free.map((part) => {
        const axis = part > 2 ? `↻ ${AXES[part - 3]!}` : AXES[part]!;
        return { label: `${label} ${axis}`, parameter, parts: [part], unit: part > 2 ? turning : unit, group };
      });
    }
    const shifts = { label, parameter, parts: free.filter((part) => part < 3), unit, group };
    const turns = { label: `${label} ↻`, parameter, parts: free.filter((part) => part > 2), unit: turning, group };
    return [shifts, turns].filter((knob) => knob.parts.length > 0);
  });
}

/** What tells the knobs of one choice of axes and damping from those of another. */
export function shapeOf(law: string, linked: boolean, values: Values): string {
  return JSON.stringify([law, linked, values[`${law}.damping_by`] ?? null, values[`${law}.axes`] ?? null]);
}

/** A name for a knob, by which its elements are found. */
export function nameOf(knob: Knob): string {
  const [first] = knob.parts;
  if (first === undefined) return knob.parameter;
  if (knob.parts.length > 1) return first > 2 ? `${knob.parameter}.turn` : knob.parameter;
  return `${knob.parameter}.${first}`;
}

/** What a knob shows: its first number; null when the parameter cannot be turned by it (a full matrix). */
export function shownBy(knob: Knob, values: Values): number | null {
  const value = values[knob.parameter];
  if (typeof value === "number") return value;
  const part = Array.isArray(value) ? value[knob.parts[0] ?? 0] : undefined;
  return typeof part === "number" ? part : null;
}

/** What is asked for to turn this knob to `to`: null leaves a number as it is, whoever has changed it meanwhile. */
export function turned(knob: Knob, values: Values, to: number): Value {
  const value = values[knob.parameter];
  if (!Array.isArray(value)) return to;
  return value.map((_, i) => (knob.parts.includes(i) ? to : null));
}
