// The view and its pointer handling, or a text if it cannot be drawn.

import { byId, element } from "./dom";
import type { Link } from "./link";
import { View } from "./view";

const NO_VIEW = "No 3D view: this browser has no WebGL. Everything else works, including Stop.";

/** The view, whose drags are sent over `link`; null if the browser has no WebGL. */
export function viewOrWords(link: Link, aim: (position: number[]) => void): View | null {
  const low = new URLSearchParams(location.search).get("quality") === "low";
  try {
    const view = new View(byId("view"), byId("pushing"), low);
    view.hands.onPush = (force) => link.tell("push", { force });
    view.hands.onGoal = (position) => link.tell("goal", { position });
    view.hands.onForce = (force) => link.tell("virtual_push", { force });
    view.hands.onFloor = aim;
    return view;
  } catch (error) {
    console.warn(error);
    byId("view").append(element("p", { class: "overlay blind", "data-testid": "no-view", role: "status" }, [NO_VIEW]));
    return null;
  }
}
