// The keys that turn the view, while it has the focus.

import type { OrbitControls } from "three/addons/controls/OrbitControls.js";

// A press of an arrow turns by this angle [rad]; one of plus or minus changes the distance by this ratio.
const ANGLE = Math.PI / 24;
const RATIO = 0.9;

const KEYS: Record<string, (controls: OrbitControls) => void> = {
  ArrowLeft: (controls) => controls.rotateLeft(ANGLE),
  ArrowRight: (controls) => controls.rotateLeft(-ANGLE),
  ArrowUp: (controls) => controls.rotateUp(ANGLE),
  ArrowDown: (controls) => controls.rotateUp(-ANGLE),
  "+": (controls) => controls.dollyIn(RATIO),
  "=": (controls) => controls.dollyIn(RATIO), // the same key, without Shift
  "-": (controls) => controls.dollyOut(RATIO),
};

/** Lets arrow keys orbit, and plus and minus zoom; `controls` returns the current controls. */
export function turnByKeys(holder: HTMLElement, controls: () => OrbitControls): void {
  holder.addEventListener("keydown", (event) => {
    const turn = KEYS[event.key];
    if (!turn || event.target !== holder || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    turn(controls());
  });
}
