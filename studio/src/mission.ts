// The mission: its stage and reason, its figures, and another goal. The loop decides what moves.

import { element, table } from "./dom";
import type { MissionWords, MissionLog } from "./wire";

const AXES = ["x", "y", "z"];
const ASIDE = ["stopping", "stopped"];
const SHORT: Record<string, string> = { A: "A · park arm", B: "B · drive", C: "C · reach" };
const SHOWN = 8;

export class MissionCard {
  private readonly fields = AXES.map((axis) =>
    element("input", { type: "number", step: "any", "data-testid": `aim-${axis}`, "aria-label": `tool goal ${axis}` }),
  );
  private readonly way = element("p", { class: "faint", "data-testid": "way" });
  private readonly figures = element("dl", { class: "figures", "data-testid": "figures" });
  private stage = "";
  private readonly log = element("div", { "data-testid": "log" });

  constructor(
    private readonly holder: HTMLElement,
    aim: (position: number[]) => void,
  ) {
    const row = element("div", { class: "row fields", title: "Goal of the tool, in map coordinates; or click the map" }, [
      element("label", {}, ["Goal ", element("span", { class: "unit" }, ["m"])]),
      ...this.fields,
    ]);
    for (const field of this.fields) field.onchange = () => aim(this.fields.map((each) => each.valueAsNumber));
    holder.replaceChildren(element("h2", {}, ["Mission"]), row, this.way, this.figures, this.log);
  }

  /** Shows what the loop reports. */
  show(missionLog: MissionLog): void {
    this.stage = missionLog.stage;
    missionLog.goal.slice(0, 3).forEach((value, i) => {
      const field = this.fields[i]!;
      if (document.activeElement !== field || !missionLog.seeking) field.value = String(Number(value.toFixed(3)));
      field.disabled = missionLog.moving || missionLog.seeking;
    });
    this.way.textContent = pathInWords(missionLog);
    const rows = missionLog.log.slice(-SHOWN).reverse().map(([time, stage, why]) => [`${time.toFixed(2)} s`, stage, why]);
    this.log.replaceChildren(...(rows.length ? [table(["time", "stage", "reason"], rows)] : []));
  }

  /** Shows the current figures; `newest` returns the value of a channel. */
  measure(newest: (channel: string) => number): void {
    const speed = newest("speed");
    const clearance = newest("clearance");
    const rows: [string, string][] = [
      ["Base speed", `${Math.abs(speed).toFixed(2)} m/s${speed < -0.005 ? ", backwards" : ""}`],
      ["Base clearance", clearance >= 1.995 ? "over 2 m" : `${clearance.toFixed(2)} m`],
      ["Tool error", `${length(newest("distance from goal"))}, ${newest("angle from goal").toFixed(2)}°`],
    ];
    if (this.stage === "C") rows.push(["Distance from path", length(newest("distance from path"))]);
    this.figures.replaceChildren(...rows.flatMap(([name, value]) => [element("dt", {}, [name]), element("dd", {}, [value])]));
  }

  hide(hidden: boolean): void {
    this.holder.hidden = hidden;
  }
}

function length(mm: number): string {
  return mm >= 1000 ? `${(mm / 1000).toFixed(2)} m` : `${mm.toFixed(2)} mm`;
}

export function pathInWords(missionLog: MissionLog): string {
  if (missionLog.seeking) return "Searching for a base pose and a path.";
  const [length, back, cusps] = missionLog.figures;
  if (length === undefined) return "";
  const turns = cusps === 1 ? "1 change of direction" : `${cusps} changes of direction`;
  return `Path: ${length.toFixed(2)} m, ${back!.toFixed(2)} m of it backwards, ${turns}.`;
}

/** The stage of a mission at a time, and the reason for it. */
export function stageAt(log: MissionLog["log"], time: number): { stage: string; why: string } {
  const last = log.filter(([at]) => at <= time + 1e-9).pop();
  return last ? { stage: last[1], why: last[2] } : { stage: "ready", why: "" };
}

/** Chips of all stages, with the current one marked, and the reason below. */
export function stagesOf(words: MissionWords, stage: string, why: string): HTMLElement[] {
  const shown = Object.keys(words.stages).filter((name) => !ASIDE.includes(name) || name === stage);
  const chips = shown.map((name) => element("span", { class: name === stage ? "chip now" : "chip", title: words.stages[name]! }, [SHORT[name] ?? name]));
  return [...chips, element("div", {}, [words.stages[stage] ?? ""]), element("div", { class: "why-stage" }, [why])];
}
