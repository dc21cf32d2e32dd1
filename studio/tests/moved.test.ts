import assert from "node:assert/strict";
import { test } from "node:test";

import type { Vector } from "../src/force";
import { finestOf, hasMoved, type Scene } from "../src/moved";

// an arm of a metre, seen from three metres with 600 rows: a pixel is about 3 mm
const FINEST = finestOf(3, 36, 600, 1, 0.02);
const NOWHERE = Array<number>(7).fill(Number.NaN);

function scene(changes: Partial<Scene> = {}): Scene {
  const poses = [0, 0, 0, 1, 0, 0, 0, 0.1, 0.2, 0.3, 1, 0, 0, 0];
  const arrows: Vector[] = [[0, 0, 0.1], [0, 0, 0], [0, 0, 0]];
  return { poses, goal: [0.5, 0, 0.5, 1, 0, 0, 0], places: [[0.1, 0.2, 0.3]], arrows, ...changes };
}

function placed(shift: number): Scene {
  return scene({ poses: [0, 0, 0, 1, 0, 0, 0, 0.1 + shift, 0.2, 0.3, 1, 0, 0, 0] });
}

function turned(angle: number, sign = 1): Scene {
  const [c, s] = [sign * Math.cos(0.5 * angle), sign * Math.sin(0.5 * angle)];
  return scene({ poses: [0, 0, 0, 1, 0, 0, 0, 0.1, 0.2, 0.3, c, s, 0, 0] });
}

function pressed(metres: number): Scene {
  return scene({ arrows: [[0, 0, 0.1 + metres], [0, 0, 0], [0, 0, 0]] });
}

test("the first scene is drawn, and so is one with other bodies", () => {
  assert.ok(hasMoved(null, scene(), FINEST));
  assert.ok(hasMoved(scene(), scene({ poses: [0, 0, 0, 1, 0, 0, 0] }), FINEST));
});

test("what stays where it was is not drawn again", () => {
  assert.equal(hasMoved(scene(), scene(), FINEST), false);
});

test("a body is drawn again when it moves by a pixel, and not for a tenth of one", () => {
  assert.equal(hasMoved(scene(), placed(0.0003), FINEST), false);
  assert.ok(hasMoved(scene(), placed(0.003), FINEST));
});

test("the nearer one looks and the more pixels there are, the less is overlooked", () => {
  const near = finestOf(0.3, 36, 600, 1, 0.02);
  const fine = finestOf(3, 36, 6000, 1, 0.02);
  for (const finest of [near, fine]) assert.ok(hasMoved(scene(), placed(0.0003), finest));
});

test("a body is drawn again when it turns, whichever of two quaternions says so", () => {
  assert.equal(hasMoved(scene(), turned(0.0003), FINEST), false);
  assert.equal(hasMoved(scene(), turned(0, -1), FINEST), false);
  assert.ok(hasMoved(scene(), turned(0.003), FINEST));
  assert.ok(hasMoved(scene(), turned(0.003, -1), FINEST));
});

test("an arrow is drawn again for a tenth of a newton, and not for a twentieth", () => {
  assert.equal(hasMoved(scene(), pressed(0.02 * 0.05), FINEST), false);
  assert.ok(hasMoved(scene(), pressed(0.02 * 0.11), FINEST));
});

test("what comes from nowhere or goes there is drawn again, and what stays nowhere is not", () => {
  const gone = scene({ goal: NOWHERE });
  const unturned = scene({ goal: [0.5, 0, 0.5, Number.NaN, 0, 0, 0] });
  for (const hidden of [gone, unturned]) {
    assert.ok(hasMoved(scene(), hidden, FINEST));
    assert.ok(hasMoved(hidden, scene(), FINEST));
    assert.equal(hasMoved(hidden, hidden, FINEST), false);
  }
  assert.ok(hasMoved(scene(), scene({ places: [[0.1, 0.2, 0.31]] }), FINEST));
  assert.ok(hasMoved(scene(), scene({ places: [[Number.NaN, 0, 0]] }), FINEST));
});
