// The page: connects its parts. It has no state of its own: it shows what the loop reports.

import { Archive, type Shown } from "./archive";
import { Buttons, LAW } from "./buttons";
import { alarm, byId, element, notice, urgent, write } from "./dom";
import { worded } from "./gaps";
import { Halt, UNSURE } from "./halt";
import { Handles } from "./handles";
import { showHint } from "./hint";
import { whyInert } from "./inert";
import { Labels } from "./labels";
import { LawDisplay } from "./law_display";
import { onStopKey } from "./keys";
import { Link, LONG_MS } from "./link";
import { MissionCard } from "./mission";
import { MissionDisplay } from "./mission_display";
import { Pace, WORDS_HZ } from "./pace";
import { Panel } from "./panel";
import { Plots } from "./plots";
import { Ring } from "./ring";
import { chooser } from "./scenario";
import { LOOK_MS, Silence } from "./silence";
import { isLive, showAge, showStatus, statusInWords } from "./status";
import { isLight, preferredLight, putLight } from "./theme";
import { VIEWS } from "./camera";
import { viewOrWords } from "./sight";
import type { View } from "./view";
import { faultInWords, readFrame, type Answer, type Asks, type Frame, type Hello, type Incoming, type InForce, type LoopWords, type Request, type Status, type MissionLog } from "./wire";

const KEPT = 3000;
// Requests that may take long, because something is compiled or searched first.
const SLOW: Request[] = ["start", "begin", "aim"];

class Page {
  private readonly link = new Link();
  private readonly stopping = new Halt(this.link);
  private readonly silence = new Silence();
  /** Null if the browser cannot draw; everything else works. */
  private readonly view: View | null;
  private readonly plots: Plots;
  private readonly panel: Panel;
  private readonly handles: Handles;
  private readonly archive: Archive;
  private readonly mission: MissionDisplay;
  private readonly running: LawDisplay;
  private past: Shown | null = null;
  private ring = new Ring(1, 2);
  /** The newest frame of the loop; it is kept while a recording is shown. */
  private newest: Frame | null = null;
  private readonly words = new Pace();
  private hello: Hello | null = null;
  private status: Status | null = null;
  private open = false;
  private readonly buttons: Buttons;

  constructor() {
    this.buttons = this.makeStop(); // first: whatever else this browser cannot do, it can stop the robot
    const aim = (position: number[]) => void this.aim(position);
    this.plots = new Plots(byId("plots"));
    this.view = viewOrWords(this.link, aim);
    this.mission = new MissionDisplay(new MissionCard(byId("mission"), aim), this.view, this.buttons.get("begin"));
    this.handles = new Handles(byId("handles"), (what, more) => void this.ask(what, more));
    this.panel = new Panel(byId("dynamics"), byId("more"), this.link, notice);
    this.running = new LawDisplay({ panel: this.panel, plots: this.plots, view: this.view, handles: this.handles, buttons: this.buttons });
    this.archive = new Archive(byId("archive"), this.link, notice);
    this.archive.onShow = (shown) => this.show(shown);
    this.explainInert();
    this.plots.onZoom = () => !this.past && this.freeze(true);
    this.plots.onSight = () => this.plot(!isLive(this.status));
    document.addEventListener("visibilitychange", () => this.refresh());
    this.makeViews();
    this.link.onMessage = (message) => this.hear(message);
    this.link.onFrame = (data) => this.frame(data);
    this.link.onOpen = (open) => this.opened(open);
    window.setInterval(() => this.age(), LOOK_MS);
    new ResizeObserver(() => this.plots.resize()).observe(byId("plots"));
    this.theme(preferredLight());
  }

  /** Connection, buttons and keys: everything that a stop needs. */
  private makeStop(): Buttons {
    const halt = () => this.halt();
    const ask = <K extends Request>(what: K, more: Asks<K>, done?: string) => void this.ask(what, more, done);
    const changeLook = () => !this.theme(!isLight()) && notice("This browser does not store settings: the choice of colours lasts until you leave the page.");
    const made = new Buttons(byId("buttons"), { ask, record: () => void this.record(), changeLook, halt });
    onStopKey(halt);
    urgent.stop = halt;
    this.stopping.onDoubt = () => alarm(UNSURE);
    this.stopping.onAnswer = (answer, late) => this.stopped(answer, late);
    this.link.connect();
    return made;
  }

  /** Says why a drag in the view has no effect. */
  private explainInert(): void {
    if (!this.view) return;
    this.view.hands.onInert = notice;
    this.view.hands.whyInert = (what) =>
      whyInert(what, { open: this.open, past: this.past !== null, status: this.status, loop: this.hello?.loop ?? null, law: this.running.law, halted: this.running.halted });
  }

  // ---- received ----

