// The buttons above the view: what can be asked of the robot at any time.

import { element } from "./dom";

/** Buttons of the contact law. */
export const CONTACT = ["seek", "pause", "go-on", "retract"];
/** Buttons of every law. */
export const LAW = ["tare", "resume"];

export interface Requests {
  ask(what: string, more?: Record<string, unknown>, done?: string): void;
  record(): void;
  changeLook(): void;
  halt(): void;
}

/** Puts the buttons there; returns them by name. */
export function makeButtons(into: HTMLElement, requests: Requests): Map<string, HTMLButtonElement> {
  const made = new Map<string, HTMLButtonElement>();
  const add = (id: string, words: string, title: string, press: () => void, kind = "") => {
    const button = element("button", { "data-testid": id, title, ...(kind ? { class: kind } : {}) }, [words]);
    button.onclick = press;
    made.set(id, button);
    into.append(button);
  };
  const command = (name: string) => () => requests.ask("command", { command: name });
  add("begin", "Begin", "Begin the mission from the robot's current position", () => requests.ask("begin"), "main");
  add("seek", "Seek", "Set the start to the current pose and seek the surface", () => requests.ask("seek"));
  add("pause", "Pause", "Pause the contact task", command("pause"));
  add("go-on", "Continue", "Continue after a pause", command("resume"));
  add("retract", "Retract", "End the contact task and lift off", command("stop"));
  add("tare", "Tare", "Zero the force sensor; the declared tool weight stays compensated", () => requests.ask("tare", {}, "Force sensor tared."));
  add("record", "Record", "Record the loop to a file", () => requests.record());
  add("theme", "☾", "Dark or light colours", () => requests.changeLook());
  add("resume", "Resume", "Resume after a stop", () => requests.ask("resume"));
  add("stop", "Stop", "Stop the robot now (Space or Esc)", () => requests.halt(), "stop");
  return made;
}
