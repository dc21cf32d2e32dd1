// Live plots: each a few channels of the ring, redrawn at most so often; pause, zoom by dragging, values at the cursor.

import uPlot from "uplot";

import { element } from "./dom";
import { resampled } from "./resample";
import type { Ring } from "./ring";
import { spanOf } from "./scale";

const REDRAWS_HZ = 15;
const SECONDS = 12;
const HEIGHT = 112;

export interface PlotWords {
  title: string;
  unit: string;
  lines: string[];
  /** The axis shows no less than this. */
  least: number;
}

export const PLOTS: PlotWords[] = [
  { title: "Force", unit: "N", lines: ["force x", "force y", "force z", "contact force", "force target"], least: 2 },
  { title: "Velocity", unit: "m/s", lines: ["velocity x", "velocity y", "velocity z"], least: 0.02 },
  { title: "Speed", unit: "m/s", lines: ["speed", "speed told"], least: 0.1 },
  { title: "Turning", unit: "rad/s", lines: ["turning", "turning told"], least: 0.1 },
  { title: "Off the goal", unit: "mm", lines: ["distance from goal"], least: 1 },
  { title: "Clearance", unit: "m", lines: ["clearance"], least: 0.2 },
  { title: "Energy tank", unit: "J", lines: ["energy tank"], least: 0.02 },
  { title: "Lateness", unit: "µs", lines: ["lateness"], least: 100 },
];
const COLOURS: Record<string, string> = {
  x: "#e5606b", y: "#3fae6c", z: "#4c9be8", "contact force": "#b37feb", "force target": "#f5a623",
  "speed told": "#f5a623", "turning told": "#f5a623",
};
const SHORT: Record<string, string> = {
  "contact force": "normal", "force target": "target", speed: "is", "speed told": "told", turning: "is", "turning told": "told",
};
const DASHED = ["force target", "speed told", "turning told"];

/** Colour and letter of a line: axes look alike in every plot. */
function lineLook(line: string): { colour: string; letter: string } {
  const axis = /^.* ([xyz])$/.exec(line)?.[1];
  return { colour: COLOURS[axis ?? line] ?? "#4c9be8", letter: axis ?? SHORT[line] ?? "" };
}

/** The plots for these channels: an arm has others than a base. */
export function plotsOf(names: string[]): PlotWords[] {
  return PLOTS.filter((words) => words.lines.every((line) => names.includes(line)));
}

const CONTACT = ["contact force", "force target"];

interface Panel {
  keys: HTMLElement[];
  card: HTMLElement;
  words: PlotWords;
  plot: uPlot;
  columns: number[];
  values: HTMLElement;
}

export class Plots {
  private panels: Panel[] = [];
  private paused = false;
  /** Half the width of the band around the force target [N]; 0: there is none to be held. */
  band = 0;
  /** A part was chosen to be seen larger: what moves on would take it away. */
  onZoom: () => void = () => {};
  private drawn = 0;
  private shown: [number[][], number[][] | null] | null = null;
  private pressing = false;

  constructor(private readonly holder: HTMLElement) {}

  /** Makes the plots for these channels anew. */
  build(channels: { name: string }[], light: boolean): void {
    this.shown = null;
    for (const panel of this.panels) panel.plot.destroy();
    this.holder.replaceChildren();
    const names = channels.map((channel) => channel.name);
    this.panels = plotsOf(names).map((words) => this.panel(words, names, light));
    this.contact(this.pressing);
  }

  private panel(words: PlotWords, names: string[], light: boolean): Panel {
    const values = element("div", { class: "values", "data-testid": `values-${words.title}`, hidden: "" });
    const legend = words.lines.map((line) => {
      const { colour, letter } = lineLook(line);
      return element("b", { class: "key", style: `color: ${colour}`, title: line }, [letter]);
    });
    const title = element("h2", {}, [`${words.title} [${words.unit}] `, ...legend]);
    const card = element("section", { class: "card plot", "data-testid": `plot-${words.title}`, "aria-label": words.title }, [title, values]);
    this.holder.append(card);
    const faint = light ? "#5a6878" : "#93a0af";
    const grid = { stroke: light ? "#dfe6ee" : "#2b3541", width: 1 };
    const axis = { stroke: faint, grid, ticks: { show: false }, font: "11px system-ui" };
    const plot = new uPlot(
      {
        width: card.clientWidth - 14,
        height: HEIGHT,
        padding: [6, 6, 0, 0],
        scales: { x: { time: false }, y: { range: (_, low, high) => spanOf(low, high, words.least) } },
        cursor: { points: { size: 5 } },
        axes: [{ ...axis, size: 20, space: 60 }, { ...axis, size: 40, space: 24, values: (_, ticks) => ticks.map(written) }],
        series: [
          {},
          ...words.lines.map((line) => ({
            label: line,
            stroke: lineLook(line).colour,
            width: DASHED.includes(line) ? 1.5 : 1.25,
            ...(DASHED.includes(line) ? { dash: [5, 4] } : {}),
            points: { show: false },
          })),
          ...words.lines.map((line) => ({
            label: `${line}, otherwise`,
            stroke: lineLook(line).colour,
            width: 1,
            dash: [2, 3],
            points: { show: false },
          })),
        ],
        hooks: { setSelect: [(u) => u.select.width > 0 && this.onZoom()], setCursor: [(u) => this.tell(words, u, values)], drawClear: [(u) => this.shade(words, u)] },
      },
      [[0], ...words.lines.map(() => [0]), ...words.lines.map(() => [null])],
      card,
    );
    return { keys: legend, card, words, plot, columns: words.lines.map((line) => names.indexOf(line)), values };
  }

