// The buttons above the view: what can be asked of the robot at any time.

import { element } from "./dom";

export interface Orders {
  ask(what: string, more?: Record<string, unknown>, done?: string): void;
  record(): void;
  changeLook(): void;
  halt(): void;
}

/** Puts the buttons there; returns them by name. */
export function makeButtons(into: HTMLElement, orders: Orders): Map<string, HTMLButtonElement> {
  const made = new Map<string, HTMLButtonElement>();
  const add = (id: string, words: string, title: string, press: () => void, kind = "") => {
    const button = element("button", { "data-testid": id, title, ...(kind ? { class: kind } : {}) }, [words]);
    button.onclick = press;
    made.set(id, button);
    into.append(button);
  };
  const order = (name: string) => () => orders.ask("order", { order: name });
  add("begin", "Begin", "Begin the mission, from where the robot stands", () => orders.ask("begin"), "main");
  add("seek", "Seek", "Set the start here and seek the surface", () => orders.ask("seek"));
  add("pause", "Pause", "Pause the contact task", order("pause"));
  add("go-on", "Go on", "Go on after a pause", order("resume"));
  add("retract", "Retract", "End the contact task and lift off", order("stop"));
  add("tare", "Tare", "Make the present reading of the force sensor zero", () => orders.ask("tare", {}, "The sensor is tared."));
  add("record", "Record", "Record the loop into a file", () => orders.record());
  add("theme", "☾", "Dark or light", () => orders.changeLook());
  add("resume", "Resume", "Go on after a stop", () => orders.ask("resume"));
  add("stop", "Stop", "Come to rest now (Space or Esc)", () => orders.halt(), "stop");
  return made;
}