  private opened(open: boolean): void {
    this.open = open;
    if (!open) {
      this.view?.hands.release();
      this.plot(true);
    }
    this.showStatus();
  }

  /** Shows how old the newest frame is, if newer ones are due. */
  private age(): void {
    const seconds = this.silence.look(performance.now());
    showAge(byId("age"), this.hello?.loop && isLive(this.status) ? seconds : 0);
  }

  private hear(message: Incoming): void {
    if (message.type === "hello") this.greet(message);
    else if (message.type === "status") {
      if (message.mishap && message.mishap !== this.status?.mishap) notice(message.mishap);
      if (isLive(message) && !isLive(this.status)) this.silence.hear(performance.now());
      this.status = message;
      this.panel.setKept(message.kept);
      this.archive.setBusy(message.busy);
      this.showStatus();
      if (!isLive(this.status)) this.refresh();
    } else if (message.type === "parameters") this.take(message);
    else if (message.type === "mission") this.follow(message);
    else if (!message.ok && message.id === null) notice(message.error);
  }

  private take(now: InForce): void {
    this.panel.take(now);
    this.running.showBands(this.hello!);
  }

  private greet(hello: Hello): void {
    this.view?.hands.drop(); // a drag means nothing to another robot
    const sameLoop = hello.loop !== null && hello.loop.name === this.hello?.loop?.name;
    this.hello = hello;
    this.silence.hear(performance.now());
    this.link.run = hello.number;
    const labels = new Labels(hello.parameters, hello.laws);
    this.link.words = (text) => labels.of(text);
    this.past = null;
    this.ring = new Ring(hello.channels.length, KEPT);
    this.newest = null;
    this.clear(hello.channels);
    chooser(byId("scenario"), hello, (task, robot, record) => this.ask("start", { task, robot, record }));
    const loop = hello.loop;
    this.archive.build(hello);
    byId("loop").textContent = loop ? `${loop.rate_hz} Hz · ${loop.task} · ${loop.robot.split("/").pop()}` : "";
    document.body.dataset["loop"] = loop?.name ?? "";
    this.furnish(loop);
    if (!loop) return;
    this.live(loop);
    this.view?.build(loop.shapes, loop.bodies, loop.up, loop.mission);
    this.running.reset();
    if (loop.now.type === "mission") return this.follow(loop.now);
    this.handles.build(loop.up);
    if (!sameLoop) this.panel.build(hello, loop, loop.now);
    this.take(loop.now);
  }

  /** Shows what belongs to an arm under a law, or to a mission, and nothing of the other. */
  private furnish(loop: LoopWords | null): void {
    const driving = Boolean(loop?.mission);
    for (const id of ["dynamics", "more", "force", "law"]) byId(id).hidden = driving;
    if (driving) byId("handles").hidden = true;
    for (const id of LAW) this.buttons.get(id).hidden = driving;
    this.buttons.setLaw(null);
    this.mission.hide(!driving);
    showHint(driving, this.past?.recording.name);
    byId("state").hidden = !driving;
    byId("cuts").replaceChildren();
  }

  private live(loop: LoopWords | null | undefined): void {
    const driving = Boolean(loop?.mission);
    if (!this.view) return;
    this.view.hands.pushable = loop?.pushable ?? false;
    this.view.hands.movable = Boolean(loop) && !driving;
    this.view.hands.aimable = driving;
  }

  /** Shows what a mission reports. */
  private follow(missionLog: MissionLog): void {
    this.mission.follow(missionLog, this.past ? null : (this.hello?.loop?.mission ?? null));
  }

  private frame(data: ArrayBuffer): void {
    const hello = this.hello;
    if (!hello?.loop) return;
    const frame = readFrame(data, hello.head, hello.loop.bodies, hello.channels.length);
    if (!frame) return;
    this.silence.hear(performance.now());
    this.ring.add(frame.samples, frame.rows);
    this.newest = frame;
    this.showFrame(frame, hello);
    this.plot(!isLive(this.status));
  }

  private plot(last: boolean): void {
    if (!this.past) this.plots.draw(this.ring, performance.now(), this.view?.rests ?? false, last);
  }

  /** Redraws what is shown: a loop that has ended sends no more frames. */
  private refresh(): void {
    if (this.newest) this.showFrame(this.newest, this.hello!);
    if (this.past) this.show(this.past);
    else this.plot(true);
  }

  private showFrame(frame: Frame, hello: Hello): void {
    const head = frame.head;
    const force = head.part("force");
    if (!this.past) {
      const look = { goal: head.part("goal"), tool: head.part("tool"), force, arrow: head.part("arrow"), push: head.part("push"), base: head.part("base") };
      this.view?.show(frame.poses, look);
    }
    document.body.dataset["time"] = frame.time.toFixed(3);
    const tells = this.words.isDue(performance.now(), isLive(this.status) ? WORDS_HZ : Number.POSITIVE_INFINITY);
    if (hello.loop!.mission) return tells ? this.mission.measure(hello, this.ring) : undefined;
    this.handles.show(head.part("goal"), head.part("push"));
    if (tells) write(byId("force"), `|F| ${worded(Math.hypot(force[0]!, force[1]!, force[2]!), 1)} N`);
    this.running.show(hello, head, this.ring, this.past !== null);
  }

