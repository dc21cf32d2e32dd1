// The plots, and the style of their lines: axes have the same colours in every plot, and a law adds its own lines.

import type { Channel } from "./wire";

type Colour = readonly [dark: string, light: string];

export interface LineWords {
  name: string;
  /** In the legend. */
  key: string;
  colour: Colour;
  dashed: boolean;
  /** The law that it belongs to; "" for all. */
  law: string;
}

export interface PlotWords {
  title: string;
  unit: string;
  lines: LineWords[];
  /** The axis shows no less than this. */
  least: number;
}

const PLOTS: { title: string; unit: string; lines: string[]; least: number }[] = [
  { title: "Force", unit: "N", lines: ["force x", "force y", "force z"], least: 2 },
  { title: "Velocity", unit: "m/s", lines: ["velocity x", "velocity y", "velocity z"], least: 0.02 },
  { title: "Speed", unit: "m/s", lines: ["speed", "speed command"], least: 0.1 },
  { title: "Turn rate", unit: "rad/s", lines: ["turn rate", "turn rate command"], least: 0.1 },
  { title: "Position error", unit: "mm", lines: ["distance from goal"], least: 1 },
  { title: "Orientation error", unit: "°", lines: ["angle from goal"], least: 0.1 },
  { title: "Clearance", unit: "m", lines: ["clearance"], least: 0.2 },
  { title: "Energy tank", unit: "J", lines: ["energy tank"], least: 0.02 },
  { title: "Lateness", unit: "µs", lines: ["lateness"], least: 100 },
];
// The smallest range of an axis in a plot that only a law has.
const LEAST = 1e-3;

// For dark and for light; on light, text in the dark theme's colours would be unreadable.
const [RED, GREEN, BLUE, VIOLET, AMBER]: [Colour, Colour, Colour, Colour, Colour] = [
  ["#f0727c", "#c5303d"], ["#3fae6c", "#1b7a44"], ["#4c9be8", "#1f6cb8"], ["#b37feb", "#7b3fc4"], ["#f5a623", "#8f5600"],
];
const COLOURS: Record<string, Colour> = { x: RED, y: GREEN, z: BLUE, "speed command": AMBER, "turn rate command": AMBER };
/** For the lines that a law adds to a plot, in this order. */
const ADDED = [VIOLET, AMBER, BLUE, GREEN, RED];
const SHORT: Record<string, string> = { speed: "actual", "speed command": "command", "turn rate": "actual", "turn rate command": "command" };

/** The plots for these channels: an arm and a base have different ones, and a law may add lines and plots. */
export function plotsOf(channels: Channel[]): PlotWords[] {
  const names = channels.map((channel) => channel.name);
  const common = PLOTS.filter((words) => words.lines.every((line) => names.includes(line)));
  const titles = common.map((words) => words.title);
  const added = channels.filter((channel) => channel.plot && !titles.includes(channel.plot));
  const more = added.filter((channel, i) => added.findIndex((other) => other.plot === channel.plot) === i);
  const plots = [...common, ...more.map(({ plot, unit }) => ({ title: plot, unit, lines: [] as string[], least: LEAST }))];
  return plots.map((words) => {
    const own = channels.filter((channel) => channel.plot === words.title);
    return { ...words, lines: [...words.lines.map(commonLine), ...own.map(addedLine)] };
  });
}

function commonLine(name: string): LineWords {
  const axis = /^.* ([xyz])$/.exec(name)?.[1];
  return { name, key: axis ?? SHORT[name] ?? "", colour: COLOURS[axis ?? name] ?? BLUE, dashed: name.endsWith(" command"), law: "" };
}

function addedLine(channel: Channel, i: number): LineWords {
  const { name, key, dashed, law } = channel;
  return { name, key: key || name, colour: ADDED[i % ADDED.length]!, dashed, law };
}

export function colourOf(line: LineWords, light: boolean): string {
  return line.colour[light ? 1 : 0];
}

/** Width and dashes of a line; `otherwise`: the run with other parameters. */
export function strokeOf(line: LineWords, otherwise: boolean): { width: number; dash?: number[] } {
  if (otherwise) return { width: 1, dash: [2, 3] };
  return line.dashed ? { width: 1.5, dash: [5, 4] } : { width: 1.25 };
}
