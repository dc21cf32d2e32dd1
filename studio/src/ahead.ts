// The result of the check for every value of every slider, requested in advance.

import { element } from "./dom";
import { shownBy, turned } from "./dynamics";
import type { Link } from "./link";
import { fromStep } from "./scale";
import type { Row } from "./slider_row";
import type { Values } from "./wire";
import { stepsOf } from "./zones";

const AFTER_MS = 400;

/** What to judge. */
export interface Asked {
  rows: Row[];
  values: Values;
  revision: number;
}

export class Ahead {
  /** What was judged, and for which set of parameters. */
  readonly words = element("p", { class: "faint", "data-testid": "judged" });
  private timer = 0;
  private asking = false;
  private outdated = false;

  constructor(
    private readonly link: Link,
    private readonly now: () => Asked,
  ) {}

  /** Requests results once nothing has changed for a moment. */
  soon(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.ask(), AFTER_MS);
  }

  /** Requests results for every slider, one request at a time, so that a slow Studio is not overloaded. */
  async ask(): Promise<void> {
    this.outdated = true;
    if (this.asking) return; // which begins anew with its next answer
    this.asking = true;
    while (this.outdated) await this.askAll(this.now());
    this.asking = false;
  }

  private async askAll({ rows, values, revision }: Asked): Promise<void> {
    this.outdated = false;
    for (const row of rows) {
      if (shownBy(row.knob, values) === null) continue;
      const steps = stepsOf().map((step) => turned(row.knob, values, fromStep(row.range, step)));
      const answer = await this.link.ask("ahead", { parameter: row.knob.parameter, values: steps });
      if (this.outdated) return;
      if (!answer.ok) continue;
      row.judge(answer.zones);
      this.words.textContent = answer.judged
        ? "Stability check on the declared surfaces: red is rejected, amber has little reserve."
        : "Red is out of bounds. No surface is declared, so the stability check does not apply.";
    }
    this.words.dataset["revision"] = String(revision); // every slider is judged for this set
  }
}
