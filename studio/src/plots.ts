// Live plots, each with a few channels of the ring, redrawn at a limited rate; pause, zoom by dragging, values at the
// cursor.

import uPlot from "uplot";

import { element } from "./dom";
import { colourOf, plotsOf, strokeOf, type PlotWords } from "./lines";
import { Pace } from "./pace";
import { resampled } from "./resample";
import type { Ring } from "./ring";
import { withGaps, type Gapped } from "./gaps";
import { spanOf } from "./scale";
import type { Channel } from "./wire";

// How often plots are drawn: in motion, and at rest.
const REDRAWS_HZ = 15;
const REST_HZ = 4;
const SECONDS = 12;
const HEIGHT = 112;

interface Panel {
  keys: HTMLElement[];
  card: HTMLElement;
  words: PlotWords;
  plot: uPlot;
  columns: number[];
  values: HTMLElement;
  /** Whether it is visible and not scrolled away. */
  seen: boolean;
}

export class Plots {
  private panels: Panel[] = [];
  private paused = false;
  /** Half the width of the band around a line, by its name. */
  private bands: Record<string, number> = {};
  /** The user has zoomed in: new data would shift it away. */
  onZoom: () => void = () => {};
  /** A plot has become visible or hidden. */
  onSight: () => void = () => {};
  private readonly pace = new Pace();
  private readonly sight = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const panel = this.panels.find((each) => each.card === entry.target);
      if (panel) panel.seen = entry.isIntersecting;
    }
    this.pace.hurry();
    this.onSight();
  });
  private shown: [Gapped[][], Gapped[][] | null] | null = null;
  private law = "";
  private light = false;

  constructor(private readonly holder: HTMLElement) {}

  /** Rebuilds the plots for these channels. */
  build(channels: Channel[]): void {
    this.shown = null;
    for (const panel of this.panels) panel.plot.destroy();
    this.sight.disconnect();
    this.holder.replaceChildren();
    const names = channels.map((channel) => channel.name);
    this.panels = plotsOf(channels).map((words) => this.panel(words, names));
    this.setLaw(this.law);
  }

  /** Dark or light: the data stay, and so do freeze and zoom. */
  theme(light: boolean): void {
    this.light = light;
    for (const panel of this.panels) {
      this.colour(panel.words, panel.keys);
      panel.plot.redraw(false);
    }
  }

  private panel(words: PlotWords, names: string[]): Panel {
    const values = element("div", { class: "values", "data-testid": `values-${words.title}`, hidden: "" });
    const keys = words.lines.map((line) => element("b", { class: "key", title: line.name }, [line.key]));
    this.colour(words, keys);
    const title = element("h2", {}, [`${words.title} [${words.unit}] `, ...keys]);
    const card = element("section", { class: "card plot", "data-testid": `plot-${words.title}`, "aria-label": words.title }, [title, values]);
    this.holder.append(card);
    const empty = [[0], ...words.lines.map(() => [0]), ...words.lines.map(() => [null])] as uPlot.AlignedData;
    const plot = new uPlot(this.options(words, card.clientWidth - 14, values), empty, card);
    this.sight.observe(card);
    return { keys, card, words, plot, columns: words.lines.map((line) => names.indexOf(line.name)), values, seen: true };
  }

  private colour(words: PlotWords, keys: HTMLElement[]): void {
    words.lines.forEach((line, i) => (keys[i]!.style.color = colourOf(line, this.light)));
  }

  /** The uPlot options of a plot: its lines, and again those of the run with other parameters. */
  private options(words: PlotWords, width: number, values: HTMLElement): uPlot.Options {
    const grid = { stroke: () => (this.light ? "#dfe6ee" : "#2b3541"), width: 1 };
    const axis = { stroke: () => (this.light ? "#5a6878" : "#93a0af"), grid, ticks: { show: false }, font: "11px system-ui" };
    const lines = (otherwise: boolean): uPlot.Series[] => words.lines.map((line) => ({
      label: otherwise ? `${line.name}, what-if` : line.name,
      stroke: () => colourOf(line, this.light),
      ...strokeOf(line, otherwise),
      points: { show: false },
    }));
    return {
      width,
      height: HEIGHT,
      padding: [6, 6, 0, 0],
      scales: { x: { time: false }, y: { range: (_, low, high) => spanOf(low, high, words.least) } },
      cursor: { points: { size: 5 } },
      axes: [{ ...axis, size: 20, space: 60 }, { ...axis, size: 40, space: 24, values: (_, ticks) => ticks.map(written) }],
      series: [{}, ...lines(false), ...lines(true)],
      hooks: {
        setSelect: [(plot) => plot.select.width > 0 && this.onZoom()],
        setCursor: [(plot) => this.tell(words, plot, values)],
        drawClear: [(plot) => this.shade(words, plot)],
      },
    };
  }

  /** Shows the values at the cursor. */
  private tell(words: PlotWords, plot: uPlot, values: HTMLElement): void {
    const at = plot.cursor.idx;
    values.hidden = at === null || at === undefined || (plot.cursor.left ?? -1) < 0;
    if (values.hidden) return;
    values.classList.toggle("left", plot.cursor.left! > plot.over.clientWidth / 2);
    const rows = words.lines.flatMap((line, i) => {
      const value = plot.data[i + 1]?.[at!];
      if (value === null || value === undefined || plot.series[i + 1]?.show === false) return [];
      const letter = element("b", { style: `color: ${colourOf(line, this.light)}` }, [line.key]);
      return [element("div", {}, [letter, ` ${Number(value.toPrecision(3))}`])];
    });
    values.replaceChildren(element("div", {}, [`${Number(plot.data[0][at!] ?? 0).toFixed(2)} s`]), ...rows);
  }

  /** Shades the bands around the lines that have one. */
  private shade(words: PlotWords, plot: uPlot): void {
    words.lines.forEach((line, i) => {
      const half = line.law === this.law ? (this.bands[line.name] ?? 0) : 0;
      if (half > 0) this.band(plot, i + 1, half, `${colourOf(line, this.light)}33`);
    });
  }

  private band(plot: uPlot, series: number, half: number, colour: string): void {
    const middle = plot.data[series];
    const time = plot.data[0];
    if (!middle || time.length < 2) return;
    const edge = (sign: number, i: number): [number, number] => [
      plot.valToPos(time[i]!, "x", true),
      plot.valToPos(middle[i]! + sign * half, "y", true),
    ];
    const known = Array.from(time, (_, i) => i).filter((i) => middle[i] !== null && middle[i] !== undefined);
    const shape = new Path2D();
    for (const i of known) shape.lineTo(...edge(1, i));
    for (const i of known.reverse()) shape.lineTo(...edge(-1, i));
    plot.ctx.save();
    plot.ctx.beginPath();
    plot.ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
    plot.ctx.clip();
    plot.ctx.fillStyle = colour;
    plot.ctx.fill(shape);
    plot.ctx.restore();
  }

  /** Shows a whole recording, with the run with other parameters, and marks a moment. */
  past(columns: Gapped[][], otherwise: Gapped[][] | null, at: number): void {
    const time = columns[0]! as number[];
    const same = this.shown?.[0] === columns && this.shown[1] === otherwise; // then what was enlarged stays so
    this.shown = [columns, otherwise];
    for (const panel of this.panels) {
      const other = () => (otherwise ? resampled(otherwise, panel.columns, time) : panel.columns.map(() => time.map(() => null)));
      if (!same) panel.plot.setData([time, ...panel.columns.map((c) => columns[c]!), ...other()] as unknown as uPlot.AlignedData);
      // only after uPlot has computed the scale of the new data, a moment later
      queueMicrotask(() => panel.plot.setCursor({ left: panel.plot.valToPos(time[at]!, "x"), top: 10 }));
    }
  }

  /** Half the width of the band around each line that has one. A plot that is frozen shows it too. */
  setBands(bands: Record<string, number>): void {
    if (JSON.stringify(bands) === JSON.stringify(this.bands)) return;
    this.bands = bands;
    for (const panel of this.panels) panel.plot.redraw(false);
  }

  /** Shows the lines of this law, and hides those of others. */
  setLaw(law: string): void {
    this.law = law;
    for (const panel of this.panels) {
      const lines = panel.words.lines;
      lines.forEach((line, i) => {
        if (!line.law) return;
        const on = line.law === law;
        panel.plot.setSeries(i + 1, { show: on });
        panel.plot.setSeries(lines.length + i + 1, { show: on });
        panel.keys[i]!.hidden = !on;
      });
      panel.card.hidden = lines.every((line) => line.law && line.law !== law);
    }
  }

  /** Freezes or continues; hidden plots freeze at the same moment as the others. */
  pause(on: boolean, ring: Ring): void {
    this.paused = on;
    if (on && !this.shown && ring.length >= 2) this.put(ring, this.panels.filter((panel) => !panel.seen));
  }

  resize(): void {
    for (const panel of this.panels) panel.plot.setSize({ width: panel.card.clientWidth - 14, height: HEIGHT });
  }

  /** Shows the newest seconds of a loop, at the rate for motion or rest; `last` if no more data will arrive. */
  draw(ring: Ring, now: number, rests: boolean, last = false): void {
    const hz = last ? Number.POSITIVE_INFINITY : rests ? REST_HZ : REDRAWS_HZ;
    if (this.paused || document.hidden || ring.length < 2 || !this.pace.isDue(now, hz)) return;
    this.put(ring, this.panels.filter((panel) => panel.seen || last));
  }

  private put(ring: Ring, panels: Panel[]): void {
    const time = ring.column(0);
    const from = time[time.length - 1]! - SECONDS;
    const first = Math.max(0, time.findIndex((t) => t >= from));
    const x = time.subarray(first);
    for (const panel of panels) {
      const lines = panel.columns.map((c) => withGaps(ring.column(c).subarray(first)));
      const none = lines.map(() => [] as number[]);
      panel.plot.setData([x, ...lines, ...none] as unknown as uPlot.AlignedData);
    }
  }
}

/** A tick of an axis in few characters. */
function written(tick: number): string {
  return Math.abs(tick) >= 1e4 ? `${Math.round(tick / 1e3)}k` : String(Number(tick.toPrecision(4)));
}
