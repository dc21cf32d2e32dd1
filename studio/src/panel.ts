// The sliders of the running law: a change is requested, and what the loop adopts is shown.

import { Ahead } from "./ahead";
import { element } from "./dom";
import { Drags } from "./drag";
import { hasAxes, knobsOf, nameOf, shownBy, turned, type Knob } from "./dynamics";
import type { Link } from "./link";
import { ParameterList } from "./parameter_list";
import { ParameterSets } from "./parameter_sets";
import { Row } from "./slider_row";
import { isTyped, noteTyping } from "./typing";
import type { Answer, Asks, Declared, Hello, InForce, LawWords, LoopWords, Switch, Values } from "./wire";

type Changing = "set" | "undo" | "redo";

export class Panel {
  private rows: Row[] = [];
  /** The current values, as far as this page has received them. */
  values: Values = {};
  private revision = -1;
  private declared = new Map<string, Declared>();
  private law: LawWords | null = null;
  private shape = "";
  private linked = true;
  private changing = false;
  private next: { row: Row; to: number; drag: number } | null = null;
  /** Counts the loops shown: a value meant for one is not sent to the next, nor is its answer shown there. */
  private loops = 0;
  private sent: Promise<void> = Promise.resolve();
  private readonly drags = new Drags();
  private readonly ahead: Ahead;
  private readonly list: ParameterList;
  private readonly sets: ParameterSets;

  constructor(
    private readonly dynamics: HTMLElement,
    more: HTMLElement,
    private readonly link: Link,
    private readonly say: (words: string, good?: boolean) => void,
  ) {
    this.ahead = new Ahead(link, () => ({ rows: this.rows, values: this.values, revision: this.revision }));
    this.sets = new ParameterSets(link, say);
    this.list = new ParameterList(more, async (name, value) => {
      const answer = await link.ask("set", { values: { [name]: value } });
      say(answer.ok ? `${name} set.` : answer.error, answer.ok);
      return answer.ok;
    });
  }

  /** Builds the sliders for another loop. */
  build(hello: Hello, loop: LoopWords, now: InForce): void {
    this.loops++;
    this.next = null;
    this.declared = new Map(hello.parameters.map((item) => [item.name, item]));
    this.sets.build(this.declared, hello.presets, loop.source);
    this.values = now.values;
    this.revision = now.revision;
    this.law = Object.values(hello.laws).find((law) => law.name === loop.law) ?? null;
    this.makeRows();
    this.list.build(hello.parameters, () => this.values, () => this.show(this.values));
    this.show(now.values);
  }

  /** Accepts the current values, unless a later message has already arrived. */
  take(now: InForce): void {
    if (now.revision < this.revision) return;
    this.revision = now.revision;
    this.show(now.values);
  }

  setLaw(law: LawWords | null): void {
    if (law?.name === this.law?.name) return;
    this.law = law;
    this.show(this.values);
  }

  setKept(kept: string[]): void {
    if (!this.sets.setKept(kept)) return;
    this.makeRows();
    this.show(this.values);
  }

  /** Shows the current values; a slider in motion, a pending value and a field in use are left alone. */
  private show(values: Values): void {
    this.values = values;
    if (this.shapeOf(this.knobs()) !== this.shape) this.makeRows();
    for (const row of this.rows) {
      const now = shownBy(row.knob, values);
      if (now === null || this.next?.row === row || (this.changing && document.activeElement === row.slider)) continue;
      row.place(now, !isTyped(row.number));
    }
    this.list.show(values);
    this.ahead.soon();
  }

  // ---- sliders ----

  private knobs(): Knob[] {
    return knobsOf(this.law, this.linked, this.values, this.declared);
  }

  /** A key that identifies these sliders and switches. */
  private shapeOf(knobs: Knob[]): string {
    const switches = (this.law?.switches ?? []).map((item) => this.values[item.parameter] ?? null);
    return JSON.stringify([this.law?.name, this.linked, knobs.map((knob) => [nameOf(knob), knob.parts]), switches]);
  }

