// The list of all live parameters, each as a field of text.

import { element } from "./dom";
import { isTyped, noteTyping } from "./typing";
import type { Declared, Value, Values } from "./wire";

export class ParameterList {
  private readonly fields = new Map<string, HTMLInputElement>();

  constructor(
    private readonly holder: HTMLElement,
    /** Requests a value; returns whether it was accepted. */
    private readonly set: (name: string, value: Value) => Promise<boolean>,
  ) {}

  /** Lists the live parameters; `typed` is called when a field is no longer being edited. */
  build(parameters: Declared[], now: () => Values, typed: () => void): void {
    this.fields.clear();
    const rows = parameters.filter((item) => item.live).map((item) => {
      const field = element("input", { type: "text", "data-testid": `field-${item.name}`, "aria-label": item.name });
      field.onchange = async () => {
        if (!(await this.set(item.name, read(field.value)))) field.value = written(now()[item.name]);
      };
      noteTyping(field, typed);
      this.fields.set(item.name, field);
      const bounds = `${item.low ?? "−∞"} … ${item.high ?? "∞"}`;
      return element("div", { class: "row wide", title: `${item.help} (${bounds} ${item.unit})` }, [
        element("label", {}, [`${item.name} `, element("span", { class: "unit" }, [item.unit])]), field,
      ]);
    });
    const open = this.holder.querySelector("details")?.open ?? false;
    const list = element("details", { "data-testid": "all-parameters" }, [element("summary", {}, ["All live parameters"]), ...rows]);
    list.open = open;
    this.holder.replaceChildren(list);
  }

  /** Shows the current values; a field in use is left alone. */
  show(values: Values): void {
    for (const [name, field] of this.fields) {
      if (!isTyped(field)) field.value = written(values[name]);
    }
  }
}

export function written(value: Value | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

/** What was typed: parsed as JSON if possible, otherwise the text itself. */
function read(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    return text;
  }
}
