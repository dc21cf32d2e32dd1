// Work in progress: what it is, for how long it has run, and a button that cancels it.

import { element } from "./dom";
import type { Busy } from "./wire";

const TICK_MS = 1000;

interface Line {
  words: string;
  since: number;
  row: HTMLElement;
  seconds: HTMLElement;
}

export class BusyLines {
  readonly holder = element("div");
  private readonly lines = new Map<string, Line>();

  constructor(private readonly cancel: (what: keyof Busy) => void) {
    window.setInterval(() => this.count(), TICK_MS);
  }

  /** Shows what is in progress; finished work disappears. */
  show(busy: Busy): void {
    for (const [what, words] of Object.entries(busy) as [keyof Busy, string][]) {
      const line = this.lines.get(what);
      if (line?.words === words) continue;
      line?.row.remove();
      this.lines.delete(what);
      if (words) this.lines.set(what, this.line(what, words));
    }
    this.count();
  }

  private line(what: keyof Busy, words: string): Line {
    const seconds = element("span", { class: "faint" });
    const cancel = element("button", { "data-testid": `cancel-${what}`, title: `Cancel: ${words}` }, ["Cancel"]);
    cancel.onclick = () => {
      cancel.disabled = true;
      this.cancel(what);
    };
    const bar = element("progress", { "aria-label": words });
    const row = element("div", { class: "line busy", "data-testid": `busy-${what}` }, [element("span", { role: "status" }, [`${words}…`]), bar, seconds, cancel]);
    this.holder.append(row);
    return { words, since: performance.now(), row, seconds };
  }

  private count(): void {
    for (const line of this.lines.values()) line.seconds.textContent = `${Math.floor((performance.now() - line.since) / 1000)} s`;
  }
}
