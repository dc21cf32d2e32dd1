// Recordings to play or step through, and experiments to run.

import { BusyLines } from "./busy";
import { ask, element, table } from "./dom";
import { numbersOf, worded, type Gapped } from "./gaps";
import { LONG_MS, type Link } from "./link";
import type { Answer, Asks, Busy, ExperimentResult, Hello, Recorded, Request, WhatIfRun } from "./wire";

type Rows = "poses" | "goal" | "tool" | "force" | "arrow" | "push" | "base";
/** A recording, with numbers where there were gaps. */
export type Recording = Omit<Recorded, Rows> & Record<Exclude<Rows, "poses">, number[][]> & { poses: Float32Array[] };

export interface Shown {
  recording: Recording;
  at: number;
  /** Channels of the same task with the current parameters. */
  otherwise: Gapped[][] | null;
}

export class Archive {
  onShow: (shown: Shown | null) => void = () => {};

  private readonly files = element("select", { "data-testid": "recordings", "aria-label": "Recording" });
  private readonly scrub = element("input", {
    type: "range", class: "scrub", min: "0", "data-testid": "scrub", "aria-label": "Time in the recording",
  });
  private readonly player = element("div", { hidden: "" });
  private readonly moment = element("span", { class: "faint", "data-testid": "moment" });
  private readonly told = element("div", { class: "faint", "data-testid": "recording-told" });
  private readonly other = this.button("What if", "what-if", "Simulate this recording again with the current parameters", () => this.whatIf());
  private recording: Recording | null = null;
  private otherwise: Gapped[][] | null = null;
  private readonly busy = new BusyLines((what) => void this.cancel(what));
  private running = "";
  private planned: string[] = ["map.yaml", "1, 1, 0", "6, 4, 90"];
  private shown: HTMLDialogElement | null = null;
  private playing = 0;
  private pausing: () => void = () => {};

  constructor(
    private readonly holder: HTMLElement,
    private readonly link: Link,
    private readonly say: (words: string, good?: boolean) => void,
  ) {}

  build(hello: Hello): void {
    const open = this.button("Open", "open", "Open this recording", () => this.open());
    const live = this.button("Live", "live", "Back to the running loop", () => this.leave());
    this.files.onfocus = () => void this.list();
    this.scrub.oninput = () => {
      this.pause();
      this.show();
    };
    this.player.replaceChildren(this.scrub, element("div", { class: "line" }, [this.other, live, this.moment]), this.told);
    const play = this.button("Play", "play", "Play in real time", () => this.play(play));
    this.player.querySelector(".line")!.prepend(play);
    const gallery = this.button("Experiments…", "gallery", "Run a named experiment", () => this.gallery(hello));
    this.holder.replaceChildren(
      element("h2", {}, ["Recordings"]),
      element("div", { class: "line" }, [this.files, open]),
      this.busy.holder,
      this.player,
      element("div", { class: "line" }, [gallery, this.button("Plan a path…", "plan", "Plan a path for a mobile base through a map", () => this.planner())]),
    );
    void this.list();
  }

  /** Shows the work in progress, of any page. */
  setBusy(busy: Busy): void {
    this.running = busy.work;
    this.busy.show(busy);
  }

  private button(words: string, id: string, title: string, press: () => unknown): HTMLButtonElement {
    const made = element("button", { "data-testid": id, title }, [words]);
    made.onclick = () => void press();
    return made;
  }

  private async asked<K extends Request>(what: K, more: Asks<K>): Promise<(Answer<K> & { ok: true }) | null> {
    const answer = await this.link.ask(what, more, LONG_MS);
    if (answer.ok) return answer as Answer<K> & { ok: true };
    this.say(answer.error);
    return null;
  }

