// What the page shows for the running law, as its panel declares it: sliders, plots, handles, buttons, states.

import type { Buttons } from "./buttons";
import { cutsOf, showCuts, type Ramp } from "./cuts";
import { byId, write } from "./dom";
import type { Handles } from "./handles";
import { showStates } from "./law_states";
import type { Panel } from "./panel";
import type { Plots } from "./plots";
import type { Ring } from "./ring";
import type { View } from "./view";
import type { Head, Hello, LawWords } from "./wire";

export interface Parts {
  panel: Panel;
  plots: Plots;
  view: View | null;
  handles: Handles;
  buttons: Buttons;
}

export class LawDisplay {
  law: LawWords | null = null;
  halted = false;

  constructor(private readonly parts: Parts) {}

  /** Clears the law of another loop. */
  reset(): void {
    this.law = null;
    this.halted = false;
    this.parts.buttons.setLaw(null);
  }

  /** Shows the law in a frame; with `past`, view and plots show a recording and are left alone. */
  show(hello: Hello, head: Head, ring: Ring, past: boolean): void {
    const law = hello.laws[String(head.whole("law"))] ?? null;
    if (law?.name !== this.law?.name) this.change(hello, law, past);
    const [state, reason, rejected] = head.part("states");
    if (!past) byId("state").hidden = !law?.states.length;
    if (!past && law?.states.length) showStates(byId("state"), law, Math.round(state!), Math.round(reason!), Math.round(rejected!));
    showCuts(byId("cuts"), cutsOf(hello, head, law, this.ramps(hello, ring)));
    this.halted = head.whole("stopped") === 1;
    this.parts.buttons.get("resume").disabled = !this.halted;
    byId("law").classList.toggle("warn", this.halted);
    write(byId("law"), `${law?.name ?? ""}${this.halted ? ", stopped" : ""}`);
  }

  private change(hello: Hello, law: LawWords | null, past: boolean): void {
    const { panel, plots, view, handles, buttons } = this.parts;
    this.law = law;
    panel.setLaw(law);
    handles.setLaw(law);
    buttons.setLaw(law);
    view?.offer(law?.drags_push ?? false);
    this.showBands(hello);
    if (!past) plots.setLaw(law?.name ?? "");
  }

  /** Shades the bands around lines whose half width is a parameter. */
  showBands(hello: Hello): void {
    const bands = this.lines(hello).filter((channel) => channel.band);
    this.parts.plots.setBands(Object.fromEntries(bands.map((channel) => [channel.name, Number(this.parts.panel.values[channel.band] ?? 0)])));
  }

  /** The lines that belong to the law. */
  private lines(hello: Hello): Hello["channels"] {
    return hello.channels.filter((channel) => channel.law !== "" && channel.law === this.law?.name);
  }

  /** The places of the lines that ramp to the value of a parameter. */
  private ramps(hello: Hello, ring: Ring): Ramp[] {
    return this.lines(hello).filter((channel) => channel.follows).map((channel) => ({
      label: (this.law!.sliders.find((slider) => slider.parameter === channel.follows)?.label ?? channel.name).toLowerCase(),
      unit: channel.unit,
      now: ring.newest(hello.channels.indexOf(channel)),
      target: Number(this.parts.panel.values[channel.follows] ?? Number.NaN),
    }));
  }
}
