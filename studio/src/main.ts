// The page: brings the parts together. It holds no truth of its own: what it shows is what the loop says.

import { Archive, type Shown } from "./archive";
import { byId, element, urgent } from "./dom";
import { Handles } from "./handles";
import { Link, LONG_MS } from "./link";
import { MissionCard, stageAt, stagesOf } from "./mission";
import { Panel } from "./panel";
import { Plots } from "./plots";
import { Ring } from "./ring";
import { VIEWS } from "./camera";
import { View } from "./view";
import { readFrame, type Answer, type Frame, type Hello, type LoopWords, type Message, type MissionWords, type Shape, type Status, type Story, type Values } from "./wire";

const KEPT = 3000;
// Buttons of the contact law, and of every law.
const CONTACT = ["seek", "pause", "go-on", "retract"];
const LAW = ["tare", "resume"];
// What may have to be compiled, or looked for, first.
const SLOW = ["start", "begin", "aim"];
const HINTS = {
  arm: "Drag the arm to push it · drag empty space to orbit · wheel to zoom · Space stops",
  mission: "Click the map for another goal · drag to orbit · wheel to zoom · Space stops",
};

class Page {
  private readonly link = new Link();
  private readonly view: View;
  private readonly plots = new Plots(byId("plots"));
  private readonly panel: Panel;
  private readonly handles: Handles;
  private readonly archive: Archive;
  private readonly mission: MissionCard;
  private story: Story | null = null;
  private past: Shown | null = null;
  private ring = new Ring(1, 2);
  private hello: Hello | null = null;
  private at: Record<string, number> = {};
  private status: Status | null = null;
  private open = false;
  private law = "";
  private values: Values = {};
  private noticeTimer = 0;
  private readonly buttons = new Map<string, HTMLButtonElement>();

  constructor() {
    const low = new URLSearchParams(location.search).get("quality") === "low";
    this.view = new View(byId("view"), byId("pushing"), low);
    this.view.hands.onPush = (force) => this.link.tell("push", { force });
    this.view.hands.onGoal = (position) => this.link.tell("goal", { position });
    this.view.hands.onForce = (force) => this.link.tell("virtual_push", { force });
    const aim = (position: number[]) => void this.aim(position);
    this.view.hands.onFloor = aim;
    this.mission = new MissionCard(byId("mission"), aim);
    this.handles = new Handles(byId("handles"), (what, more) => void this.ask(what, more));
    this.panel = new Panel(byId("dynamics"), byId("more"), this.link, (words, good) => this.notice(words, good));
    this.archive = new Archive(byId("archive"), this.link, (words, good) => this.notice(words, good));
    this.archive.onShow = (shown) => this.show(shown);
    urgent.stop = () => this.halt();
    this.plots.onZoom = () => !this.past && this.freeze(true);
    this.makeButtons();
    this.makeViews();
    this.keys();
    this.link.onMessage = (message) => this.hear(message);
    this.link.onFrame = (data) => this.frame(data);
    this.link.onOpen = (open) => {
      this.open = open;
      if (!open) this.view.hands.release();
      this.showStatus();
    };
    new ResizeObserver(() => this.plots.resize()).observe(byId("plots"));
    this.theme(this.preferred());
    this.link.connect();
  }

  // ---- what comes ----

  private hear(message: Message): void {
    if (message.type === "hello") this.greet(message);
    else if (message.type === "status") {
      this.status = message;
      this.panel.setKept(message.kept);
      this.showStatus();
    } else if (message.type === "parameters") this.take(message.values);
    else if (message.type === "mission") this.follow(message);
    else if (!message.ok && message.id === null) this.notice(message.error ?? "It was refused.");
  }

  private take(values: Values): void {
    this.panel.show(values);
    this.plots.band = this.law === "hybrid" ? Number(values["contact.band_n"] ?? 0) : 0;
    this.values = values;
  }

  private greet(hello: Hello): void {
    this.view.hands.drop(); // a drag means nothing to another robot
    this.hello = hello;
    this.past = null;
    this.at = Object.fromEntries(hello.head.map((name, i) => [name, i]));
    this.ring = new Ring(hello.channels.length, KEPT);
    this.plots.build(hello.channels, this.isLight());
    this.makeScenario(hello);
    const loop = hello.loop;
    this.archive.build(hello);
    byId("loop").textContent = loop ? `${loop.rate_hz} Hz · ${loop.task} · ${loop.robot.split("/").pop()}` : "";
    document.body.dataset["loop"] = loop?.name ?? "";
    this.furnish(loop);
    if (!loop) return;
    this.live(loop);
    this.view.build(loop.shapes, loop.bodies, loop.up, loop.mission);
    this.law = "";
    if (loop.now.type === "mission") return this.follow(loop.now);
    this.handles.build(loop.up);
    this.panel.build(hello.parameters, loop.now.values, "admittance", hello.presets, loop.source);
    this.take(loop.now.values);
  }

