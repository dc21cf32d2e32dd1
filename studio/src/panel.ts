// The sliders, and the list of all parameters: what a person turns is proposed, and what the loop has decided is shown.

import { element, ask, REJECTED, table } from "./dom";
import { Drags } from "./drag";
import { knobsOf, nameOf, shapeOf, shownBy, turned, type Knob } from "./dynamics";
import type { Link } from "./link";
import { fromStep, MOST, rangeOf, toStep, type Range } from "./scale";
import { isTyped, noteTyping } from "./typing";
import type { Answer, Declared, InForce, Value, Values } from "./wire";
import { allowedStep, stepsOf, trackOf, zoneAt, type Zone } from "./zones";

const AHEAD_AFTER_MS = 400;

interface Row {
  knob: Knob;
  range: Range;
  holder: HTMLElement;
  slider: HTMLInputElement;
  number: HTMLInputElement;
  why: HTMLElement;
  /** Where the check would refuse, once that is known. */
  zones: Zone[];
  /** The last step that was no trespass. */
  step: number;
  /** Why a hand was held there, until it moves again. */
  held: Zone | null;
}

export class Panel {
  private rows: Row[] = [];
  private readonly fields = new Map<string, HTMLInputElement>();
  private readonly judged = element("p", { class: "faint", "data-testid": "judged" });
  /** What is in force, as far as this page has heard. */
  values: Values = {};
  private revision = -1;
  private declared = new Map<string, Declared>();
  private law = "";
  private shape = "";
  private source = "";
  private tasks: string[] = [];
  private kept: string[] = [];
  private linked = true;
  private changing = false;
  private aheadTimer = 0;
  private asking = false;
  private outdated = false;
  private next: { row: Row; to: number; drag: number } | null = null;
  /** Counts the loops shown: a value meant for one is not sent to the next, nor is its answer shown there. */
  private loops = 0;
  private sent: Promise<void> = Promise.resolve();
  private readonly drags = new Drags();

  constructor(
    private readonly dynamics: HTMLElement,
    private readonly more: HTMLElement,
    private readonly link: Link,
    private readonly say: (words: string, good?: boolean) => void,
  ) {}

  build(parameters: Declared[], now: InForce, law: string, tasks: string[], source: string): void {
    this.loops++;
    this.next = null;
    this.tasks = tasks;
    this.source = source;
    this.declared = new Map(parameters.map((item) => [item.name, item]));
    this.values = now.values;
    this.revision = now.revision;
    this.law = law;
    this.makeRows();
    this.makeList(parameters);
    this.show(now.values);
  }

  /** Takes what is in force; an answer that has crossed with later news is old by now. */
  take(now: InForce): void {
    if (now.revision < this.revision) return;
    this.revision = now.revision;
    this.show(now.values);
  }

  setLaw(law: string): void {
    if (law === this.law) return;
    this.law = law;
    this.show(this.values);
  }

  setKept(kept: string[]): void {
    if (kept.join() === this.kept.join()) return;
    this.kept = kept;
    this.makeRows();
    this.show(this.values);
  }

  /** Shows what is in force; a slider in motion, a value that is still to be sent and a field in use are left alone. */
  private show(values: Values): void {
    this.values = values;
    if (shapeOf(this.law, this.linked, values) !== this.shape) this.makeRows();
    for (const row of this.rows) {
      const now = shownBy(row.knob, values);
      if (now === null || this.next?.row === row || (this.changing && document.activeElement === row.slider)) continue;
      place(row, now, !isTyped(row.number));
    }
    for (const [name, field] of this.fields) {
      if (!isTyped(field)) field.value = written(values[name]);
    }
    window.clearTimeout(this.aheadTimer);
    this.aheadTimer = window.setTimeout(() => void this.ahead(), AHEAD_AFTER_MS);
  }

  // ---- sliders ----