  private makeRows(): void {
    const knobs = this.knobs();
    this.shape = this.shapeOf(knobs);
    this.rows = knobs.map((knob) => this.row(knob));
    const groups = [...new Set(knobs.map((knob) => knob.group))].flatMap((group) => [
      element("h2", {}, [group]),
      ...this.rows.filter((row) => row.knob.group === group).flatMap((row) => [row.holder, row.why]),
    ]);
    this.dynamics.replaceChildren(
      ...groups,
      this.ahead.words,
      element("div", { class: "line" }, [this.button("Undo", "undo"), this.button("Redo", "redo"), this.sets.saveButton()]),
      element("div", { class: "line" }, [this.linkButton(), ...(this.law?.switches ?? []).map((item) => this.switch(item))]),
      this.sets.line(),
    );
  }

  /** One slider for several axes, or one for each. */
  private linkButton(): HTMLButtonElement {
    const made = element("button", { "data-testid": "linked", "aria-pressed": String(this.linked), title: "One slider for x, y and z" }, ["Linked axes"]);
    made.hidden = !hasAxes(this.law, this.declared);
    made.onclick = () => {
      this.linked = !this.linked;
      this.show(this.values);
    };
    return made;
  }

  /** Toggles a parameter, which may change what the sliders set. */
  private switch(item: Switch): HTMLButtonElement {
    const { parameter, label, off, on } = item;
    const pressed = this.values[parameter] === on;
    const id = parameter.slice(parameter.indexOf(".") + 1).replaceAll("_", "-");
    const made = element("button", { "data-testid": id, "aria-pressed": String(pressed), title: this.declared.get(parameter)?.help ?? "" }, [label]);
    made.onclick = () => void this.change("set", { values: { [parameter]: pressed ? off : on } });
    return made;
  }

  private button(words: string, what: "undo" | "redo"): HTMLButtonElement {
    const made = element("button", { "data-testid": what }, [words]);
    made.onclick = async () => {
      await this.sent; // what a hand has asked for is there before it is taken back
      await this.change(what, {});
    };
    return made;
  }

  /** Requests a change, and shows the resulting values, or why it was rejected. */
  private async change<K extends Changing>(what: K, more: Asks<K>): Promise<void> {
    const loop = this.loops;
    const answer: Answer<Changing> = await this.link.ask(what, more);
    if (!answer.ok) this.say(answer.error);
    else if (loop === this.loops) this.take(answer);
  }

  private row(knob: Knob): Row {
    const row = new Row(knob, this.declared.get(knob.parameter)!, this.values);
    const { slider, number } = row;
    noteTyping(number, () => this.show(this.values));
    slider.onfocus = () => void this.ahead.ask(); // the tool may have moved since, and with it what is refused
    slider.onpointerdown = () => this.drags.press(row.id);
    slider.onpointerup = slider.onpointercancel = () => this.drags.release();
    slider.oninput = () => this.turn(row, row.slide(), this.drags.next(row.id, performance.now()));
    number.onchange = () => {
      row.held = null;
      this.turn(row, number.valueAsNumber);
    };
    return row;
  }

  // ---- requested values ----

  /** Requests a value; while a request is pending, only the newest following value is kept. Values of one drag are
  undone together. */ private turn(row: Row, to: number, drag = 0): void {
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
        this.accept(row);
        continue;
      }
      const value = turned(row.knob, this.values, to);
      row.pending(true);
      const answer = await this.link.ask("set", { values: { [row.knob.parameter]: value }, drag });
      row.pending(false);
      if (loop !== this.loops) continue;
      if (answer.ok) this.accept(row, answer);
      else this.refuse(row, answer.error);
    }
    this.changing = false;
    this.show(this.values); // what others have changed meanwhile was not shown on a slider in use
  }

  private accept(row: Row, now?: InForce): void {
    row.holder.classList.remove("rejected");
    row.explain(row.held ?? row.zone);
    if (now) this.take(now);
  }

  /** Goes back to the current value and shows why the request was rejected, unless the slider has moved on. */
  private refuse(row: Row, why: string): void {
    row.holder.classList.add("rejected");
    row.explain({ first: 0, last: 0, level: 2, why });
    const now = shownBy(row.knob, this.values);
    if (now !== null && this.next?.row !== row) row.place(now);
  }
}
