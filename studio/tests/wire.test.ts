import assert from "node:assert/strict";
import { test } from "node:test";

import { FRAME, HEADER_BYTES } from "../out/messages";
import { readFrame } from "../src/wire";
import { places } from "./declared";

function bytes(kind: number, rows: number, bodies: number, floats: number[]): ArrayBuffer {
  const data = new ArrayBuffer(HEADER_BYTES + 4 * floats.length);
  const view = new DataView(data);
  [kind, 7, rows, bodies].forEach((word, i) => view.setUint32(4 * i, word, true));
  view.setFloat64(16, 1.25, true);
  floats.forEach((value, i) => view.setFloat32(HEADER_BYTES + 4 * i, value, true));
  return data;
}

const POSES = [0, 0, 1, 1, 0, 0, 0];
const HEAD = places({ law: 1, ramp: 1 });

test("a frame is read as it was written", () => {
  const frame = readFrame(bytes(FRAME, 2, 1, [9, 8, ...POSES, 1, 2, 3, 4]), HEAD, 1, 2)!;
  assert.equal(frame.first, 7);
  assert.equal(frame.time, 1.25);
  assert.equal(frame.head.whole("law"), 9);
  assert.deepEqual([...frame.head.part("ramp")], [8]);
  assert.deepEqual([...frame.poses], POSES);
  assert.deepEqual([...frame.samples], [1, 2, 3, 4]);
});

test("what does not fit the description is no frame", () => {
  const good = [9, 8, ...POSES, 1, 2];
  assert.equal(readFrame(bytes(FRAME + 1, 1, 1, good), HEAD, 1, 2), null);
  assert.equal(readFrame(bytes(FRAME, 2, 1, good), HEAD, 1, 2), null);
  assert.equal(readFrame(bytes(FRAME, 1, 2, good), HEAD, 1, 2), null);
  assert.equal(readFrame(new ArrayBuffer(3), HEAD, 1, 2), null);
});
