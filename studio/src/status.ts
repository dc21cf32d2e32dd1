// The pills that say how the loop is, and how old what is shown of it is.

import { write } from "./dom";
import type { Status } from "./wire";

const KINDS: Record<string, string> = { running: "good", starting: "warn", connecting: "warn", ended: "warn", "no loop": "warn" };
const NAMES: Record<string, string> = { none: "no loop" };
// In these states nothing new is to come.
const STILL = ["none", "starting", "ended", "fault"];

export interface Told {
  words: string;
  /** Good, warn or bad. */
  kind: string;
}

/** How the loop is, in words; a state that this page does not know yet speaks for itself. */
export function statusInWords(open: boolean, status: Status | null): Told {
  if (!open) return { words: "no connection", kind: "bad" };
  const name = NAMES[status?.status ?? ""] ?? status?.status ?? "connecting";
  const known = name in KINDS || name === "fault";
  return { words: !known && status?.reason ? `${name}: ${status.reason}` : name, kind: KINDS[name] ?? "bad" };
}

/** Whether frames should come in this state. */
export function isLive(status: Status | null): boolean {
  return status !== null && !STILL.includes(status.status);
}

export function showStatus(pill: HTMLElement, told: Told): void {
  write(pill, told.words);
  pill.className = `pill ${told.kind}`;
}

/** Shows what is on the page as old, since so many seconds; 0: it is not. */
export function showAge(pill: HTMLElement, seconds: number): void {
  document.body.classList.toggle("old", seconds > 0);
  pill.hidden = seconds === 0;
  const [what, since] = pill.children as unknown as [HTMLElement, HTMLElement];
  write(what, seconds > 0 ? "no new data" : ""); // is read out once; the seconds are not
  write(since, ` for ${seconds} s`);
}
