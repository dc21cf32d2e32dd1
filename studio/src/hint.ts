// The line below the view: what can be done here, and whether this is the live robot.

import { byId } from "./dom";

const HOW = window.matchMedia("(pointer: coarse)").matches ? "pinch to zoom" : "wheel to zoom · Space stops";
const HINTS = {
  arm: `Drag the arm to push it · drag empty space to orbit · ${HOW}`,
  mission: `Click the map to set another goal · drag to orbit · ${HOW}`,
};

/** Shows what can be done with an arm or a mission, or that this is a recording and not live. */
export function showHint(driving: boolean, recording?: string): void {
  const live = driving ? HINTS.mission : HINTS.arm;
  byId("hint").textContent = recording === undefined ? live : `Recording, not live: ${recording} · drag to orbit · ${HOW}`;
  byId("hint").classList.toggle("past", recording !== undefined);
}
