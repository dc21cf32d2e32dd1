// Live plots: each a few channels of the ring, redrawn at most so often; pause, zoom by dragging, values at the cursor.

import uPlot from "uplot";

import { element } from "./dom";
import type { Ring } from "./ring";

const REDRAWS_HZ = 15;
const SECONDS = 12;

export interface PlotWords {
  title: string;
  unit: string;
  lines: string[];
}

export const PLOTS: PlotWords[] = [
  { title: "Force", unit: "N", lines: ["force x", "force y", "force z", "force target"] },
  { title: "Velocity", unit: "m/s", lines: ["velocity x", "velocity y", "velocity z"] },
  { title: "Distance from goal", unit: "mm", lines: ["distance from goal"] },
  { title: "Energy tank", unit: "J", lines: ["energy tank"] },
  { title: "Lateness of the loop", unit: "µs", lines: ["lateness"] },
];
const COLOURS = ["#e5707a", "#55b97b", "#4c9be8", "#f5a623"];

interface Panel {
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
        width: Math.max(200, this.holder.clientWidth - 24),
        height: 96,
        scales: { x: { time: false } },
        cursor: { points: { size: 5 } },
        axes: [{ ...axis, size: 22 }, { ...axis, size: 46 }],
        series: [
          {},
          ...words.lines.map((line, i) => ({
            label: line,
            stroke: COLOURS[i]!,
            width: line === "force target" ? 1.5 : 1,
            ...(line === "force target" ? { dash: [5, 4] } : {}),
            points: { show: false },
          })),
        ],
        hooks: { setCursor: [(u) => this.tell(words, u, values)] },
      },
      [[0], ...words.lines.map(() => [0])],
      card,
    );
    return { words, plot, columns: words.lines.map((line) => names.indexOf(line)), values };
  }

  private tell(words: PlotWords, plot: uPlot, values: HTMLElement): void {
    const at = plot.cursor.idx;
    if (at === null || at === undefined) return;
    const numbers = words.lines.map((_, i) => Number(plot.data[i + 1]?.[at] ?? 0).toPrecision(3));
    values.textContent = `${Number(plot.data[0][at] ?? 0).toFixed(2)} s: ${numbers.join("  ")}`;
  }

  pause(on: boolean): void {
    this.paused = on;
  }

  resize(): void {
    const width = Math.max(200, this.holder.clientWidth - 24);
    for (const panel of this.panels) panel.plot.setSize({ width, height: 96 });
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
      panel.plot.setData([x, ...lines] as unknown as uPlot.AlignedData);
    }
  }
}
