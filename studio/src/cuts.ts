// Differences from what was requested: active limits, gains and targets that are not reached yet, sensor problems.

import { element } from "./dom";
import type { Head, Hello, LawWords } from "./wire";

/** Below this, the energy tank [J] counts as empty. */
const EMPTY = 1e-3;
/** A target within this share of the current value has arrived. */
const ARRIVED = 0.01;

/** A line that ramps to the value of a parameter. */
export interface Ramp {
  label: string;
  unit: string;
  /** NaN where there is none. */
  now: number;
  target: number;
}

/** A line for each, from the head of a frame. */
export function cutsOf(hello: Pick<Hello, "limits" | "troubles">, head: Head, law: Pick<LawWords, "ramps"> | null, ramps: Ramp[] = []): string[] {
  const bits = head.whole("limits");
  const [asked, allowed] = [head.part("asked"), head.part("allowed")];
  const lines = hello.limits.flatMap((limit, i) => (bits & (1 << i) ? [`${limit.name}: ${asked[i]!.toPrecision(3)} → ${allowed[i]!.toPrecision(3)} ${limit.unit}`] : []));
  const share = Math.floor(100 * head.value("ramp"));
  if (law?.ramps && share < 100 && head.value("tank") < EMPTY) {
    lines.push(`new gains: ${share} % applied, the rest waits until motion refills the energy tank`);
  }
  for (const { label, unit, now, target } of ramps) {
    if (Math.abs(target - now) > ARRIVED * target) lines.push(`${label}: ${now.toFixed(1)} ${unit}, ramping to ${Number(target.toPrecision(4))} ${unit}`);
  }
  const sensor = hello.troubles[String(head.whole("trouble"))];
  return sensor ? [...lines, `force sensor ${sensor}`] : lines;
}

/** Shows the lines if they have changed. */
export function showCuts(box: HTMLElement, lines: string[]): void {
  if (box.textContent !== lines.join("")) box.replaceChildren(...lines.map((line) => element("div", {}, [line])));
}
