// The last seconds of every channel, oldest first, as columns that a plot can draw without copying more than it shows.

export class Ring {
  private readonly columns: Float32Array[];
  private count = 0;

  constructor(
    readonly channels: number,
    readonly size: number,
  ) {
    this.columns = Array.from({ length: channels }, () => new Float32Array(size));
  }

  get length(): number {
    return Math.min(this.count, this.size);
  }

  /** Adds rows of `channels` numbers each. If the clock goes back, it is another loop: the old data are dropped. */
  add(samples: Float32Array, rows: number): void {
    for (let row = 0; row < rows; row++) {
      const time = samples[row * this.channels] ?? 0;
      if (this.count > 0 && time < this.newest(0)) this.count = 0;
      const at = this.count % this.size;
      for (let c = 0; c < this.channels; c++) this.columns[c]![at] = samples[row * this.channels + c]!;
      this.count++;
    }
  }

  newest(channel: number): number {
    return this.count === 0 ? 0 : this.columns[channel]![(this.count - 1) % this.size]!;
  }

  /** The samples of a channel, oldest first. */
  column(channel: number): Float32Array {
    const source = this.columns[channel]!;
    if (this.count <= this.size) return source.slice(0, this.count);
    const out = new Float32Array(this.size);
    const split = this.count % this.size;
    out.set(source.subarray(split), 0);
    out.set(source.subarray(0, split), this.size - split);
    return out;
  }
}
