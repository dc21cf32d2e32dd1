// Which task runs, on which robot: the chooser, and its Start.

import { element } from "./dom";
import type { Hello } from "./wire";

const OWN = "robot from the task file";

/** Rebuilds the chooser; `start` gets the task, the robot ("" for the task's own), and whether to record the run. */
export function chooser(holder: HTMLElement, hello: Hello, start: (task: string, robot: string, record: boolean) => Promise<unknown>): void {
  const running = hello.loop?.source ?? "";
  const source = running.replace(/^tasks\//, "").replace(/\.yaml$/, "");
  const isShipped = hello.tasks.includes(source);
  const task = pick("task", source && !isShipped ? [running, ...hello.tasks] : hello.tasks, isShipped ? source : running);
  const robot = pick("robot", [OWN, ...hello.robots], OWN);
  const button = element("button", { "data-testid": "start", title: "End this loop and start the selected task" }, ["Start"]);
  const record = element("input", { type: "checkbox", "data-testid": "record-run" });
  record.checked = holder.querySelector<HTMLInputElement>("[data-testid=record-run]")?.checked ?? true;
  button.onclick = async () => {
    button.disabled = true;
    await start(task.value, robot.selectedIndex === 0 ? "" : robot.value, record.checked);
    button.disabled = false;
  };
  const again = element("button", { "data-testid": "again", title: "End this run and start the same task again" }, ["Run again"]);
  again.hidden = running === ""; // a loop that was started elsewhere
  again.onclick = async () => {
    again.disabled = true;
    const same = hello.loop!.robot;
    await start(running, hello.robots.includes(same) ? same : "", record.checked);
    again.disabled = false;
  };
  const recorded = element("label", { class: "check", title: "Record each run from its start; the newest 20 automatic recordings are kept" }, [record, "Record"]);
  holder.replaceChildren(element("h2", {}, ["Scenario"]), element("div", { class: "line" }, [task, robot, button]), element("div", { class: "line" }, [again, recorded]));
}

function pick(id: string, options: string[], now: string): HTMLSelectElement {
  const made = element("select", { "data-testid": id, "aria-label": id });
  for (const option of options) made.append(element("option", { value: option, ...(option === now ? { selected: "" } : {}) }, [option]));
  return made;
}
