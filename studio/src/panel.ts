// The sliders, and the list of all parameters: what a person turns is proposed, and what the loop has decided is shown.

import { element } from "./dom";
import { knobsOf, shownBy, turned, type Knob } from "./dynamics";
import type { Link } from "./link";
import { fromStep, MOST, rangeOf, toStep, type Range } from "./scale";
import type { Answer, Declared, Value, Values } from "./wire";

interface Row {
  knob: Knob;
  range: Range;
  holder: HTMLElement;
  slider: HTMLInputElement;
  number: HTMLInputElement;
  why: HTMLElement;
}

export class Panel {
  private rows: Row[] = [];
  private fields = new Map<string, HTMLInputElement>();
  private values: Values = {};
  private declared = new Map<string, Declared>();
  private law = "";
  private tasks: string[] = [];
  private linked = true;
  private changing = false;
  private next: { row: Row; to: number } | null = null;

  constructor(
    private readonly dynamics: HTMLElement,
    private readonly more: HTMLElement,
    private readonly link: Link,
    private readonly say: (words: string, good?: boolean) => void,
  ) {}

  build(parameters: Declared[], values: Values, law: string, tasks: string[]): void {
    this.tasks = tasks;
    this.declared = new Map(parameters.map((item) => [item.name, item]));
    this.values = values;
    this.law = law;
    this.makeRows();
    this.makeList(parameters);
    this.show(values);
  }

  setLaw(law: string): void {
    if (law === this.law) return;
    this.law = law;
    this.makeRows();
    this.show(this.values);
  }

  /** Shows what is in force; what a hand is moving right now is left alone. */
  show(values: Values): void {
    this.values = values;
    for (const row of this.rows) {
      const now = shownBy(row.knob, values);
      if (now === null || document.activeElement === row.number || (this.changing && document.activeElement === row.slider)) continue;
      row.slider.value = String(toStep(row.range, now));
      row.number.value = String(Number(now.toPrecision(6)));
    }
    for (const [name, field] of this.fields) {
      if (document.activeElement !== field) field.value = written(values[name]);
    }
  }

  // ---- sliders ----

  private makeRows(): void {
    const knobs = knobsOf(this.law, this.linked, (name) => this.declared.get(name)?.live === true);
    const linked = element("button", { "data-testid": "linked", "aria-pressed": String(this.linked), title: "One slider for x, y and z" }, ["Linked axes"]);
    linked.onclick = () => {
      this.linked = !this.linked;
      this.makeRows();
      this.show(this.values);
    };
    const undo = this.button("Undo", "undo");
    const redo = this.button("Redo", "redo");
    const save = element("button", { "data-testid": "save", title: "Write the values in force into the task file" }, ["Save…"]);
    save.onclick = () => this.save();
    this.rows = knobs.map((knob) => this.row(knob));
    this.dynamics.replaceChildren(
      element("h2", {}, ["Virtual dynamics"]),
      ...this.rows.flatMap((row) => [row.holder, row.why]),
      element("div", { class: "line" }, [linked, undo, redo, save]),
      element("div", { class: "line" }, [this.presets()]),
    );
  }

  private row(knob: Knob): Row {
    const item = this.declared.get(knob.parameter)!;
    const now = shownBy(knob, this.values) ?? 0;
    const usual = shownBy(knob, { [knob.parameter]: item.default }) ?? now;
    const range = rangeOf(item.low, item.high, usual, now);
    const id = `${knob.parameter}${knob.parts.length === 1 ? `.${knob.parts[0]}` : knob.parts[0] === 3 ? ".turn" : ""}`;
    const label = element("label", { for: id, title: item.help }, [knob.label, element("span", { class: "unit" }, [knob.unit])]);
    const slider = element("input", { type: "range", min: "0", max: String(MOST), step: "1", id, "data-testid": `slider-${id}`, "aria-label": `${knob.label} [${knob.unit}]` });
    const number = element("input", { type: "number", step: "any", "data-testid": `number-${id}`, "aria-label": `${knob.label}, as a number` });
    const why = element("p", { class: "why", "data-testid": `why-${id}`, hidden: "" });
    const row: Row = { knob, range, holder: element("div", { class: "row" }, [label, slider, number]), slider, number, why };
    slider.oninput = () => {
      number.value = String(fromStep(range, Number(slider.value)));
      this.turn(row, Number(number.value));
    };
    number.onchange = () => this.turn(row, Number(number.value));
    return row;
  }

