// What is shown anew at most so often, however often there is news.

/** Numbers in words change no more often than they can be read. */
export const WORDS_HZ = 6;

export class Pace {
  private last = Number.NEGATIVE_INFINITY;

  /** Whether it is time again at this rate, now [ms]; if so, the next time is counted from now. */
  isDue(now: number, hz: number): boolean {
    if (now - this.last < 1000 / hz) return false;
    this.last = now;
    return true;
  }

  /** It is time with the next news. */
  hurry(): void {
    this.last = Number.NEGATIVE_INFINITY;
  }
}
