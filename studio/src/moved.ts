// Whether a view would look otherwise than it was drawn: what no eye could tell apart is not drawn again.

import type { Vector } from "./force";
import { allFinite } from "./gaps";

/** What a view shows. */
export interface Scene {
  /** Seven numbers for each body: where it is [m], and its quaternion. */
  poses: ArrayLike<number>;
  /** Where the goal is [m], and its quaternion. */
  goal: ArrayLike<number>;
  /** Where the arrows begin, and the balls that can be taken hold of [m]. */
  places: Vector[];
  /** The arrows as they are drawn [m]; one that is too short to be seen is zero. */
  arrows: Vector[];
}

/** The least differences that can be seen. */
export interface Finest {
  /** Of a place [m]. */
  place: number;
  /** Of a direction [rad]. */
  turn: number;
  /** Of the length of an arrow [m]. */
  arrow: number;
}

const RADIANS = Math.PI / 180;
// A shift by less than this share of a pixel changes no picture that is worth drawing.
const SHARE_OF_A_PIXEL = 0.25;
// The last digit in which a force is written [N].
const FORCE_N = 0.1;

/** What can be seen from a distance [m] with so many rows of pixels; `size` is that of the arm [m]. */
export function finestOf(distance: number, fovDegrees: number, rows: number, size: number, metresPerNewton: number): Finest {
  const pixel = (2 * distance * Math.tan(0.5 * fovDegrees * RADIANS)) / Math.max(1, rows);
  const place = SHARE_OF_A_PIXEL * pixel;
  return { place, turn: place / size, arrow: Math.max(place, FORCE_N * metresPerNewton) };
}

/** Whether a scene looks otherwise than the one that was drawn; null: nothing was drawn yet. */
export function hasMoved(drawn: Scene | null, now: Scene, finest: Finest): boolean {
  if (drawn === null || drawn.poses.length !== now.poses.length) return true;
  for (let i = 0; i < now.poses.length; i += 7) if (poseDiffers(drawn.poses, now.poses, i, finest)) return true;
  return (
    poseDiffers(drawn.goal, now.goal, 0, finest) ||
    now.places.some((place, i) => differs(drawn.places[i]!, place, finest.place)) ||
    now.arrows.some((arrow, i) => differs(drawn.arrows[i]!, arrow, finest.arrow))
  );
}

function poseDiffers(drawn: ArrayLike<number>, now: ArrayLike<number>, at: number, finest: Finest): boolean {
  const shown = allFinite(now, at, 7); // what is nowhere is not drawn
  if (allFinite(drawn, at, 7) !== shown) return true;
  return shown && (differs(drawn, now, finest.place, at) || turned(drawn, now, at + 3) > finest.turn);
}

/** Whether a vector differs by more than `least`; one without numbers differs from any with them, and not from another without. */
function differs(drawn: ArrayLike<number>, now: ArrayLike<number>, least: number, at = 0): boolean {
  const known = allFinite(now, at, 3);
  if (allFinite(drawn, at, 3) !== known) return true;
  return known && Math.hypot(now[at]! - drawn[at]!, now[at + 1]! - drawn[at + 1]!, now[at + 2]! - drawn[at + 2]!) > least;
}

/** The angle between two quaternions [rad], if it is small; a quaternion and its negative are one direction. */
function turned(drawn: ArrayLike<number>, now: ArrayLike<number>, at: number): number {
  let [same, opposite] = [0, 0];
  for (let i = at; i < at + 4; i++) {
    same += (now[i]! - drawn[i]!) ** 2;
    opposite += (now[i]! + drawn[i]!) ** 2;
  }
  return 2 * Math.sqrt(Math.min(same, opposite));
}
