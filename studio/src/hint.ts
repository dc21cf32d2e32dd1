// The line below the view: what a hand can do here, and whether this is the robot at all.

import { byId } from "./dom";

const HOW = window.matchMedia("(pointer: coarse)").matches ? "pinch to zoom" : "wheel to zoom · Space stops";
const HINTS = {
  arm: `Drag the arm to push it · drag empty space to orbit · ${HOW}`,
  mission: `Click the map to set another goal · drag to orbit · ${HOW}`,
};

/** Says what can be done with an arm or a mission, or, with the name of a recording, that it is not what the robot does now. */
export function showHint(driving: boolean, recording?: string): void {
  const live = driving ? HINTS.mission : HINTS.arm;
  byId("hint").textContent = recording === undefined ? live : `Recording, not live: ${recording} · drag to orbit · ${HOW}`;
  byId("hint").classList.toggle("past", recording !== undefined);
}