  private makeRows(): void {
    this.shape = shapeOf(this.law, this.linked, this.values);
    const knobs = knobsOf(this.law, this.linked, this.values, this.declared);
    const linked = element("button", { "data-testid": "linked", "aria-pressed": String(this.linked), title: "One slider for x, y and z" }, ["Linked axes"]);
    linked.hidden = this.law !== "admittance" && this.law !== "impedance";
    linked.onclick = () => {
      this.linked = !this.linked;
      this.show(this.values);
    };
    this.rows = knobs.map((knob) => this.row(knob));
    const groups = [...new Set(knobs.map((knob) => knob.group))].flatMap((group) => [
      element("h2", {}, [group]),
      ...this.rows.filter((row) => row.knob.group === group).flatMap((row) => [row.holder, row.why]),
    ]);
    const save = element("button", { "data-testid": "save", title: "Save the current values to a task file" }, ["Save…"]);
    save.onclick = () => this.save();
    const keep = element("button", { "data-testid": "keep", title: "Keep the current values to compare with later" }, ["Keep"]);
    keep.onclick = () => void this.keep();
    this.dynamics.replaceChildren(
      ...groups,
      this.judged,
      element("div", { class: "line" }, [this.button("Undo", "undo"), this.button("Redo", "redo"), save]),
      element("div", { class: "line" }, [linked, this.dampingBy()]),
      element("div", { class: "line" }, [this.presets(), keep]),
    );
  }

  /** Whether damping is given as a ratio or by its value: changes what the sliders turn. */
  private dampingBy(): HTMLButtonElement {
    const parameter = `${this.law}.damping_by`;
    const item = this.declared.get(parameter);
    const byValue = this.values[parameter] === "value";
    const made = element("button", { "data-testid": "damping-by", "aria-pressed": String(byValue), title: item?.help ?? "" }, ["Damping by value"]);
    made.hidden = !item?.live;
    made.onclick = () => void this.change("set", { values: { [parameter]: byValue ? "ratio" : "value" } });
    return made;
  }

  /** Asks for a change, and shows what is in force after it, or why it was rejected. */
  private async change(what: string, more: Record<string, unknown> = {}): Promise<void> {
    const loop = this.loops;
    const answer = await this.link.ask(what, more);
    if (!answer.ok) this.say(answer.error ?? REJECTED);
    else if (loop === this.loops) this.take(answer as unknown as InForce);
  }

  private row(knob: Knob): Row {
    const item = this.declared.get(knob.parameter)!;
    const now = shownBy(knob, this.values) ?? 0;
    const usual = shownBy(knob, { [knob.parameter]: item.default }) ?? now;
    const range = rangeOf(item.low, item.high, usual, now);
    const id = nameOf(knob);
    const name = knob.label.replace("↻", "rotation");
    const label = element("label", { for: id, title: item.help }, [`${knob.label} `, element("span", { class: "unit" }, [knob.unit])]);
    const slider = element("input", { type: "range", min: "0", max: String(MOST), step: "1", id, "data-testid": `slider-${id}`, "aria-label": name });
    const number = element("input", { type: "number", step: "any", "data-testid": `number-${id}`, "aria-label": `${name}${knob.unit ? ` [${knob.unit}]` : ""}` });
    const why = element("p", { class: "why", "data-testid": `why-${id}`, role: "status", hidden: "" });
    const row: Row = { knob, range, holder: element("div", { class: "row" }, [label, slider, number]), slider, number, why, zones: [], step: 0, held: null };
    noteTyping(number, () => this.show(this.values));
    slider.onfocus = () => void this.ahead(); // the tool may have moved since, and with it what is refused
    slider.onpointerdown = () => this.drags.press(id);
    slider.onpointerup = slider.onpointercancel = () => this.drags.release();
    slider.oninput = () => this.slide(row);
    number.onchange = () => {
      row.held = null;
      this.turn(row, number.valueAsNumber);
    };
    return row;
  }

  /** A hand moves a slider: it stops where the check would refuse, and says why. */
  private slide(row: Row): void {
    const wanted = Number(row.slider.value);
    row.step = allowedStep(row.zones, row.step, wanted);
    row.slider.value = String(row.step);
    row.number.value = String(fromStep(row.range, row.step));
    row.slider.ariaValueText = spoken(row.knob, row.number.value);
    row.held = row.step === wanted ? null : zoneAt(row.zones, row.step + Math.sign(wanted - row.step));
    if (row.held) this.explain(row, row.held);
    this.turn(row, Number(row.number.value), this.drags.next(nameOf(row.knob), performance.now()));
  }

