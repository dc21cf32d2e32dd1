// The buttons above the view: those that always apply, and the commands of the running law.

import { element } from "./dom";
import type { Asks, LawWords, Request } from "./wire";

/** Buttons of every law. */
export const LAW = ["tare", "resume"];

export interface Asking {
  ask<K extends Request>(what: K, more: Asks<K>, done?: string): void;
  record(): void;
  changeLook(): void;
  halt(): void;
}

export class Buttons {
  private readonly made = new Map<string, HTMLButtonElement>();
  /** Commands of the running law. */
  private commands: HTMLButtonElement[] = [];

  constructor(
    into: HTMLElement,
    private readonly asking: Asking,
  ) {
    const add = (id: string, words: string, title: string, press: () => void, kind = "") => {
      this.made.set(id, button(id, words, title, press, kind));
      into.append(this.get(id));
    };
    add("begin", "Begin", "Begin the mission from the robot's current position", () => asking.ask("begin", {}), "main");
    add("tare", "Tare", "Zero the force sensor; the declared tool weight stays compensated", () => asking.ask("tare", {}, "Force sensor tared."));
    add("record", "Record", "Record the loop to a file", () => asking.record());
    add("theme", "☾", "Dark or light colours", () => asking.changeLook());
    add("resume", "Resume", "Resume after a stop", () => asking.ask("resume", {}));
    add("stop", "Stop", "Stop the robot now (Space or Esc)", () => asking.halt(), "stop");
  }

  get(id: string): HTMLButtonElement {
    return this.made.get(id)!;
  }

  /** Shows the commands of a law, before Tare. */
  setLaw(law: LawWords | null): void {
    for (const old of this.commands) old.remove();
    this.commands = (law?.buttons ?? []).map(({ name, label, help, commands }) => button(name, label, help, () => this.asking.ask("command", { commands })));
    this.get("tare").before(...this.commands);
  }
}

function button(id: string, words: string, title: string, press: () => void, kind = ""): HTMLButtonElement {
  const made = element("button", { "data-testid": id, title, ...(kind ? { class: kind } : {}) }, [words]);
  made.onclick = press;
  return made;
}
