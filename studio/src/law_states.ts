// The states of a law as chips, and beside them why it is in the one that it is in.

import { element } from "./dom";
import type { LawWords } from "./wire";

/** Shows the state, the reason of the last change and that of a rejected command, by their numbers. */
export function showStates(box: HTMLElement, law: LawWords, state: number, reason: number, rejected: number): void {
  const no = rejected ? ` · rejected: ${law.reasons[rejected] ?? ""}` : "";
  const words = `${law.reasons[reason] ?? ""}${no}`;
  if (box.dataset["told"] === `${state} ${words}`) return;
  box.dataset["told"] = `${state} ${words}`;
  const chips = law.states.map((name, i) => element("span", { class: i === state ? "chip now" : "chip" }, [name]));
  box.replaceChildren(...chips, element("div", {}, [words]));
}