  /** Proposes a value; while one is on its way, only the newest of the following is kept. Those of one drag are undone together. */
  private turn(row: Row, to: number, drag = 0): void {
    this.next = { row, to, drag };
    if (!this.changing) this.sent = this.propose();
  }

  private async propose(): Promise<void> {
    this.changing = true;
    while (this.next) {
      const { row, to, drag } = this.next;
      const loop = this.loops;
      this.next = null;
      if (shownBy(row.knob, this.values) === to) {
        this.judge(row, { type: "answer", id: null, ok: true });
        continue;
      }
      const value = turned(row.knob, this.values, to);
      pending(row, true);
      const answer = await this.link.ask("set", { values: { [row.knob.parameter]: value }, drag });
      pending(row, false);
      if (loop === this.loops) this.judge(row, answer);
    }
    this.changing = false;
    this.show(this.values); // what others have changed meanwhile was not shown on a slider in use
  }

  private judge(row: Row, answer: Answer): void {
    row.holder.classList.toggle("rejected", !answer.ok);
    if (answer.ok) this.explain(row, row.held ?? zoneAt(row.zones, row.step));
    else this.refuse(row, answer.error ?? REJECTED);
    if (answer.ok && answer["values"]) this.take(answer as unknown as InForce);
  }

  /** Goes back to what is in force, and says why it was refused; a hand that has moved on is left alone. */
  private refuse(row: Row, why: string): void {
    this.explain(row, { first: 0, last: 0, level: 2, why });
    const now = shownBy(row.knob, this.values);
    if (now !== null && this.next?.row !== row) place(row, now);
  }

  private explain(row: Row, zone: Zone | null): void {
    row.why.hidden = !zone?.why;
    row.why.textContent = zone?.why ?? "";
    row.why.classList.toggle("thin", zone?.level === 1);
  }

  // ---- the check, asked beforehand ----

  /** Asks about every slider. One question at a time: a Studio that is slow to answer is not asked any faster. */
  private async ahead(): Promise<void> {
    this.outdated = true;
    if (this.asking) return; // which begins anew with its next answer
    this.asking = true;
    while (this.outdated) await this.askAll();
    this.asking = false;
  }

  private async askAll(): Promise<void> {
    this.outdated = false;
    const revision = this.revision;
    for (const row of this.rows) {
      if (shownBy(row.knob, this.values) === null) continue;
      const steps = stepsOf().map((step) => turned(row.knob, this.values, fromStep(row.range, step)));
      const answer = await this.link.ask("ahead", { parameter: row.knob.parameter, values: steps });
      if (this.outdated) return;
      if (!answer.ok) continue;
      row.zones = answer["zones"] as Zone[];
      row.slider.style.background = trackOf(row.zones);
      row.slider.dataset["zones"] = row.zones.map((zone) => zone.level).join(" ");
      if (!row.held && !row.holder.classList.contains("rejected") && document.activeElement !== row.slider) this.explain(row, zoneAt(row.zones, row.step)?.level === 1 ? zoneAt(row.zones, row.step) : null);
      this.judged.textContent = answer["judged"]
        ? "Stability check on the declared surfaces: red is rejected, amber has little reserve."
        : "Red is out of bounds. No surface is declared, so the stability check does not apply.";
    }
    this.judged.dataset["revision"] = String(revision); // every slider is judged for this set
  }

  // ---- all parameters ----

  private makeList(parameters: Declared[]): void {
    this.fields.clear();
    const rows = parameters.filter((item) => item.live).map((item) => {
      const field = element("input", { type: "text", "data-testid": `field-${item.name}`, "aria-label": item.name });
      field.onchange = () => void this.write(item, field);
      noteTyping(field, () => this.show(this.values));
      this.fields.set(item.name, field);
      const bounds = `${item.low ?? "−∞"} … ${item.high ?? "∞"}`;
      return element("div", { class: "row wide", title: `${item.help} (${bounds} ${item.unit})` }, [
        element("label", {}, [`${item.name} `, element("span", { class: "unit" }, [item.unit])]), field,
      ]);
    });
    const open = this.more.querySelector("details")?.open ?? false;
    const list = element("details", { "data-testid": "all-parameters" }, [element("summary", {}, ["All live parameters"]), ...rows]);
    list.open = open;
    this.more.replaceChildren(list);
  }

