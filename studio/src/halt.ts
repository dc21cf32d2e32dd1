// A stop is never lost silently: until the loop confirms it, a warning is shown, and it is sent first on every new
// connection.

import { LONG_MS, type Link } from "./link";
import type { Answer } from "./wire";

/** What is shown until a stop is confirmed. */
export const UNSURE = "Stop not confirmed: use the robot's emergency stop. The page keeps sending the stop until it is confirmed.";

// After this time without a confirmation, the user is told to use the emergency stop [ms].
const PATIENCE_MS = 1000;
// Each new attempt to connect gets more time, up to this [ms].
const MOST_MS = 8000;

export class Halt {
  /** The stop is not confirmed; the state of the robot is unknown. */
  onDoubt: () => void = () => {};
  /** The loop has confirmed it, or there is no loop; `late` is how long a late confirmation took [s], otherwise 0. */
  onAnswer: (answer: Answer<"halt">, late: number) => void = () => {};

  /** When the unconfirmed stop was requested [ms]; null: there is none. */
  private asked: number | null = null;
  private doubted = false;
  /** The Studio has answered that the loop has not confirmed the stop. */
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

  /** No confirmation in time: if the connection is silent, another one is tried; the stop is sent again. */
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

/** Whether an answer settles a stop: the loop has confirmed it, or no loop is running. */
function settles(answer: Answer<"halt">): boolean {
  return answer.ok ? answer.heard !== false : answer.idle === true;
}
