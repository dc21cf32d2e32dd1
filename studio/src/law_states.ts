// The states of a law as chips, with the reason for the current one.

import { element } from "./dom";
import type { LawWords } from "./wire";

/** Shows the state, the reason for the last change and for a rejected command, by their numbers. */
export function showStates(box: HTMLElement, law: LawWords, state: number, reason: number, rejected: number): void {
  const no = rejected ? ` · rejected: ${law.reasons[rejected] ?? ""}` : "";
  const words = `${law.reasons[reason] ?? ""}${no}`;
  if (box.dataset["told"] === `${state} ${words}`) return;
  box.dataset["told"] = `${state} ${words}`;
  const chips = law.states.map((name, i) => element("span", { class: i === state ? "chip now" : "chip" }, [name]));
  box.replaceChildren(...chips, element("div", {}, [words]));
}