  private async write(item: Declared, field: HTMLInputElement): Promise<void> {
    const answer = await this.link.ask("set", { values: { [item.name]: read(field.value) } });
    if (answer.ok) this.say(`${item.name} set.`, true);
    else {
      this.say(answer.error ?? REJECTED);
      field.value = written(this.values[item.name]);
    }
  }

  // ---- history, presets, file ----

  private presets(): HTMLSelectElement {
    const made = element("select", { "data-testid": "preset", "aria-label": "Preset" }, [element("option", { value: "" }, ["Compare with…"])]);
    for (const name of this.kept) made.append(element("option", { value: name }, [`kept ${name}`]));
    for (const task of this.tasks) made.append(element("option", { value: task }, [task]));
    made.onchange = () => {
      const name = made.value;
      made.value = "";
      if (name) void this.compare(name);
    };
    return made;
  }

  private async keep(): Promise<void> {
    const answer = await this.link.ask("keep");
    if (answer.ok) this.say(`Values kept as ${String(answer["kept"])}. Select them under "Compare with…" to compare or apply them.`, true);
    else this.say(answer.error ?? REJECTED);
  }

  /** What a preset would change, beside what is in force; it is taken over as one change. */
  private async compare(name: string): Promise<void> {
    const answer = await this.link.ask("compare", { preset: name });
    if (!answer.ok) return this.say(answer.error ?? REJECTED);
    const now = answer["now"] as Values;
    const then = answer["then"] as Values;
    const names = Object.keys(then);
    const rows = names.map((item) => [item, written(now[item]), written(then[item]), this.declared.get(item)?.unit ?? ""]);
    const body = names.length ? table(["parameter", "current", name, "unit"], rows) : element("p", {}, ["No differences."]);
    ask(`${name} compared with the current values`, [body], names.length ? "Apply" : "", async () => {
      const taken = await this.link.ask("preset", { preset: name });
      if (taken.ok) this.say(`The values of ${name} are applied. Undo reverts them.`, true);
      return taken.ok ? "" : (taken.error ?? REJECTED);
    });
  }

  private button(words: string, what: string): HTMLButtonElement {
    const made = element("button", { "data-testid": what }, [words]);
    made.onclick = async () => {
      await this.sent; // what a hand has asked for is there before it is taken back
      await this.change(what);
    };
    return made;
  }

  private save(): void {
    const own = this.source.endsWith(".yaml") ? this.source : "";
    const path = element("input", { type: "text", value: own, placeholder: "my_task.yaml", "data-testid": "save-path", "aria-label": "Task file" });
    const words = element("p", { class: "faint" }, ["Your own task file, on the machine that runs the Studio. Only values that differ are written; comments are kept."]);
    ask("Save the current values", [words, path], "Save", async () => {
      const answer = await this.link.ask("save", { path: path.value });
      if (!answer.ok) return answer.error ?? REJECTED;
      this.say(`Saved ${countOf(answer["saved"] as string[])} to ${String(answer["path"])}.`, true);
      return "";
    });
  }
}

/** Marks a row whose value was requested and is not in force yet. */
function pending(row: Row, on: boolean): void {
  row.holder.classList.toggle("pending", on);
  row.slider.ariaBusy = row.number.ariaBusy = String(on);
  row.number.title = on ? "Requested, not applied yet" : "";
}

/** Puts slider and number where a value is; the number only if it is not being typed in. */
function place(row: Row, value: number, number = true): void {
  if (fromStep(row.range, row.step) !== value) row.step = toStep(row.range, value); // several steps may round to one value
  row.slider.value = String(row.step);
  const words = String(Number(value.toPrecision(6)));
  row.slider.ariaValueText = spoken(row.knob, words);
  if (number) row.number.value = words;
}

/** A value as it is read out: the number and its unit, not the place of the slider. */
function spoken(knob: Knob, value: string): string {
  return knob.unit ? `${value} ${knob.unit}` : value;
}

function countOf(saved: string[]): string {
  return saved.length === 1 ? "1 value" : `${saved.length} values`;
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
