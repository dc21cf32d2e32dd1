// Whole sets of parameters: kept for comparison, applied from a task, saved to a file.

import { ask, element, table } from "./dom";
import type { Link } from "./link";
import { written } from "./parameter_list";
import type { Declared } from "./wire";

export class ParameterSets {
  private tasks: string[] = [];
  private source = "";
  private kept: string[] = [];
  private declared = new Map<string, Declared>();

  constructor(
    private readonly link: Link,
    private readonly say: (words: string, good?: boolean) => void,
  ) {}

  build(declared: Map<string, Declared>, tasks: string[], source: string): void {
    this.declared = declared;
    this.tasks = tasks;
    this.source = source;
  }

  /** Accepts the letters of the kept sets; returns whether they have changed. */
  setKept(kept: string[]): boolean {
    const differs = kept.join() !== this.kept.join();
    this.kept = kept;
    return differs;
  }

  /** Compare with…, and Keep. */
  line(): HTMLElement {
    const made = element("select", { "data-testid": "preset", "aria-label": "Preset" }, [element("option", { value: "" }, ["Compare with…"])]);
    for (const name of this.kept) made.append(element("option", { value: name }, [`kept ${name}`]));
    for (const task of this.tasks) made.append(element("option", { value: task }, [task]));
    made.onchange = () => {
      const name = made.value;
      made.value = "";
      if (name) void this.compare(name);
    };
    const keep = element("button", { "data-testid": "keep", title: "Keep the current values to compare with later" }, ["Keep"]);
    keep.onclick = () => void this.keep();
    return element("div", { class: "line" }, [made, keep]);
  }

  saveButton(): HTMLButtonElement {
    const made = element("button", { "data-testid": "save", title: "Save the current values to a task file" }, ["Save…"]);
    made.onclick = () => this.save();
    return made;
  }

  private async keep(): Promise<void> {
    const answer = await this.link.ask("keep", {});
    if (answer.ok) this.say(`Values kept as ${answer.kept}. Select them under "Compare with…" to compare or apply them.`, true);
    else this.say(answer.error);
  }

  /** What a preset would change, next to the current values; it is applied as one change. */
  private async compare(name: string): Promise<void> {
    const answer = await this.link.ask("compare", { preset: name });
    if (!answer.ok) return this.say(answer.error);
    const { now, then } = answer;
    const names = Object.keys(then);
    const rows = names.map((item) => [item, written(now[item]), written(then[item]), this.declared.get(item)?.unit ?? ""]);
    const body = names.length ? table(["parameter", "current", name, "unit"], rows) : element("p", {}, ["No differences."]);
    ask(`${name} compared with the current values`, [body], names.length ? "Apply" : "", async () => {
      const taken = await this.link.ask("preset", { preset: name });
      if (taken.ok) this.say(`The values of ${name} are applied. Undo reverts them.`, true);
      return taken.ok ? "" : taken.error;
    });
  }

  private save(): void {
    const own = this.source.endsWith(".yaml") ? this.source : "";
    const path = element("input", { type: "text", value: own, placeholder: "my_task.yaml", "data-testid": "save-path", "aria-label": "Task file" });
    const words = element("p", { class: "faint" }, ["Your own task file, on the machine that runs the Studio. Only values that differ are written; comments are kept."]);
    ask("Save the current values", [words, path], "Save", async () => {
      const answer = await this.link.ask("save", { path: path.value });
      if (!answer.ok) return answer.error;
      const count = answer.saved.length === 1 ? "1 value" : `${answer.saved.length} values`;
      this.say(`Saved ${count} to ${answer.path}.`, true);
      return "";
    });
  }
}
