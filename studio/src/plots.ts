// Live plots: each a few channels of the ring, redrawn at most so often; pause, zoom by dragging, values at the cursor.

import uPlot from "uplot";

import { element } from "./dom";
import { resampled } from "./resample";
import type { Ring } from "./ring";

const REDRAWS_HZ = 15;
const SECONDS = 12;
const HEIGHT = 92;

export interface PlotWords {
  title: string;
  unit: string;
  lines: string[];
}

export const PLOTS: PlotWords[] = [
  { title: "Force", unit: "N", lines: ["force x", "force y", "force z", "force target", "contact force"] },
  { title: "Velocity", unit: "m/s", lines: ["velocity x", "velocity y", "velocity z"] },
  { title: "Distance from goal", unit: "mm", lines: ["distance from goal"] },
  { title: "Energy tank", unit: "J", lines: ["energy tank"] },
  { title: "Lateness", unit: "µs", lines: ["lateness"] },
];
const COLOURS = ["#e5707a", "#55b97b", "#4c9be8", "#f5a623", "#b48ead"];

interface Panel {
  card: HTMLElement;
  words: PlotWords;
  plot: uPlot;
  columns: number[];
  values: HTMLElement;
}

export class Plots {
  private panels: Panel[] = [];
  private paused = false;
  private drawn = 0;

  constructor(private readonly holder: HTMLElement) {}

  /** Makes the plots for these channels anew. */
  build(channels: { name: string }[], light: boolean): void {
    for (const panel of this.panels) panel.plot.destroy();
    this.holder.replaceChildren();
    this.panels = PLOTS.map((words) => this.panel(words, channels.map((channel) => channel.name), light));
  }

  private panel(words: PlotWords, names: string[], light: boolean): Panel {
    const values = element("span", { class: "values" });
    const title = element("h2", {}, [`${words.title} [${words.unit}]`, values]);
    const card = element("section", { class: "card plot", "data-testid": `plot-${words.title}`, "aria-label": words.title }, [title]);
    this.holder.append(card);
    const faint = light ? "#5a6878" : "#93a0af";
    const grid = { stroke: light ? "#dfe6ee" : "#2b3541", width: 1 };
    const axis = { stroke: faint, grid, ticks: { show: false }, font: "11px system-ui" };
    const plot = new uPlot(
      {
        width: card.clientWidth - 16,
        height: HEIGHT,
        scales: { x: { time: false } },
        cursor: { points: { size: 5 } },
        axes: [{ ...axis, size: 22 }, { ...axis, size: 38 }],
        series: [
          {},
          ...words.lines.map((line, i) => ({
            label: line,
            stroke: COLOURS[i]!,
            width: line === "force target" ? 1.5 : 1,
            ...(line === "force target" ? { dash: [5, 4] } : {}),
            points: { show: false },
          })),
          ...words.lines.map((line, i) => ({
            label: `${line}, otherwise`,
            stroke: COLOURS[i]!,
            width: 1,
            dash: [2, 3],
            points: { show: false },
          })),
        ],
        hooks: { setCursor: [(u) => this.tell(words, u, values)] },
      },
      [[0], ...words.lines.map(() => [0]), ...words.lines.map(() => [null])],
      card,
    );
    return { card, words, plot, columns: words.lines.map((line) => names.indexOf(line)), values };
  }

  private tell(words: PlotWords, plot: uPlot, values: HTMLElement): void {
    const at = plot.cursor.idx;
    if (at === null || at === undefined) return;
    const numbers = words.lines.map((_, i) => Number(plot.data[i + 1]?.[at] ?? 0).toPrecision(3));
    values.textContent = `${Number(plot.data[0][at] ?? 0).toFixed(2)} s: ${numbers.join("  ")}`;
  }

  /** Shows a whole recording, with how it would have gone otherwise beside it, and marks a moment. */
  past(columns: number[][], otherwise: number[][] | null, at: number): void {
    for (const panel of this.panels) {
      const time = columns[0]!;
      const other = otherwise ? resampled(otherwise, panel.columns, time) : panel.columns.map(() => time.map(() => null));
      panel.plot.setData([time, ...panel.columns.map((c) => columns[c]!), ...other] as unknown as uPlot.AlignedData);
      panel.plot.setCursor({ left: panel.plot.valToPos(time[at]!, "x"), top: 10 });
    }
  }

  pause(on: boolean): void {
    this.paused = on;
  }

  resize(): void {
    for (const panel of this.panels) panel.plot.setSize({ width: panel.card.clientWidth - 16, height: HEIGHT });
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
