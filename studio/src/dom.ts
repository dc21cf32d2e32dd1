// Making elements without ever reading text as markup.

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  children: (Node | string)[] = [],
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element ${id}.`);
  return found as T;
}

export function table(head: string[], rows: (string | Node)[][]): HTMLTableElement {
  const line = (tag: "td" | "th", cells: (string | Node)[]) => element("tr", {}, cells.map((cell) => element(tag, {}, [cell])));
  return element("table", {}, [line("th", head), ...rows.map((row) => line("td", row))]);
}

/** Sets a text if it differs, because setting the same text would cause a new layout. */
export function write(into: HTMLElement, words: string): void {
  if (into.textContent !== words) into.textContent = words;
}

/** What is shown for a rejected request without a reason. */
export const REJECTED = "The request was rejected.";

let fading = 0;

/** Shows a message at the edge of the page for some seconds; an error stays longer. */
export function notice(words: string, good = false): void {
  const box = byId("notice");
  box.textContent = words;
  box.classList.toggle("good", good);
  box.hidden = false;
  window.clearTimeout(fading);
  fading = window.setTimeout(() => (box.hidden = true), good ? 4000 : 9000);
}

/** Shows an important message above everything else, until it is cleared by an empty text. */
export function alarm(words: string): void {
  const box = byId("alarm");
  box.hidePopover(); // so that it comes to lie above what was opened since
  if (words) box.showPopover();
  box.textContent = words;
}

/** The action of the Stop button in a dialog: a dialog covers the page, and Stop must always be available. */
export const urgent = { stop: (): void => {} };

/** A dialog; `act` runs when its button is pressed and returns an error. Without a name there is no button. */
export function ask(title: string, body: Node[], button = "", act: () => Promise<string> = async () => ""): HTMLDialogElement {
  const wrong = element("p", { class: "why", "data-testid": "wrong", role: "alert", hidden: "" });
  const close = element("button", { "data-testid": "close", type: "button" }, ["Close"]);
  const go = element("button", { "data-testid": "go", class: "main" }, [button]);
  go.hidden = button === "";
  const stop = element("button", { "data-testid": "dialog-stop", class: "stop", type: "button", title: "Stop the robot now (Space or Esc)" }, ["Stop"]);
  stop.onclick = () => urgent.stop();
  const head = element("div", { class: "head" }, [element("h2", {}, [title]), element("div", { class: "line" }, [close, stop])]);
  const form = element("form", {}, [head, ...body, wrong, element("div", { class: "line end" }, [go])]);
  const box = element("dialog", { "data-testid": "dialog", "aria-label": title }, [form]);
  form.onsubmit = async (event) => {
    event.preventDefault();
    if (button === "") return;
    const said = await act();
    wrong.textContent = said;
    wrong.hidden = said === "";
    if (said === "") box.close();
  };
  close.onclick = () => box.close();
  box.onclose = () => box.remove();
  document.body.append(box);
  box.showModal();
  alarm(byId("alarm").textContent);
  return box;
}