  /** Shows what belongs to an arm under a law, or to a mission, and nothing of the other. */
  private furnish(loop: LoopWords | null): void {
    const driving = Boolean(loop?.mission);
    for (const id of ["dynamics", "more", "force", "law"]) byId(id).hidden = driving;
    if (driving) byId("handles").hidden = true;
    for (const id of LAW) this.buttons.get(id)!.hidden = driving;
    for (const id of CONTACT) this.buttons.get(id)!.hidden = true;
    this.buttons.get("begin")!.hidden = !driving;
    this.mission.hide(!driving);
    byId("hint").textContent = driving ? HINTS.mission : HINTS.arm;
    byId("state").hidden = !driving;
    byId("cuts").replaceChildren();
  }

  private live(loop: LoopWords | null | undefined): void {
    const driving = Boolean(loop?.mission);
    this.view.hands.pushable = loop?.pushable ?? false;
    this.view.hands.movable = Boolean(loop) && !driving;
    this.view.hands.aimable = driving;
  }

  /** Takes what a mission tells of itself. */
  private follow(story: Story): void {
    this.story = story;
    this.mission.show(story);
    const begin = this.buttons.get("begin")!;
    begin.disabled = story.moving || story.seeking;
    begin.textContent = ["done", "stopped"].includes(story.stage) ? "Begin again" : "Begin";
    if (this.past) return;
    this.view.floor.show(story);
    this.view.redraw();
    this.showStage(story, story.seeking ? "a place and a way are being looked for" : undefined);
  }

  private showStage(story: Story, why = story.log[story.log.length - 1]?.[2] ?? ""): void {
    const words = this.past ? this.past.recording.mission : this.hello?.loop?.mission;
    if (!words) return;
    document.body.dataset["stage"] = story.stage;
    byId("state").hidden = false;
    byId("state").dataset["told"] = "";
    byId("state").replaceChildren(...stagesOf(words, story.stage, why));
  }

  private measure(): void {
    const newest = (name: string) => this.ring.newest(this.hello!.channels.findIndex((channel) => channel.name === name));
    this.mission.measure({
      speed: newest("speed"),
      clearance: newest("clearance"),
      distance: newest("distance from goal"),
      angle: newest("angle from goal"),
      path: newest("distance from path"),
    });
  }

  private frame(data: ArrayBuffer): void {
    const hello = this.hello;
    if (!hello?.loop) return;
    const frame = readFrame(data, hello.head.length, hello.loop.bodies, hello.channels.length);
    if (!frame) return;
    this.ring.add(frame.samples, frame.rows);
    this.showFrame(frame, hello);
    if (!this.past) this.plots.draw(this.ring, performance.now());
  }

  private showFrame(frame: Frame, hello: Hello): void {
    const head = frame.head;
    const from = (name: string, n: number) => head.subarray(this.at[name]!, this.at[name]! + n);
    const number = (name: string) => Math.round(head[this.at[name]!]!);
    const force = from("force x", 3);
    if (!this.past) {
      const base = from("base x", 3);
      this.view.show(frame.poses, { goal: from("goal x", 7), tool: from("tool x", 7), force, normal: from("normal x", 3), push: from("push x", 3), base });
    }
    document.body.dataset["time"] = frame.time.toFixed(3);
    if (hello.loop!.mission) return this.measure();
    this.handles.show(from("goal x", 3), from("push x", 3));
    byId("force").textContent = `|F| ${Math.hypot(force[0]!, force[1]!, force[2]!).toFixed(1)} N`;
    const loop = hello.loop!;
    const law = loop.laws[String(number("law"))] ?? "";
    if (law !== this.law) {
      this.law = law;
      this.panel.setLaw(law);
      this.take(this.values);
      this.view.handle.visible = law === "impedance";
      this.handles.setLaw(law);
      if (!this.past) this.plots.contact(law === "hybrid");
      for (const id of CONTACT) this.buttons.get(id)!.hidden = law !== "hybrid";
    }
    this.showState(law, number("state"), number("reason"), number("refused"));
    this.showCuts(hello, number("limits"), number("trouble"), head);
    const stopped = number("stopped") === 1;
    this.buttons.get("resume")!.disabled = !stopped;
    byId("law").classList.toggle("warn", stopped);
    byId("law").textContent = stopped ? `${law}, stopped` : law;
  }

