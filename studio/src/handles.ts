// Goal and virtual push as numbers: the keyboard alternative to the balls in the view.

import { element } from "./dom";
import { isPlanar } from "./camera";
import type { Asks, LawWords } from "./wire";

type Ask = <K extends "goal" | "virtual_push">(what: K, more: Asks<K>) => void;

const AXES = ["x", "y", "z"];

export class Handles {
  private goal: HTMLInputElement[] = [];
  private push: HTMLInputElement[] = [];
  private goalRow = element("div");
  private pushRow = element("div");

  constructor(
    private readonly holder: HTMLElement,
    private readonly ask: Ask,
  ) {}

  build(up: number[]): void {
    const axes = isPlanar(up) ? 2 : 3;
    this.goal = this.fields("goal", axes, (i, value) => this.ask("goal", { position: only(i, value, axes) }));
    this.push = this.fields("force", axes, (i, value) => this.ask("virtual_push", { force: only(i, value, 3) }));
    const row = (words: string, unit: string, title: string, fields: HTMLInputElement[]) =>
      element("div", { class: "row fields", title }, [element("label", {}, [`${words} `, element("span", { class: "unit" }, [unit])]), ...fields]);
    this.goalRow = row("Goal", "m", "Where the law moves the tool to; or drag the orange ball", this.goal);
    this.pushRow = row("Push", "N", "A virtual push, added to the measured force; or drag the violet ball", this.push);
    this.holder.replaceChildren(element("h2", {}, ["Goal and virtual push"]), this.goalRow, this.pushRow);
  }

  /** Shows the fields that this law responds to. */
  setLaw(law: LawWords | null): void {
    this.goalRow.hidden = !law?.moves_goal;
    this.pushRow.hidden = !law?.pushes;
    this.holder.hidden = this.goalRow.hidden && this.pushRow.hidden;
  }

  /** Shows the current values; a field that is being edited is left alone. */
  show(goal: ArrayLike<number>, push: ArrayLike<number>): void {
    const fill = (fields: HTMLInputElement[], values: ArrayLike<number>, digits: number) =>
      fields.forEach((field, i) => {
        const words = String(Number((values[i] ?? 0).toFixed(digits)));
        if (document.activeElement !== field && field.value !== words) field.value = words;
      });
    fill(this.goal, goal, 3);
    fill(this.push, push, 2);
  }

  private fields(name: string, axes: number, changed: (i: number, value: number) => void): HTMLInputElement[] {
    return AXES.slice(0, axes).map((axis, i) => {
      const field = element("input", { type: "number", step: "any", "data-testid": `${name}-${axis}`, "aria-label": `${name} ${axis}` });
      field.onchange = () => changed(i, field.valueAsNumber);
      return field;
    });
  }
}

/** One of `n` numbers; null leaves the others as they are by then. An empty field is rejected. */
function only(i: number, value: number, n: number): (number | null)[] {
  return Array.from({ length: n }, (_, j) => (j === i && Number.isFinite(value) ? value : null));
}
