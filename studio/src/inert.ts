// Why a drag in the view has no effect: a push, a goal or a virtual push to which nothing would respond.

import { isLive } from "./status";
import type { LawWords, LoopWords, Status } from "./wire";

export interface Situation {
  /** Whether the page is connected. */
  open: boolean;
  /** Whether a recording is shown. */
  past: boolean;
  status: Status | null;
  loop: Pick<LoopWords, "mission" | "pushable" | "robot"> | null;
  law: Pick<LawWords, "name" | "no_push" | "no_goal" | "no_virtual_push"> | null;
  halted: boolean;
}

const REASONS = { arm: "no_push", goal: "no_goal", force: "no_virtual_push" } as const;

/** The reason, with what to do about it; "" where a drag has an effect. */
export function whyInert(what: "arm" | "goal" | "force", now: Situation): string {
  if (now.past) return "No effect: this is a recording. Press Live to go back to the robot.";
  if (!now.open) return "No effect: the page is not connected to the Studio. It reconnects by itself.";
  if (!now.loop || !isLive(now.status)) return "No effect: no loop is running. Press Start to run a task.";
  if (now.loop.mission) return "No effect: the arm of a mission cannot be pushed. Click the map to set another goal.";
  if (what === "arm" && !now.loop.pushable) return `No effect: the page can push simulated arms only. Push ${now.loop.robot} by hand.`;
  if (now.halted) return "No effect while the robot is stopped. Press Resume first.";
  const why = now.law?.[REASONS[what]] ?? "";
  return why ? `No effect: the law ${now.law!.name} ${why}.` : "";
}