  private async list(): Promise<void> {
    const answer = await this.link.ask("recordings", {});
    if (!answer.ok) return;
    const now = this.files.value;
    const options = answer.recordings.map((file) => {
      const words = `${file.name} (${(file.bytes / 1e6).toFixed(1)} MB)`;
      return element("option", { value: file.name, ...(file.name === now ? { selected: "" } : {}) }, [words]);
    });
    this.files.replaceChildren(...(options.length ? options : [element("option", { value: "" }, ["no recordings yet"])]));
  }

  // ---- recordings ----

  private async open(): Promise<void> {
    if (!this.files.value) return this.say("No recordings yet. Press Record, or use pliant run --record.");
    const answer = await this.asked("open", { name: this.files.value });
    if (!answer) return;
    this.recording = read(answer.recording);
    this.otherwise = null;
    this.scrub.max = String(this.recording.poses.length - 1);
    this.scrub.value = "0";
    this.player.hidden = false;
    this.other.hidden = this.recording.mission !== null;
    this.tell(this.recording);
    this.show();
  }

  private tell(recording: Recording, otherwise = ""): void {
    const wrong = (recording.findings ?? []).filter((finding) => finding.severity === "alarm" || finding.severity === "warning");
    const lines = wrong.map((finding) => element("p", { class: finding.severity }, [element("b", {}, [`${finding.name}: `]), `${finding.cause} ${finding.remedy}`]));
    const fault = recording.fault ? ` It ended in a fault: ${recording.fault}.` : "";
    const doctor = wrong.length || !recording.findings ? "" : " The doctor found no problems.";
    this.told.replaceChildren(`${recording.task} on ${recording.robot}.${fault}${doctor}`, ...lines);
    if (otherwise) this.told.append(element("p", { "data-testid": "otherwise" }, [otherwise]));
  }

  private show(): void {
    const now = this.recording?.columns[0]?.[Number(this.scrub.value)];
    this.moment.textContent = this.recording ? `${worded(now, 2)} s` : "";
    this.scrub.ariaValueText = this.moment.textContent;
    if (this.recording) this.onShow({ recording: this.recording, at: Number(this.scrub.value), otherwise: this.otherwise });
  }

  private async whatIf(): Promise<void> {
    if (!this.recording) return;
    const answer = await this.asked("what_if", { name: this.recording.name });
    if (!answer) return;
    const run = answer.what_if;
    this.otherwise = run.columns;
    this.say(run.fault ? `With these parameters the run would end in a fault: ${run.fault}.` : "Dotted lines: the run with the current parameters.", !run.fault);
    this.tell(this.recording, otherwiseInWords(run));
    this.show();
  }

  private leave(): void {
    this.pause();
    this.recording = this.otherwise = null;
    this.player.hidden = true;
    this.onShow(null);
  }

  // ---- experiments ----

  private gallery(hello: Hello): void {
    const cards = hello.experiments.map((item) => {
      const runs = this.running === `Running ${item.name}`;
      const press = runs
        ? this.button("Cancel", `cancel-${item.name}`, `Cancel ${item.name}`, () => this.cancel("work"))
        : this.button("Run", `run-${item.name}`, `Run ${item.name}; the loop keeps running`, () => this.experiment(item.name));
      press.type = "button";
      press.disabled = this.running !== "" && !runs;
      return element("div", { class: "card" }, [element("h3", {}, [item.name, press]), element("p", { class: "faint" }, [item.summary])]);
    });
    const words = element("p", { class: "faint" }, [hello.no_experiments || "An experiment runs in its own process; the loop keeps running. It ends with a picture and its figures."]);
    this.shown = ask("Experiments", [words, element("div", { class: "gallery" }, cards)]);
  }

  private async experiment(name: string): Promise<void> {
    this.shown?.close();
    this.say(`${name} is running. Its result appears when it is done.`, true);
    const answer = await this.asked("experiment", { name });
    if (answer) this.present(answer.experiment);
  }

  /** Cancels work or the opening of a recording; the page that requested it gets the message. */
  private async cancel(what: keyof Busy): Promise<void> {
    this.shown?.close();
    const answer = await this.asked("cancel", { what });
    if (answer && !answer.cancelled) this.say("Nothing to cancel: it was already done.");
  }