  /** Proposes a value; while one is on its way, only the newest of the following is kept. */
  private turn(row: Row, to: number): void {
    this.next = { row, to };
    if (!this.changing) void this.propose();
  }

  private async propose(): Promise<void> {
    this.changing = true;
    while (this.next) {
      const { row, to } = this.next;
      this.next = null;
      const value = turned(row.knob, this.values, to);
      const answer = await this.link.ask("set", { values: { [row.knob.parameter]: value } });
      this.judge(row, answer);
    }
    this.changing = false;
  }

  private judge(row: Row, answer: Answer): void {
    row.holder.classList.toggle("refused", !answer.ok);
    row.why.hidden = answer.ok;
    row.why.textContent = answer.ok ? "" : (answer.error ?? "It was refused.");
    if (answer.ok && answer["values"]) this.show(answer["values"] as Values);
  }

  // ---- all parameters ----

  private makeList(parameters: Declared[]): void {
    this.fields.clear();
    const rows = parameters.filter((item) => item.live).map((item) => {
      const field = element("input", { type: "text", "data-testid": `field-${item.name}`, "aria-label": item.name });
      field.onchange = () => void this.write(item, field);
      this.fields.set(item.name, field);
      const bounds = `${item.low ?? "−∞"} … ${item.high ?? "∞"}`;
      return element("div", { class: "row", title: `${item.help} (${bounds} ${item.unit})` }, [
        element("label", {}, [item.name, element("span", { class: "unit" }, [item.unit])]), field,
      ]);
    });
    const open = this.more.querySelector("details")?.open ?? false;
    const list = element("details", { "data-testid": "all-parameters" }, [element("summary", {}, ["All live parameters"]), ...rows]);
    list.open = open;
    this.more.replaceChildren(list);
  }

  private async write(item: Declared, field: HTMLInputElement): Promise<void> {
    const answer = await this.link.ask("set", { values: { [item.name]: read(field.value) } });
    if (answer.ok) this.say(`${item.name} is set.`, true);
    else {
      this.say(answer.error ?? "It was refused.");
      field.value = written(this.values[item.name]);
    }
  }

  // ---- history and file ----

  private presets(): HTMLSelectElement {
    const made = element("select", { "data-testid": "preset", "aria-label": "Preset" }, [element("option", { value: "" }, ["Preset: take over the values of a task…"])]);
    for (const task of this.tasks) made.append(element("option", { value: task }, [task]));
    made.onchange = async () => {
      const answer = await this.link.ask("preset", { task: made.value });
      if (answer.ok) this.say(`The live values of ${made.value} are in force. Undo takes them back.`, true);
      else this.say(answer.error ?? "It was refused.");
      made.value = "";
    };
    return made;
  }

  private button(words: string, what: string): HTMLButtonElement {
    const made = element("button", { "data-testid": what }, [words]);
    made.onclick = async () => {
      const answer = await this.link.ask(what);
      if (!answer.ok) this.say(answer.error ?? "It was refused.");
      else this.show(answer["values"] as Values);
    };
    return made;
  }

  private async save(): Promise<void> {
    const path = window.prompt("Task file to write the values in force into (its comments stay):", "");
    if (path === null) return;
    const answer = await this.link.ask("save", path === "" ? {} : { path });
    if (!answer.ok) this.say(answer.error ?? "It was refused.");
    else this.say(`${(answer["saved"] as string[]).length} values were written to ${String(answer["path"])}.`, true);
  }
}

function written(value: Value | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

/** What was typed: JSON where it is JSON, else the text itself. */
function read(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
