// What the page shows of a mission: its card, its path on the map, its stages, and the button that begins it.

import { byId } from "./dom";
import { stageAt, stagesOf, type MissionCard } from "./mission";
import type { Ring } from "./ring";
import type { View } from "./view";
import type { Hello, MissionWords, Story } from "./wire";

export class MissionDisplay {
  /** What the mission has last reported. */
  story: Story | null = null;

  constructor(
    private readonly card: MissionCard,
    private readonly view: View | null,
    private readonly begin: HTMLButtonElement,
  ) {}

  /** Shows what a mission reports; `words` is null while a recording is shown, which keeps view and stages. */
  follow(story: Story, words: MissionWords | null): void {
    this.story = story;
    this.card.show(story);
    this.begin.disabled = story.moving || story.seeking;
    this.begin.textContent = ["done", "stopped"].includes(story.stage) ? "Begin again" : "Begin";
    if (!words) return;
    this.view?.floor.show(story);
    this.view?.redraw();
    const last = story.log[story.log.length - 1]?.[2] ?? "";
    this.showStage(words, story.stage, story.seeking ? "searching for a base pose and a path" : last);
  }

  /** Goes back to what was reported last, after a goal that was refused. */
  restore(): void {
    if (this.story) this.card.show(this.story);
  }

  /** Shows how far a recorded mission had come at a time [s]. */
  replay(story: Story, words: MissionWords | null, base: number[][], time: number): void {
    this.view?.floor.follow(base);
    this.view?.redraw();
    const { stage, why } = stageAt(story.log, time);
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
