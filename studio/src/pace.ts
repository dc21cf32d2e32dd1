// Limits how often something is redrawn.

/** The rate at which displayed numbers can still be read. */
export const WORDS_HZ = 6;

export class Pace {
  private last = Number.NEGATIVE_INFINITY;

  /** Whether it is due at this rate, now [ms]; if so, the next time counts from now. */
  isDue(now: number, hz: number): boolean {
    if (now - this.last < 1000 / hz) return false;
    this.last = now;
    return true;
  }

  /** It is due with the next change. */
  hurry(): void {
    this.last = Number.NEGATIVE_INFINITY;
  }
}
