// Whether what is shown is still news: a page to which nothing comes must not look as if all were well.

// After so long without anything new, what is shown is old [ms].
const OLD_MS = 2000;
/** How often to look [ms]. */
export const LOOK_MS = 500;

export class Silence {
  private last = 0;
  private looked = Number.NEGATIVE_INFINITY;

  /** Something new has come. */
  hear(now: number): void {
    this.last = now;
  }

  /** For how many whole seconds nothing has come; 0 while that is no matter. To be asked every `LOOK_MS`. */
  look(now: number): number {
    const slept = now - this.looked > 2 * LOOK_MS; // then what has come meanwhile was not heard yet
    this.looked = now;
    const quiet = now - this.last;
    return quiet < OLD_MS || slept ? 0 : Math.floor(quiet / 1000);
  }
}
