// A clock that a test drives: timers of the page fire when the test advances the time.

const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout, now: performance.now.bind(performance) };

interface Due {
  at: number;
  run: () => void;
}

export class Clock {
  now = 0;
  private number = 0;
  private readonly due = new Map<number, Due>();

  /** Replaces the timers and the clock of the page. */
  start(): void {
    const setTimeout = (run: () => void, wait = 0) => {
      this.due.set(++this.number, { at: this.now + wait, run });
      return this.number;
    };
    Object.assign(globalThis, { setTimeout, clearTimeout: (number: number) => this.due.delete(number) });
    Object.defineProperty(performance, "now", { configurable: true, value: () => this.now });
  }

  stop(): void {
    Object.assign(globalThis, { setTimeout: real.setTimeout, clearTimeout: real.clearTimeout });
    Object.defineProperty(performance, "now", { configurable: true, value: real.now });
  }

  /** Advances the time [ms]. */
  advance(by: number): void {
    const end = this.now + by;
    for (;;) {
      const [next] = [...this.due].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at);
      if (!next) break;
      const [number, { at, run }] = next;
      this.due.delete(number);
      this.now = at;
      run();
    }
    this.now = end;
  }
}

/** Waits until a condition is true, however busy the machine is; fails if it never is. */
export async function until(is: () => boolean, within_ms = 120_000): Promise<void> {
  const end = real.now() + within_ms;
  while (!is()) {
    if (real.now() > end) throw new Error("it never happened");
    await new Promise((resolve) => real.setTimeout(resolve, 5));
  }
}
