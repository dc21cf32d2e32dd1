// Errors in the words of the page: the label of a slider first, with the parameter's name and unit.

import { labelsOf } from "./dynamics";
import type { Declared, LawWords } from "./wire";

const NUMBER = String.raw`-?\d+(?:\.\d+)?(?:e[-+]?\d+)?`;
const BOUND = new RegExp(String.raw`(must be (?:at most|at least|greater than|less than|more than)) (${NUMBER})(?= and |[.,](?:\s|$))`);

export class Labels {
  private readonly declared: Map<string, Declared>;
  private readonly labels: Map<string, string>;
  private readonly names: RegExp;

  constructor(parameters: Declared[], laws: Record<string, LawWords>) {
    this.declared = new Map(parameters.map((item) => [item.name, item]));
    this.labels = labelsOf(laws);
    const known = [...this.labels.keys()].sort((a, b) => b.length - a.length).map((name) => name.replaceAll(".", String.raw`\.`));
    // not in quotes or code, nor as part of a longer name or an assignment
    this.names = new RegExp(String.raw`(?<![\w.'\`])(${known.join("|") || "(?!)"})(?![\w'\`=]|\.[a-z])(?: \((${NUMBER})(?: [^()]*)?\)| is (${NUMBER})(?=,))?`, "g");
  }

  /** A message with labels: "Mass (my_law.mass_kg) is 80 kg, but …". A list of known names is left as it is. */
  of(text: string): string {
    const [said, ...list] = text.split(" Known: ");
    const seen = new Set<string>();
    let subject = "";
    const labelled = said!.replace(this.names, (_, name: string, limit?: string, value?: string) => {
      const label = this.labels.get(name)!;
      const first = !seen.has(name);
      seen.add(name);
      if (limit !== undefined) return `${this.quantity(name, limit)} (${first ? `${label}, ${name}` : label})`;
      const words = first ? `${label} (${name})` : label;
      if (value === undefined) return words;
      subject ||= name;
      return `${words} is ${this.quantity(name, value)}`;
    });
    const bounded = subject ? labelled.replace(BOUND, (_, must: string, bound: string) => `${must} ${this.quantity(subject, bound)}`) : labelled;
    return [bounded, ...list].join(" Known: ");
  }

  /** A number with the unit of its parameter, if that is a single number. */
  private quantity(name: string, number: string): string {
    const item = this.declared.get(name);
    const unit = item?.type === "number" ? item.unit : "";
    return `${Number(number)}${unit ? ` ${unit}` : ""}`;
  }
}
