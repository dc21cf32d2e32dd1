// What the page shows for a mission: its card, its path on the map, its stages, and the button that begins it.

import { byId } from "./dom";
import { stageAt, stagesOf, type MissionCard } from "./mission";
import type { Ring } from "./ring";
import type { View } from "./view";
import type { Hello, MissionWords, MissionLog } from "./wire";

export class MissionDisplay {
  /** What the mission has last reported. */
  missionLog: MissionLog | null = null;

  constructor(
    private readonly card: MissionCard,
    private readonly view: View | null,
    private readonly begin: HTMLButtonElement,
  ) {}

  /** Shows what a mission reports; `words` is null while a recording is shown, which keeps view and stages. */
  follow(missionLog: MissionLog, words: MissionWords | null): void {
    this.missionLog = missionLog;
    this.card.show(missionLog);
    this.begin.disabled = missionLog.moving || missionLog.seeking;
    this.begin.textContent = ["done", "stopped"].includes(missionLog.stage) ? "Begin again" : "Begin";
    if (!words) return;
    this.view?.floor.show(missionLog);
    this.view?.redraw();
    const last = missionLog.log[missionLog.log.length - 1]?.[2] ?? "";
    this.showStage(words, missionLog.stage, missionLog.seeking ? "searching for a base pose and a path" : last);
  }

  /** Goes back to the last report, after a rejected goal. */
  restore(): void {
    if (this.missionLog) this.card.show(this.missionLog);
  }

  /** Shows the progress of a recorded mission at a time [s]. */
  replay(missionLog: MissionLog, words: MissionWords | null, base: number[][], time: number): void {
    this.view?.floor.follow(base);
    this.view?.redraw();
    const { stage, why } = stageAt(missionLog.log, time);
    if (words) this.showStage(words, stage, why);
  }

  measure(hello: Hello, ring: Ring): void {
    this.card.measure((name) => ring.newest(hello.channels.findIndex((channel) => channel.name === name)));
  }

  hide(hidden: boolean): void {
    this.card.hide(hidden);
    this.begin.hidden = hidden;
  }

  private showStage(words: MissionWords, stage: string, why: string): void {
    document.body.dataset["stage"] = stage;
    byId("state").hidden = false;
    byId("state").dataset["told"] = "";
    byId("state").replaceChildren(...stagesOf(words, stage, why));
  }
}
