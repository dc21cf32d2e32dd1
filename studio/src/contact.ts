// The states of the contact law as chips, and beside them why it is in the one that it is in.

import { element } from "./dom";
import type { LoopWords } from "./wire";

/** Shows the state, the reason of the last change and that of a rejected command, by their numbers. */
export function showContact(box: HTMLElement, loop: LoopWords, state: number, reason: number, rejected: number): void {
  const no = rejected ? ` · rejected: ${loop.reasons[String(rejected)] ?? ""}` : "";
  const words = `${loop.reasons[String(reason)] ?? ""}${no}`;
  if (box.dataset["told"] === `${state} ${words}`) return;
  box.dataset["told"] = `${state} ${words}`;
  const chips = loop.states.map((name, i) => element("span", { class: i === state ? "chip now" : "chip" }, [name]));
  box.replaceChildren(...chips, element("div", {}, [words]));
}
