// Goal and virtual push as numbers: what the balls in the view do by hand, for the keyboard.

import { element } from "./dom";
import { isPlanar } from "./camera";

type Ask = (what: string, more: Record<string, unknown>) => void;

const AXES = ["x", "y", "z"];
const LAWS = ["admittance", "impedance"];

export class Handles {
  private goal: HTMLInputElement[] = [];
  private push: HTMLInputElement[] = [];

  constructor(
    private readonly holder: HTMLElement,
    private readonly ask: Ask,
  ) {}

  build(up: number[]): void {
    const axes = isPlanar(up) ? 2 : 3;
    this.goal = this.fields("goal", axes, () => this.ask("goal", { position: numbers(this.goal) }));
    this.push = this.fields("force", axes, () => this.ask("virtual_push", { force: [...numbers(this.push), 0, 0, 0].slice(0, 3) }));
    const row = (words: string, unit: string, title: string, fields: HTMLInputElement[]) =>
      element("div", { class: "row fields", title }, [element("label", {}, [`${words} `, element("span", { class: "unit" }, [unit])]), ...fields]);
    this.holder.replaceChildren(
      element("h2", {}, ["Equilibrium and virtual push"]),
      row("Goal", "m", "Where the virtual spring pulls to; or drag the orange ball", this.goal),
      row("Push", "N", "A force that the law feels though nobody pushes; or drag the violet ball", this.push),
    );
  }

  setLaw(law: string): void {
    this.holder.hidden = !LAWS.includes(law);
  }

  /** Shows what is in force; a field that is being written is left alone. */
  show(goal: ArrayLike<number>, push: ArrayLike<number>): void {
    const fill = (fields: HTMLInputElement[], values: ArrayLike<number>, digits: number) =>
      fields.forEach((field, i) => {
        const words = String(Number((values[i] ?? 0).toFixed(digits)));
        if (document.activeElement !== field && field.value !== words) field.value = words;
      });
    fill(this.goal, goal, 3);
    fill(this.push, push, 2);
  }

  private fields(name: string, axes: number, changed: () => void): HTMLInputElement[] {
    return AXES.slice(0, axes).map((axis) => {
      const field = element("input", { type: "number", step: "any", "data-testid": `${name}-${axis}`, "aria-label": `${name} ${axis}` });
      field.onchange = changed;
      return field;
    });
  }
}

function numbers(fields: HTMLInputElement[]): number[] {
  return fields.map((field) => field.valueAsNumber); // an empty one is no number, which is refused, and not 0
}