  /** Writes what the lines are at the cursor, while there is one. */
  private tell(words: PlotWords, plot: uPlot, values: HTMLElement): void {
    const at = plot.cursor.idx;
    values.hidden = at === null || at === undefined || (plot.cursor.left ?? -1) < 0;
    if (values.hidden) return;
    values.classList.toggle("left", plot.cursor.left! > plot.over.clientWidth / 2);
    const rows = words.lines.flatMap((line, i) => {
      const value = plot.data[i + 1]?.[at!];
      if (value === null || value === undefined || plot.series[i + 1]?.show === false) return [];
      const { colour, letter } = lineLook(line);
      return [element("div", {}, [element("b", { style: `color: ${colour}` }, [letter]), ` ${Number(value.toPrecision(3))}`])];
    });
    values.replaceChildren(element("div", {}, [`${Number(plot.data[0][at!] ?? 0).toFixed(2)} s`]), ...rows);
  }

  /** Shades the band around the target in which the force counts as held. */
  private shade(words: PlotWords, plot: uPlot): void {
    const target = plot.data[words.lines.indexOf("force target") + 1];
    const time = plot.data[0];
    if (!words.lines.includes("force target") || !target || this.band <= 0 || time.length < 2) return;
    const edge = (sign: number, i: number): [number, number] => [
      plot.valToPos(time[i]!, "x", true),
      plot.valToPos((target[i] ?? 0) + sign * this.band, "y", true),
    ];
    const shape = new Path2D();
    for (let i = 0; i < time.length; i++) shape.lineTo(...edge(1, i));
    for (let i = time.length - 1; i >= 0; i--) shape.lineTo(...edge(-1, i));
    plot.ctx.save();
    plot.ctx.beginPath();
    plot.ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
    plot.ctx.clip();
    plot.ctx.fillStyle = `${COLOURS["force target"]!}33`;
    plot.ctx.fill(shape);
    plot.ctx.restore();
  }

  /** Shows a whole recording, with how it would have gone otherwise beside it, and marks a moment. */
  past(columns: number[][], otherwise: number[][] | null, at: number): void {
    const time = columns[0]!;
    const same = this.shown?.[0] === columns && this.shown[1] === otherwise; // then what was enlarged stays so
    this.shown = [columns, otherwise];
    for (const panel of this.panels) {
      const other = () => (otherwise ? resampled(otherwise, panel.columns, time) : panel.columns.map(() => time.map(() => null)));
      if (!same) panel.plot.setData([time, ...panel.columns.map((c) => columns[c]!), ...other()] as unknown as uPlot.AlignedData);
      panel.plot.setCursor({ left: panel.plot.valToPos(time[at]!, "x"), top: 10 });
    }
  }

  /** Shows or hides what only a contact has: the force along the normal, and its target. */
  contact(on: boolean): void {
    this.pressing = on;
    for (const panel of this.panels) {
      panel.words.lines.forEach((line, i) => {
        if (!CONTACT.includes(line)) return;
        panel.plot.setSeries(i + 1, { show: on });
        panel.plot.setSeries(panel.words.lines.length + i + 1, { show: on });
        panel.keys[i]!.hidden = !on;
      });
    }
  }

  pause(on: boolean): void {
    this.paused = on;
  }

  resize(): void {
    for (const panel of this.panels) panel.plot.setSize({ width: panel.card.clientWidth - 14, height: HEIGHT });
  }

  draw(ring: Ring, now: number): void {
    if (this.paused || document.hidden || now - this.drawn < 1000 / REDRAWS_HZ || ring.length < 2) return;
    this.drawn = now;
    const time = ring.column(0);
    const from = time[time.length - 1]! - SECONDS;
    const first = Math.max(0, time.findIndex((t) => t >= from));
    const x = time.subarray(first);
    for (const panel of this.panels) {
      const lines = panel.columns.map((c) => ring.column(c).subarray(first));
      const none = lines.map(() => [] as number[]);
      panel.plot.setData([x, ...lines, ...none] as unknown as uPlot.AlignedData);
    }
  }
}

/** A tick of an axis in few characters. */
function written(tick: number): string {
  return Math.abs(tick) >= 1e4 ? `${Math.round(tick / 1e3)}k` : String(Number(tick.toPrecision(4)));
}