  /** Asks for a map, start and goal; then shows the map with the path. */
  private planner(): void {
    const field = (id: string, words: string, value: string) => {
      const input = element("input", { type: "text", value, "data-testid": id, "aria-label": words });
      return { input, row: element("label", { class: "asked" }, [words, input]) };
    };
    const map = field("plan-map", "Map on the machine that runs the Studio (.yaml, .pgm, .png or .npy)", this.planned[0]!);
    const from = field("plan-start", "Start: x, y [m], heading [°]", this.planned[1]!);
    const to = field("plan-goal", "Goal: x, y [m], heading [°]", this.planned[2]!);
    ask("Plan a path for a mobile base", [map.row, from.row, to.row], "Plan", async () => {
      this.planned = [map, from, to].map((item) => item.input.value);
      const [file, start, goal] = this.planned as [string, string, string];
      const answer = await this.link.ask("plan", { map: file, start, goal }, LONG_MS);
      if (!answer.ok) return answer.error;
      const plan = answer.plan;
      const words = `${plan.length_m.toFixed(2)} m, ${plan.backward_m.toFixed(2)} m of it backwards, ${plan.cusps} changes of direction.`;
      ask("Path through the map", [pictureOf(plan.picture, "Map with path"), element("p", {}, [words])]).dataset["testid"] = "planned";
      return "";
    });
  }

  private present(result: ExperimentResult): void {
    const rows = result.figures.map((figure) => {
      const met = figure.met === null ? "" : figure.met ? "yes" : "no";
      const value = figure.value === null ? "–" : String(Number(Number(figure.value).toPrecision(4)));
      return [figure.name, value, figure.unit, figure.target ?? "", element("span", { class: met }, [met])];
    });
    const picture = pictureOf(result.picture, `Picture of ${result.name}`);
    const title = `${result.name}: ${result.passed ? "all targets met" : "targets missed"}`;
    ask(title, [picture, table(["quantity", "value", "unit", "target", "met"], rows)]).dataset["testid"] = "result";
  }

  // ---- replay ----

  private play(button: HTMLButtonElement): void {
    if (this.playing) return this.pause();
    const recording = this.recording;
    if (!recording) return;
    const time = recording.columns[0]! as number[];
    let at = Number(this.scrub.value) >= time.length - 1 ? 0 : Number(this.scrub.value);
    const began = performance.now() - 1000 * time[at]!;
    button.textContent = "Pause";
    this.pausing = () => (button.textContent = "Play");
    this.playing = window.setInterval(() => {
      while (at < time.length - 1 && 1000 * time[at]! < performance.now() - began) at++;
      this.scrub.value = String(at);
      this.show();
      if (at >= time.length - 1) this.pause();
    }, 50);
  }

  private pause(): void {
    window.clearInterval(this.playing);
    this.playing = 0;
    this.pausing();
  }
}

/** A picture made by the Studio; loaded again each time, because the next one has the same name. */
function pictureOf(name: string, words: string): HTMLImageElement {
  const token = new URLSearchParams(location.search).get("token") ?? "";
  return element("img", { src: `pictures/${name}?token=${encodeURIComponent(token)}&at=${Date.now()}`, alt: words });
}

function read(got: Recorded): Recording {
  const rows = (name: Exclude<Rows, "poses">) => got[name].map(numbersOf);
  return {
    ...got,
    poses: got.poses.map((row) => new Float32Array(numbersOf(row))),
    goal: rows("goal"), tool: rows("tool"), force: rows("force"), arrow: rows("arrow"), push: rows("push"), base: rows("base"),
  };
}

/** What a run with other parameters shares with the recorded one, and what differs. */
function otherwiseInWords(run: WhatIfRun): string {
  const begins = run.from_rest ? " It starts at rest where the recording starts." : "";
  return `Dotted: the current parameters, with the recorded goals, commands, stops and virtual pushes.${begins} Pushes by hand are not recorded and are missing.`;
}
