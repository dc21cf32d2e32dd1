// Recordings to look at again, moment by moment, and experiments to run: what lies beside the running loop.

import { element } from "./dom";
import type { Link } from "./link";
import type { Answer, Hello, Shape } from "./wire";

const LONG_MS = 15 * 60_000;

export interface Recording {
  name: string;
  task: string;
  robot: string;
  fault: string;
  shapes: Shape[];
  bodies: number;
  poses: Float32Array[];
  goal: number[][];
  tool: number[][];
  force: number[][];
  normal: number[][];
  columns: number[][];
  findings: Finding[];
}

interface Finding {
  name: string;
  severity: string;
  cause: string;
  remedy: string;
}

export interface Shown {
  recording: Recording;
  at: number;
  /** Channels of the same task with the parameters that are in force now. */
  otherwise: number[][] | null;
}

interface Figure {
  name: string;
  value: number;
  unit: string;
  bar: string | null;
  holds: boolean | null;
}

interface Experiment {
  name: string;
  holds: boolean;
  figures: Figure[];
  picture: string;
}

export class Archive {
  onShow: (shown: Shown | null) => void = () => {};

  private readonly files = element("select", { "data-testid": "recordings", "aria-label": "Recording" });
  private readonly scrub = element("input", {
    type: "range", class: "scrub", min: "0", "data-testid": "scrub", "aria-label": "Moment of the recording",
  });
  private readonly player = element("div", { hidden: "" });
  private readonly told = element("div", { class: "faint", "data-testid": "recording-told" });
  private recording: Recording | null = null;
  private otherwise: number[][] | null = null;

  constructor(
    private readonly holder: HTMLElement,
    private readonly link: Link,
    private readonly say: (words: string, good?: boolean) => void,
  ) {}

  build(hello: Hello): void {
    const open = this.button("Open", "open", "Look at this recording", () => this.open());
    const live = this.button("Live", "live", "Back to the running loop", () => this.leave());
    const other = this.button("What if", "what-if", "The same task with the parameters in force now, beside it", () => this.whatIf());
    this.files.onfocus = () => void this.list();
    this.scrub.oninput = () => this.show();
    this.player.replaceChildren(this.scrub, element("div", { class: "line" }, [other, live]), this.told);
    const names = element("select", { "data-testid": "experiments", "aria-label": "Experiment" });
    for (const item of hello.experiments) names.append(element("option", { value: item.name, title: item.summary }, [item.name]));
    const run = this.button("Run", "run-experiment", "Run this experiment beside the loop", () => this.experiment(names.value, run));
    this.holder.replaceChildren(
      element("h2", {}, ["Recordings"]),
      element("div", { class: "line" }, [this.files, open]),
      this.player,
      element("h2", { class: "next" }, ["Experiments"]),
      element("div", { class: "line" }, [names, run]),
    );
    void this.list();
  }

  private button(words: string, id: string, title: string, press: () => unknown): HTMLButtonElement {
    const made = element("button", { "data-testid": id, title }, [words]);
    made.onclick = () => void press();
    return made;
  }

  private async asked(what: string, more: Record<string, unknown>): Promise<Answer | null> {
    const answer = await this.link.ask(what, more, LONG_MS);
    if (answer.ok) return answer;
    this.say(answer.error ?? "It was refused.");
    return null;
  }

  private async list(): Promise<void> {
    const answer = await this.link.ask("recordings");
    if (!answer.ok) return;
    const now = this.files.value;
    const options = (answer["recordings"] as { name: string; bytes: number }[]).map((file) => {
      const words = `${file.name} (${(file.bytes / 1e6).toFixed(1)} MB)`;
      return element("option", { value: file.name, ...(file.name === now ? { selected: "" } : {}) }, [words]);
    });
    this.files.replaceChildren(...options);
  }

  // ---- recordings ----

  private async open(): Promise<void> {
    if (!this.files.value) return this.say("There is no recording yet. Press Record, or pliant run --record.");
    const answer = await this.asked("open", { name: this.files.value });
    if (!answer) return;
    const got = answer["recording"] as Omit<Recording, "poses"> & { poses: number[][] };
    this.recording = { ...got, poses: got.poses.map((row) => new Float32Array(row)) };
    this.otherwise = null;
    this.scrub.max = String(this.recording.poses.length - 1);
    this.scrub.value = "0";
    this.player.hidden = false;
    this.tell(this.recording);
    this.show();
  }

  private tell(recording: Recording): void {
    const wrong = recording.findings.filter((finding) => finding.severity === "alarm" || finding.severity === "warning");
    const lines = wrong.map((finding) => element("p", {}, [`${finding.name}: ${finding.cause} ${finding.remedy}`]));
    const fault = recording.fault ? ` It ended by a fault: ${recording.fault}.` : "";
    const doctor = wrong.length ? "" : " The doctor found nothing wrong.";
    this.told.replaceChildren(`${recording.task} on ${recording.robot}.${fault}${doctor}`, ...lines);
  }

  private show(): void {
    if (this.recording) this.onShow({ recording: this.recording, at: Number(this.scrub.value), otherwise: this.otherwise });
  }

  private async whatIf(): Promise<void> {
    if (!this.recording) return;
    const answer = await this.asked("what_if", { name: this.recording.name });
    if (!answer) return;
    const run = answer["what_if"] as { columns: number[][]; fault: string };
    this.otherwise = run.columns;
    const words = run.fault ? `With these parameters it would end by a fault: ${run.fault}.` : "Dotted: with the parameters in force now.";
    this.say(words, !run.fault);
    this.show();
  }

  private leave(): void {
    this.recording = this.otherwise = null;
    this.player.hidden = true;
    this.onShow(null);
  }

  // ---- experiments ----

  private async experiment(name: string, button: HTMLButtonElement): Promise<void> {
    button.disabled = true;
    button.textContent = "Running…";
    const answer = await this.asked("experiment", { name });
    button.disabled = false;
    button.textContent = "Run";
    if (answer) this.present(answer["experiment"] as Experiment);
  }

  private present(result: Experiment): void {
    const token = new URLSearchParams(location.search).get("token") ?? "";
    const source = `pictures/${result.picture}?token=${encodeURIComponent(token)}`;
    const head = element("tr", {}, ["figure", "value", "unit", "bar", "holds"].map((words) => element("th", {}, [words])));
    const rows = result.figures.map((figure) => {
      const holds = figure.holds === null ? "" : figure.holds ? "yes" : "no";
      const cells = [figure.name, String(Number(Number(figure.value).toPrecision(4))), figure.unit, figure.bar ?? ""];
      return element("tr", {}, [...cells.map((words) => element("td", {}, [words])), element("td", { class: holds }, [holds])]);
    });
    const close = element("button", { "data-testid": "close" }, ["Close"]);
    const box = element("dialog", { "data-testid": "result", "aria-label": result.name }, [
      element("h2", {}, [`${result.name}: ${result.holds ? "every bar is reached" : "a bar is not reached"}`]),
      element("img", { src: source, alt: `Picture of ${result.name}` }),
      element("table", {}, [head, ...rows]),
      close,
    ]);
    close.onclick = () => box.close();
    box.onclose = () => box.remove();
    document.body.append(box);
    box.showModal();
  }
}