  /** Shows a moment of a recording; null goes back to the loop. */
  private show(shown: Shown | null): void {
    const loop = this.hello?.loop;
    if (shown === null) {
      const was = this.past;
      this.past = null;
      showHint(Boolean(loop?.mission));
      this.live(loop);
      if (was && loop) this.stage(loop, this.hello!.channels, this.running.law?.name ?? "");
      return this.refresh();
    }
    const { recording, at } = shown;
    const before = this.past;
    this.past = shown;
    if (before?.recording !== recording) {
      this.stage(recording, recording.channels, recording.law);
      if (recording.mission_log) this.view?.floor.show(recording.mission_log);
    }
    showHint(Boolean(loop?.mission), recording.name);
    this.live(null);
    const { goal, tool, force, arrow, push, base } = recording;
    this.view?.show(recording.poses[at]!, { goal: goal[at]!, tool: tool[at]!, force: force[at]!, arrow: arrow[at]!, push: push[at]!, base: base[at]! });
    this.plots.past(recording.columns, shown.otherwise, at);
    if (recording.mission_log) this.mission.replay(recording.mission_log, recording.mission, base.slice(0, at + 1), recording.columns[0]![at] ?? 0);
  }

  /** Clears the view and the plots for another scene. */
  private stage(cell: Pick<LoopWords, "shapes" | "bodies" | "up" | "mission">, channels: Hello["channels"], law: string): void {
    this.view?.build(cell.shapes, cell.bodies, cell.up, cell.mission);
    this.clear(channels);
    this.plots.setLaw(law);
    byId("state").hidden = true;
    if (!this.past && this.mission.missionLog && cell.mission) this.follow(this.mission.missionLog);
  }

  /** Rebuilds the plots; frozen ones are lost. */
  private clear(channels: Hello["channels"]): void {
    this.plots.build(channels);
    this.freeze(false);
  }

  private showStatus(): void {
    showStatus(byId("status"), statusInWords(this.open, this.status));
    if (this.open && this.status?.status === "fault") notice(faultInWords(this.status));
    const record = this.buttons.get("record");
    const on = Boolean(this.status?.recording);
    record.textContent = on ? "Stop recording" : "Record";
    record.setAttribute("aria-pressed", String(on));
  }

  // ---- requests ----

  private makeViews(): void {
    byId("freeze").onclick = () => {
      this.freeze();
      this.refresh();
    };
    for (const name of VIEWS) {
      const made = element("button", { "data-testid": `view-${name}` }, [name]);
      made.onclick = () => this.view?.look(name);
      byId("views").append(made);
    }
  }

  private async ask<K extends Request>(what: K, more: Asks<K>, done = ""): Promise<Answer<K>> {
    const answer = await this.link.ask(what, more, SLOW.includes(what) ? LONG_MS : undefined);
    if (!answer.ok) notice(answer.error);
    else if (done) notice(done, true);
    return answer;
  }

  /** Requests another goal of the tool; if it is rejected, the old one stays. */
  private async aim(position: number[]): Promise<void> {
    const answer = await this.ask("aim", { position });
    if (!answer.ok) this.mission.restore();
  }

  private async record(): Promise<void> {
    if (!this.status?.recording) return void (await this.ask("record", {}));
    const answer = await this.ask("stop_recording", {});
    if (answer.ok) notice(`Saved recording: ${answer.recorded}`, true);
  }

  private freeze(on = byId("freeze").getAttribute("aria-pressed") !== "true"): void {
    const button = byId("freeze");
    button.setAttribute("aria-pressed", String(on));
    this.plots.pause(on, this.ring);
  }

  private halt(): void {
    this.stopping.press();
    this.view?.hands.release();
  }

  private stopped(answer: Answer<"halt">, late: number): void {
    alarm("");
    if (!answer.ok) notice(answer.error);
    else if (late) notice(`Stop confirmed ${late.toFixed(1)} s after you pressed it.`, true);
  }

  // ---- appearance ----

  /** Switches to dark or light; returns whether the choice is stored. */
  private theme(light: boolean): boolean {
    const kept = putLight(light);
    const button = this.buttons.get("theme");
    button.textContent = light ? "☾" : "☀";
    button.ariaLabel = button.title = light ? "Dark colours" : "Light colours";
    this.view?.theme(light);
    this.plots.theme(light);
    return kept;
  }
}

new Page();
