// The sliders of a law, as its panel declares them, and how one slider sets several numbers.

import type { Declared, LawWords, Slider, Value, Values } from "./wire";

export interface Knob {
  label: string;
  parameter: string;
  /** Which of the parameter's numbers it sets; none: the parameter is a single number. */
  parts: number[];
  unit: string;
  group: string;
}

const AXES = ["x", "y", "z"];

/** The knobs for the live parameters of a law; with `linked`, one for all translations and one for all rotations. */
export function knobsOf(law: LawWords | null, linked: boolean, values: Values, declared: Map<string, Declared>): Knob[] {
  return (law?.sliders ?? []).flatMap((slider) => {
    const item = declared.get(slider.parameter);
    if (!item?.live || !isShown(slider, values, declared)) return [];
    const count = countOf(item);
    if (count === 0) return [{ label: slider.label, parameter: item.name, parts: [], unit: unitOf(item, false), group: slider.group }];
    const flags = values[slider.axes];
    const free = Array.from({ length: count }, (_, part) => part).filter((part) => !Array.isArray(flags) || flags[part] === true);
    return linked ? linkedKnobs(slider, item, free) : free.map((part) => axisKnob(slider, item, part));
  });
}

function isShown(slider: Slider, values: Values, declared: Map<string, Declared>): boolean {
  if (!slider.when) return true;
  const [parameter, value] = slider.when;
  return (values[parameter] ?? declared.get(parameter)?.default) === value;
}

/** How many numbers a parameter has; 0: it is a single number. */
function countOf(item: Declared): number {
  return Number(/^(\d+) numbers/.exec(item.type)?.[1] ?? 0);
}

function linkedKnobs(slider: Slider, item: Declared, free: number[]): Knob[] {
  const { label, group } = slider;
  const shifts = { label, parameter: item.name, parts: free.filter((part) => part < 3), unit: unitOf(item, false), group };
  const turns = { label: `${label} ↻`, parameter: item.name, parts: free.filter((part) => part > 2), unit: unitOf(item, true), group };
  return [shifts, turns].filter((knob) => knob.parts.length > 0);
}

function axisKnob(slider: Slider, item: Declared, part: number): Knob {
  const axis = part > 2 ? `↻ ${AXES[part - 3] ?? part}` : AXES[part]!;
  return { label: `${slider.label} ${axis}`, parameter: item.name, parts: [part], unit: unitOf(item, part > 2), group: slider.group };
}

/** The labels of the sliders of all laws, by parameter. */
export function labelsOf(laws: Record<string, LawWords>): Map<string, string> {
  return new Map(Object.values(laws).flatMap((law) => law.sliders.map((slider) => [slider.parameter, slider.label] as const)));
}

/** The declared unit of a number: of six, translations and rotations have one each. */
function unitOf(item: Declared, turning: boolean): string {
  const units = item.unit.split(", ");
  return (turning ? units[1] : units[0]) ?? units[0] ?? "";
}

/** Whether a slider sets several axes. */
export function hasAxes(law: LawWords | null, declared: Map<string, Declared>): boolean {
  return (law?.sliders ?? []).some((slider) => countOf(declared.get(slider.parameter)!) > 0);
}

/** The name of a knob, used to find its elements. */
export function nameOf(knob: Knob): string {
  const [first] = knob.parts;
  if (first === undefined) return knob.parameter;
  if (knob.parts.length > 1) return first > 2 ? `${knob.parameter}.turn` : knob.parameter;
  return `${knob.parameter}.${first}`;
}

/** What a knob shows: its first number; null if it cannot set the parameter (a full matrix). */
export function shownBy(knob: Knob, values: Values): number | null {
  const value = values[knob.parameter];
  if (typeof value === "number") return value;
  const part = Array.isArray(value) ? value[knob.parts[0] ?? 0] : undefined;
  return typeof part === "number" ? part : null;
}

/** The request that sets this knob to `to`; null leaves a number as it is by then. */
export function turned(knob: Knob, values: Values, to: number): Value {
  const value = values[knob.parameter];
  if (!Array.isArray(value)) return to;
  return value.map((_, i) => (knob.parts.includes(i) ? to : null));
}
