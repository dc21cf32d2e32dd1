// The pills that show the state of the loop, and how old the display is.

import { write } from "./dom";
import type { Status } from "./wire";

const KINDS: Record<string, string> = { running: "good", starting: "warn", connecting: "warn", ended: "warn", "no loop": "warn" };
const NAMES: Record<string, string> = { none: "no loop" };
// In these states no new data arrive.
const STILL = ["none", "starting", "ended", "fault"];

export interface Told {
  words: string;
  /** Good, warn or bad. */
  kind: string;
}

/** The state of the loop in words; an unknown state is shown as it is. */
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

/** Marks the page as outdated for this many seconds; 0: it is current. */
export function showAge(pill: HTMLElement, seconds: number): void {
  document.body.classList.toggle("old", seconds > 0);
  pill.hidden = seconds === 0;
  const [what, since] = pill.children as unknown as [HTMLElement, HTMLElement];
  write(what, seconds > 0 ? "no new data" : ""); // is read out once; the seconds are not
  write(since, ` for ${seconds} s`);
}
