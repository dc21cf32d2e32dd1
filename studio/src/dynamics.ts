// Which parameters make up the virtual dynamics of a law, and how one slider stands for several numbers.

import type { Declared, Value, Values } from "./wire";

export interface Knob {
  label: string;
  parameter: string;
  /** Which of the parameter's numbers it turns; none: the parameter is one number. */
  parts: number[];
  unit: string;
  group: string;
}

const AXES = ["x", "y", "z"];

type Names = [label: string, name: string][];

const CONTACT: Names = [
  ["Target force", "contact.target_n"],
  ["Peak force", "contact.peak_n"],
  ["Force limit", "contact.force_limit_n"],
  ["Loop gain", "contact.margin"],
  ["Total lag", "contact.lag_s"],
  ["Path speed", "contact.speed_m_s"],
];
const GAINS: Names = [["Mass", "mass"], ["Damping", "damping"], ["Damping ratio", "damping_ratio"], ["Stiffness", "stiffness"]];
const SENSING: Names = [
  ["Filter cutoff", "sense.cutoff_hz"],
  ["Force deadband", "sense.deadband_n"],
  ["Moment deadband", "sense.deadband_nm"],
];
// Shorter words than those that a declared name would give.
const LIMITS: Record<string, string> = {
  "limits.speed_scale": "Joint speed scale",
  "limits.linear_speed_m_s": "Tool speed",
  "limits.angular_speed_rad_s": "Rotation speed",
};

/** The knobs of a law for what may change while it runs; with `linked`, one for all shifts that give way and one for all turns. */
export function knobsOf(law: string, linked: boolean, values: Values, declared: Map<string, Declared>): Knob[] {
  const knobs: Knob[] = [];
  if (law === "admittance" || law === "impedance") knobs.push(...compliant(law, linked, values, declared));
  const add = (group: string, items: Names) =>
    knobs.push(...items.map(([label, parameter]) => ({ label, parameter, parts: [], unit: unitOf(declared.get(parameter), false), group })));
  if (law === "contact") add("Contact", CONTACT);
  add("Sensing", SENSING);
  add("Limits", limitsOf(declared));
  return knobs.filter((knob) => declared.get(knob.parameter)?.live);
}

/** The labels of the sliders, by parameter: of every law, linked. */
export function labelsOf(declared: Map<string, Declared>): Map<string, string> {
  const gains = ["admittance", "impedance"].flatMap((law): Names => GAINS.map(([label, name]) => [label, `${law}.${name}`]));
  const live = limitsOf(declared).filter(([, name]) => declared.get(name)!.live);
  return new Map([...gains, ...CONTACT, ...SENSING, ...live].map(([label, name]) => [name, label]));
}

/** Every limit that is one number. */
function limitsOf(declared: Map<string, Declared>): Names {
  const scalars = [...declared.values()].filter((item) => item.name.startsWith("limits.") && item.type === "number");
  return scalars.map((item) => [LIMITS[item.name] ?? item.name.slice("limits.".length).replaceAll("_", " "), item.name]);
}

/** The declared unit of a number: of six, shifts and turns have one each. */
function unitOf(item: Declared | undefined, turning: boolean): string {
  const units = item?.unit.split(", ") ?? [];
  return (turning ? units[1] : units[0]) ?? units[0] ?? "";
}

function compliant(section: string, linked: boolean, values: Values, declared: Map<string, Declared>): Knob[] {
  const damping: Names = values[`${section}.damping_by`] === "value" ? [["Damping", "damping"]] : [["Damping ratio", "damping_ratio"]];
  const flags = values[`${section}.axes`];
  const free = [0, 1, 2, 3, 4, 5].filter((part) => !Array.isArray(flags) || flags[part] === true);
  const group = "Virtual dynamics";
  const names: Names = [["Mass", "mass"], ...damping, ["Stiffness", "stiffness"]];
  return names.flatMap(([label, name]) => {
    const parameter = `${section}.${name}`;
    const [unit, turning] = [false, true].map((turns) => unitOf(declared.get(parameter), turns)) as [string, string];
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
