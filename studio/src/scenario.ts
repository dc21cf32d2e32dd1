// Which task runs, on which robot: the chooser, and its Start.

import { element } from "./dom";
import type { Hello } from "./wire";

const OWN = "robot from the task file";

/** Builds the chooser anew; `start` gets the task and the robot ("" for the task's own). */
export function chooser(holder: HTMLElement, hello: Hello, start: (task: string, robot: string) => Promise<unknown>): void {
  const running = hello.loop?.source ?? "";
  const source = running.replace(/^tasks\//, "").replace(/\.yaml$/, "");
  const isShipped = hello.tasks.includes(source);
  const task = pick("task", source && !isShipped ? [running, ...hello.tasks] : hello.tasks, isShipped ? source : running);
  const robot = pick("robot", [OWN, ...hello.robots], OWN);
  const button = element("button", { "data-testid": "start", title: "End this loop and start the selected task" }, ["Start"]);
  button.onclick = async () => {
    button.disabled = true;
    await start(task.value, robot.selectedIndex === 0 ? "" : robot.value);
    button.disabled = false;
  };
  holder.replaceChildren(element("h2", {}, ["Scenario"]), element("div", { class: "line" }, [task, robot, button]));
}

function pick(id: string, options: string[], now: string): HTMLSelectElement {
  const made = element("select", { "data-testid": id, "aria-label": id });
  for (const option of options) made.append(element("option", { value: option, ...(option === now ? { selected: "" } : {}) }, [option]));
  return made;
}
