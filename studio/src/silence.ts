// Whether what is shown is current: a page that receives nothing must not look normal.

// After this time without new data, the display is outdated [ms].
const OLD_MS = 2000;
/** How often to check [ms]. */
export const LOOK_MS = 500;

export class Silence {
  private last = 0;
  private looked = Number.NEGATIVE_INFINITY;

  /** New data have arrived. */
  hear(now: number): void {
    this.last = now;
  }

  /** For how many whole seconds nothing has arrived; 0 while it does not matter. Call it every `LOOK_MS`. */
  look(now: number): number {
    const slept = now - this.looked > 2 * LOOK_MS; // then what has come meanwhile was not heard yet
    this.looked = now;
    const quiet = now - this.last;
    return quiet < OLD_MS || slept ? 0 : Math.floor(quiet / 1000);
  }
}
