// What differs from what was asked for: active limits, gains and targets that are not reached yet, sensor problems.

import { element } from "./dom";
import type { Hello } from "./wire";

const SPRINGS = ["admittance", "impedance"];
/** Less than this in the energy tank [J] is spent as soon as it comes in. */
const EMPTY = 1e-3;
/** A target that is nearer to the value in force than this share of it has arrived. */
const ARRIVED = 0.01;

/** A line for each, from the head of a frame with names at the places `at`; `target`: the force target in force [N]. */
export function cutsOf(hello: Hello, head: Float32Array, at: Record<string, number>, law: string, target = Number.NaN): string[] {
  const value = (name: string, further = 0) => head[at[name]! + further]!;
  const bits = Math.round(value("limits"));
  const lines = hello.limits.flatMap((limit, i) => {
    if (!(bits & (1 << i))) return [];
    const asked = value("cut 0", i).toPrecision(3);
    const allowed = value("cut 0", hello.limits.length + i).toPrecision(3);
    return [`${limit.name}: ${asked} → ${allowed} ${limit.unit}`];
  });
  const share = Math.floor(100 * value("ramp"));
  if (SPRINGS.includes(law) && share < 100 && value("tank") < EMPTY) {
    lines.push(`new gains: ${share} % applied, the rest waits until motion refills the energy tank`);
  }
  const now = at["target"] === undefined ? Number.NaN : value("target"); // NaN unless a contact presses
  if (law === "contact" && Math.abs(target - now) > ARRIVED * target) lines.push(`target force: ${now.toFixed(1)} N, ramping to ${Number(target.toPrecision(4))} N`);
  const sensor = hello.loop?.troubles[String(Math.round(value("trouble")))];
  return sensor ? [...lines, `force sensor ${sensor}`] : lines;
}

/** Shows the lines, if they are others than those that stand there. */
export function showCuts(box: HTMLElement, lines: string[]): void {
  if (box.textContent !== lines.join("")) box.replaceChildren(...lines.map((line) => element("div", {}, [line])));
}
