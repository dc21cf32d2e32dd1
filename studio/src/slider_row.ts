// One slider with its number, and a text below it: how far it may move, and why not further.

import { element } from "./dom";
import { nameOf, shownBy, type Knob } from "./dynamics";
import { fromStep, MOST, rangeOf, toStep, type Range } from "./scale";
import type { Declared, Values, Zone } from "./wire";
import { allowedStep, trackOf, zoneAt } from "./zones";

export class Row {
  readonly holder: HTMLElement;
  readonly slider: HTMLInputElement;
  readonly number: HTMLInputElement;
  readonly why: HTMLElement;
  readonly range: Range;
  /** Where the check would reject, once known. */
  zones: Zone[] = [];
  /** Why the slider was stopped there, until it moves again. */
  held: Zone | null = null;
  /** The last allowed step. */
  private step = 0;

  constructor(
    readonly knob: Knob,
    item: Declared,
    values: Values,
  ) {
    const now = shownBy(knob, values) ?? 0;
    const usual = shownBy(knob, { [knob.parameter]: item.default }) ?? now;
    this.range = rangeOf(item.low, item.high, usual, now, item.scale);
    const { id } = this;
    const name = knob.label.replace("↻", "rotation");
    const label = element("label", { for: id, title: item.help }, [`${knob.label} `, element("span", { class: "unit" }, [knob.unit])]);
    this.slider = element("input", { type: "range", min: "0", max: String(MOST), step: "1", id, "data-testid": `slider-${id}`, "aria-label": name });
    this.number = element("input", { type: "number", step: "any", "data-testid": `number-${id}`, "aria-label": `${name}${knob.unit ? ` [${knob.unit}]` : ""}` });
    this.why = element("p", { class: "why", "data-testid": `why-${id}`, role: "status", hidden: "" });
    this.holder = element("div", { class: "row" }, [label, this.slider, this.number]);
  }

  get id(): string {
    return nameOf(this.knob);
  }

  get isRejected(): boolean {
    return this.holder.classList.contains("rejected");
  }

  /** Sets slider and number to a value; the number only if it is not being edited. */
  place(value: number, number = true): void {
    if (fromStep(this.range, this.step) !== value) this.step = toStep(this.range, value); // several steps may round to one value
    this.slider.value = String(this.step);
    const words = String(Number(value.toPrecision(6)));
    this.speak(words);
    if (number) this.number.value = words;
  }

  /** The slider is moved: it stops where the check would reject, and shows why. Returns the value. */
  slide(): number {
    const wanted = Number(this.slider.value);
    this.step = allowedStep(this.zones, this.step, wanted);
    this.slider.value = String(this.step);
    this.number.value = String(fromStep(this.range, this.step));
    this.speak(this.number.value);
    this.held = this.step === wanted ? null : zoneAt(this.zones, this.step + Math.sign(wanted - this.step));
    if (this.held) this.explain(this.held);
    return Number(this.number.value);
  }

  /** Shows where the check would reject a value. */
  judge(zones: Zone[]): void {
    this.zones = zones;
    this.slider.style.background = trackOf(zones);
    this.slider.dataset["zones"] = zones.map((zone) => zone.level).join(" ");
    if (this.held || this.isRejected || document.activeElement === this.slider) return;
    const here = this.zone;
    this.explain(here?.level === 1 ? here : null);
  }

  /** The zone that the slider is in. */
  get zone(): Zone | null {
    return zoneAt(this.zones, this.step);
  }

  /** Marks a row whose value was requested and has not been adopted yet. */
  pending(on: boolean): void {
    this.holder.classList.toggle("pending", on);
    this.slider.ariaBusy = this.number.ariaBusy = String(on);
    this.number.title = on ? "Requested, not applied yet" : "";
  }

  explain(zone: Zone | null): void {
    this.why.hidden = !zone?.why;
    this.why.textContent = zone?.why ?? "";
    this.why.classList.toggle("thin", zone?.level === 1);
  }

  /** A value as it is read out: the number and its unit, not the place of the slider. */
  private speak(value: string): void {
    this.slider.ariaValueText = this.knob.unit ? `${value} ${this.knob.unit}` : value;
  }
}