  /** Shows a moment of a recording; null goes back to the loop. */
  private show(shown: Shown | null): void {
    const loop = this.hello?.loop;
    if (shown === null) {
      const was = this.past;
      this.past = null;
      this.live(loop);
      if (was && loop) this.stage(loop.shapes, loop.bodies, loop.up, loop.mission, this.hello!.channels, this.law);
      return;
    }
    const { recording, at } = shown;
    const before = this.past;
    this.past = shown;
    if (before?.recording !== recording) {
      this.stage(recording.shapes, recording.bodies, recording.up, recording.mission, recording.channels, recording.law);
      if (recording.story) this.view.floor.show(recording.story);
    }
    this.live(null);
    this.view.show(recording.poses[at]!, {
      goal: recording.goal[at]!,
      tool: recording.tool[at]!,
      force: recording.force[at]!,
      normal: recording.normal[at]!,
      push: recording.push[at]!,
      base: recording.base[at]!,
    });
    this.plots.past(recording.columns, shown.otherwise, at);
    if (!recording.story) return;
    this.view.floor.follow(recording.base.slice(0, at + 1));
    const { stage, why } = stageAt(recording.story.log, recording.columns[0]![at]!);
    this.showStage({ ...recording.story, stage }, why);
  }

  /** Clears the view and the plots for another cell. */
  private stage(shapes: Shape[], bodies: number, up: number[], mission: MissionWords | null, channels: Hello["channels"], law: string): void {
    this.view.build(shapes, bodies, up, mission);
    this.plots.build(channels, this.isLight());
    this.plots.contact(law === "hybrid");
    byId("state").hidden = true;
    if (!this.past && this.story && mission) this.follow(this.story);
  }

  private showState(law: string, state: number, reason: number, refused: number): void {
    const loop = this.hello?.loop;
    const pill = byId("state");
    if (this.past) return;
    pill.hidden = law !== "hybrid" || !loop;
    if (pill.hidden || !loop) return;
    const no = refused ? ` · refused: ${loop.reasons[String(refused)] ?? ""}` : "";
    const words = `${loop.reasons[String(reason)] ?? ""}${no}`;
    if (pill.dataset["told"] === `${state} ${words}`) return;
    pill.dataset["told"] = `${state} ${words}`;
    const chips = loop.states.map((name, i) => element("span", { class: i === state ? "chip now" : "chip" }, [name]));
    pill.replaceChildren(...chips, element("div", {}, [words]));
  }

  private showCuts(hello: Hello, bits: number, trouble: number, head: Float32Array): void {
    const first = this.at["cut 0"]!;
    const lines = hello.limits.flatMap((limit, i) => {
      if (!(bits & (1 << i))) return [];
      const asked = head[first + i]!.toPrecision(3);
      const allowed = head[first + hello.limits.length + i]!.toPrecision(3);
      return [element("div", {}, [`${limit.name}: ${asked} → ${allowed} ${limit.unit}`])];
    });
    const sensor = hello.loop?.troubles[String(trouble)];
    if (sensor) lines.push(element("div", {}, [`the force sensor ${sensor}`]));
    byId("cuts").replaceChildren(...lines);
  }

  private showStatus(): void {
    const pill = byId("status");
    const words = !this.open ? "no connection" : (this.status?.status ?? "connecting");
    pill.textContent = words === "none" ? "no loop" : words;
    pill.className = `pill ${words === "running" ? "good" : words === "fault" || !this.open ? "bad" : "warn"}`;
    if (this.open && this.status?.status === "fault") this.notice(`The loop has stopped: ${this.status.reason}.`);
    const record = this.buttons.get("record")!;
    const on = Boolean(this.status?.recording);
    record.textContent = on ? "Stop recording" : "Record";
    record.setAttribute("aria-pressed", String(on));
  }

  // ---- what is asked ----

  private makeButtons(): void {
    const add = (id: string, words: string, title: string, press: () => void, kind = "") => {
      const made = element("button", { "data-testid": id, title, ...(kind ? { class: kind } : {}) }, [words]);
      made.onclick = press;
      this.buttons.set(id, made);
      byId("buttons").append(made);
    };
    const order = (name: string) => () => void this.ask("order", { order: name });
    add("begin", "Begin", "Begin the mission, from where the robot stands", () => void this.ask("begin"), "main");
    add("seek", "Seek", "Set the start here and seek the surface", () => void this.seek());
    add("pause", "Pause", "Pause the contact task", order("pause"));
    add("go-on", "Go on", "Go on after a pause", order("resume"));
    add("retract", "Retract", "End the contact task and lift off", order("stop"));
    add("tare", "Tare", "Make the present reading of the force sensor zero", () => void this.ask("tare", {}, "The sensor is tared."));
    add("record", "Record", "Record the loop into a file", () => void this.record());
    add("theme", "☾", "Dark or light", () => this.theme(!this.isLight()));
    add("resume", "Resume", "Go on after a stop", () => void this.ask("resume"));
    add("stop", "Stop", "Come to rest now (Space or Esc)", () => this.halt(), "stop");
  }

