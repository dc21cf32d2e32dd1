// A stop is never lost without a word: until the loop has heard it, it is told aloud, and sent first on every new line.

import { LONG_MS, type Link } from "./link";
import type { Answer } from "./wire";

/** What is shown until a stop is confirmed. */
export const UNSURE = "Stop not confirmed: use the robot's emergency stop. The page keeps sending the stop until it is confirmed.";

// Whoever has pressed Stop and hears nothing for so long has to reach for something else [ms].
const PATIENCE_MS = 1000;
// A line that is tried again and again is given more time each time, and no more than this [ms].
const MOST_MS = 8000;

export class Halt {
  /** The stop is not confirmed; what the robot does is not known. */
  onDoubt: () => void = () => {};
  /** The loop has heard it, or there is none; after a doubt, `late` says how long it took [s], else it is 0. */
  onAnswer: (answer: Answer<"halt">, late: number) => void = () => {};

  /** When the stop was asked for that nobody has confirmed [ms]; null: there is none. */
  private asked: number | null = null;
  private doubted = false;
  /** The Studio has answered that the loop has not heard the stop. */
  private refused = false;
  private patience = PATIENCE_MS;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly link: Link) {
    link.onLine = () => this.asked !== null && this.send();
  }

  press(): void {
    this.asked ??= performance.now();
    this.send();
  }

  private send(): void {
    this.wait();
    this.refused = false;
    void this.link.ask("halt", {}, LONG_MS).then((answer) => {
      if (settles(answer)) return this.confirm(answer);
      this.refused = answer.ok || !answer.unheard;
      this.doubt();
    });
  }

  private wait(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tire(), this.patience);
  }

  /** Nothing has come in time: where the line is silent altogether, another is tried; what was not heard is said again. */
  private tire(): void {
    this.doubt();
    const silent = performance.now() - this.link.heard >= this.patience;
    this.patience = Math.min(2 * this.patience, MOST_MS);
    if (silent) this.link.renew();
    else if (this.refused) this.send();
    else this.wait();
  }

  private doubt(): void {
    if (this.asked === null) return;
    this.doubted = true;
    this.onDoubt();
  }

  private confirm(answer: Answer<"halt">): void {
    if (this.asked === null) return;
    clearTimeout(this.timer);
    const late = this.doubted ? (performance.now() - this.asked) / 1000 : 0;
    this.asked = null;
    this.doubted = false;
    this.patience = PATIENCE_MS;
    this.onAnswer(answer, late);
  }
}

/** Whether an answer puts an end to a stop: the loop has heard it, or there is none that runs. */
function settles(answer: Answer<"halt">): boolean {
  return answer.ok ? answer.heard !== false : answer.idle === true;
}
