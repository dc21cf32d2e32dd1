// Whether a view would look different from the last drawing: invisible changes are not drawn.

import type { Vector } from "./force";
import { allFinite } from "./gaps";

/** What a view shows. */
export interface Scene {
  /** Seven numbers for each body: position [m] and quaternion. */
  poses: ArrayLike<number>;
  /** Position [m] and quaternion of the goal. */
  goal: ArrayLike<number>;
  /** Positions of the arrows, and of the balls that can be dragged [m]. */
  places: Vector[];
  /** The arrows as drawn [m]; one too short to see is zero. */
  arrows: Vector[];
}

/** The smallest visible differences. */
export interface Finest {
  /** Of a place [m]. */
  place: number;
  /** Of a direction [rad]. */
  turn: number;
  /** Of the length of an arrow [m]. */
  arrow: number;
}

const RADIANS = Math.PI / 180;
// A shift by less than this share of a pixel is not drawn.
const SHARE_OF_A_PIXEL = 0.25;
// The resolution of a displayed force [N].
const FORCE_N = 0.1;

/** The smallest visible differences from a distance [m] with this many rows of pixels; `size` is that of the arm [m].
*/ export function finestOf(distance: number, fovDegrees: number, rows: number, size: number, metresPerNewton: number):
Finest {
  const pixel = (2 * distance * Math.tan(0.5 * fovDegrees * RADIANS)) / Math.max(1, rows);
  const place = SHARE_OF_A_PIXEL * pixel;
  return { place, turn: place / size, arrow: Math.max(place, FORCE_N * metresPerNewton) };
}

/** Whether a scene looks different from the one that was drawn; null: nothing has been drawn yet. */
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

/** Whether a vector differs by more than `least`; one without numbers differs only from one with numbers. */
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
