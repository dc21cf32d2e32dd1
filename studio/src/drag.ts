// Which changes of a slider belong together: those of one hold of a pointer, or of keys in quick succession.

// Keys that come later than this after the last are another change [ms].
const PAUSE_MS = 500;

export class Drags {
  private number = 1;
  private slider = "";
  private last = Number.NEGATIVE_INFINITY;
  private held = false;

  /** A pointer starts to drag a slider. */
  press(slider: string): void {
    this.number++;
    this.slider = slider;
    this.held = true;
  }

  release(): void {
    this.held = false;
  }

  /** The number of the change that this movement of a slider belongs to; never 0. */
  next(slider: string, now: number): number {
    if (slider !== this.slider || (!this.held && now - this.last > PAUSE_MS)) this.number++;
    this.slider = slider;
    this.last = now;
    return this.number;
  }
}