  private makeViews(): void {
    byId("freeze").onclick = () => this.freeze();
    for (const name of VIEWS) {
      const made = element("button", { "data-testid": `view-${name}` }, [name]);
      made.onclick = () => this.view.look(name);
      byId("views").append(made);
    }
  }

  private makeScenario(hello: Hello): void {
    const pick = (id: string, options: string[], now: string) => {
      const made = element("select", { "data-testid": id, "aria-label": id });
      for (const option of options) made.append(element("option", { value: option, ...(option === now ? { selected: "" } : {}) }, [option]));
      return made;
    };
    const source = (hello.loop?.source ?? "").replace(/^tasks\//, "").replace(/\.yaml$/, "");
    const tasks = source && !hello.tasks.includes(source) ? [hello.loop!.source, ...hello.tasks] : hello.tasks;
    const task = pick("task", tasks, hello.tasks.includes(source) ? source : (hello.loop?.source ?? ""));
    const robot = pick("robot", ["own robot", ...hello.robots], "own robot");
    const start = element("button", { "data-testid": "start", title: "End this loop and start the chosen task" }, ["Start"]);
    start.onclick = async () => {
      start.disabled = true;
      await this.ask("start", { task: task.value, robot: robot.selectedIndex === 0 ? "" : robot.value });
      start.disabled = false;
    };
    byId("scenario").replaceChildren(element("h2", {}, ["Scenario"]), element("div", { class: "line" }, [task, robot, start]));
  }

  private async ask(what: string, more: Record<string, unknown> = {}, done = ""): Promise<Answer> {
    const answer = await this.link.ask(what, more, SLOW.includes(what) ? LONG_MS : undefined);
    if (!answer.ok) this.notice(answer.error ?? "It was refused.");
    else if (done) this.notice(done, true);
    return answer;
  }

  /** Proposes another goal of the tool; a refusal leaves the one that there was. */
  private async aim(position: number[]): Promise<void> {
    const answer = await this.ask("aim", { position });
    if (!answer.ok && this.story) this.mission.show(this.story);
  }

  private async seek(): Promise<void> {
    const set = await this.ask("order", { order: "set_start" });
    if (set.ok) setTimeout(() => void this.ask("order", { order: "start" }), 100);
  }

  private async record(): Promise<void> {
    if (this.status?.recording) {
      const answer = await this.ask("stop_recording");
      if (answer.ok) this.notice(`Recorded: ${String(answer["recorded"])}`, true);
    } else await this.ask("record");
  }

  private freeze(on = byId("freeze").getAttribute("aria-pressed") !== "true"): void {
    const button = byId("freeze");
    button.setAttribute("aria-pressed", String(on));
    this.plots.pause(on);
  }

  private halt(): void {
    this.view.hands.release();
    void this.ask("halt");
  }

  private keys(): void {
    const hear = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLInputElement && event.target.type !== "range";
      if (event.key !== "Escape" && (event.key !== " " || typing)) return;
      event.preventDefault(); // of both: some browsers press the button that has the focus when the key comes up
      if (event.type === "keydown") this.halt();
    };
    for (const type of ["keydown", "keyup"] as const) window.addEventListener(type, hear, { capture: true });
  }

  // ---- looks ----

  private preferred(): boolean {
    const kept = localStorage.getItem("theme");
    return kept ? kept === "light" : window.matchMedia("(prefers-color-scheme: light)").matches;
  }

  private isLight(): boolean {
    return document.documentElement.dataset["theme"] === "light";
  }

  private theme(light: boolean): void {
    document.documentElement.dataset["theme"] = light ? "light" : "dark";
    localStorage.setItem("theme", light ? "light" : "dark");
    this.buttons.get("theme")!.textContent = light ? "☾" : "☀";
    this.view.theme(light);
    const channels = this.past?.recording.channels ?? this.hello?.channels;
    if (channels) this.plots.build(channels, light);
  }

  private notice(words: string, good = false): void {
    const box = byId("notice");
    box.textContent = words;
    box.classList.toggle("good", good);
    box.hidden = false;
    window.clearTimeout(this.noticeTimer);
    this.noticeTimer = window.setTimeout(() => (box.hidden = true), good ? 4000 : 9000);
  }
}

new Page();
