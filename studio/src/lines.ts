// Which plots there are, and how their lines look: axes look alike in every plot.

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
  { title: "Speed", unit: "m/s", lines: ["speed", "speed command"], least: 0.1 },
  { title: "Turn rate", unit: "rad/s", lines: ["turn rate", "turn rate command"], least: 0.1 },
  { title: "Position error", unit: "mm", lines: ["distance from goal"], least: 1 },
  { title: "Orientation error", unit: "°", lines: ["angle from goal"], least: 0.1 },
  { title: "Clearance", unit: "m", lines: ["clearance"], least: 0.2 },
  { title: "Energy tank", unit: "J", lines: ["energy tank"], least: 0.02 },
  { title: "Lateness", unit: "µs", lines: ["lateness"], least: 100 },
];
export const TARGET = "force target";
/** What only a contact has: the force along the normal, and its target. */
export const CONTACT = ["contact force", TARGET];

const [RED, GREEN, BLUE, VIOLET, AMBER] = [
  ["#f0727c", "#c5303d"], ["#3fae6c", "#1b7a44"], ["#4c9be8", "#1f6cb8"], ["#b37feb", "#7b3fc4"], ["#f5a623", "#8f5600"],
] as const;
// In the dark, and in the light, where letters of the same colours could not be read.
const COLOURS: Record<string, readonly [string, string]> = {
  x: RED, y: GREEN, z: BLUE, "contact force": VIOLET, [TARGET]: AMBER, "speed command": AMBER, "turn rate command": AMBER,
};
const SHORT: Record<string, string> = {
  "contact force": "normal", [TARGET]: "target", speed: "actual", "speed command": "command", "turn rate": "actual", "turn rate command": "command",
};
const DASHED = [TARGET, "speed command", "turn rate command"];

/** The plots for these channels: an arm has others than a base. */
export function plotsOf(names: string[]): PlotWords[] {
  return PLOTS.filter((words) => words.lines.every((line) => names.includes(line)));
}

function axisOf(line: string): string | undefined {
  return /^.* ([xyz])$/.exec(line)?.[1];
}

export function letterOf(line: string): string {
  return axisOf(line) ?? SHORT[line] ?? "";
}

export function colourOf(line: string, light: boolean): string {
  return (COLOURS[axisOf(line) ?? line] ?? BLUE)[light ? 1 : 0];
}

/** Width and dashes of a line; `otherwise`: as it would have gone with other parameters. */
export function strokeOf(line: string, otherwise: boolean): { width: number; dash?: number[] } {
  if (otherwise) return { width: 1, dash: [2, 3] };
  return DASHED.includes(line) ? { width: 1.5, dash: [5, 4] } : { width: 1.25 };
}
