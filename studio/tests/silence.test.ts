import assert from "node:assert/strict";
import { test } from "node:test";

import { LOOK_MS, Silence } from "../src/silence";
import { isLive, statusInWords } from "../src/status";
import type { Status } from "../src/wire";

const status = (name: string, reason = "") => ({ status: name, reason }) as Status;

/** Checks repeatedly until `end` [ms]; returns the last result. */
function lookUntil(silence: Silence, end: number, from = 0): number {
  let said = 0;
  for (let now = from; now <= end; now += LOOK_MS) said = silence.look(now);
  return said;
}

test("what came within two seconds is news, and later it is old by so many seconds", () => {
  const silence = new Silence();
  silence.hear(0);
  assert.equal(lookUntil(silence, 1500), 0);
  assert.equal(lookUntil(silence, 2000, 2000), 2);
  assert.equal(lookUntil(silence, 7500, 2500), 7);
  silence.hear(7600);
  assert.equal(silence.look(8000), 0);
});

test("a page that was asleep says nothing before it has listened", () => {
  const silence = new Silence();
  silence.hear(0);
  lookUntil(silence, 1000);
  assert.equal(silence.look(60_000), 0);
  assert.equal(silence.look(60_000 + LOOK_MS), 60);
});

test("a state that the page does not know is told in its own words, and as nothing good", () => {
  assert.deepEqual(statusInWords(true, status("silent", "the loop has written nothing for 3 s")), {
    words: "silent: the loop has written nothing for 3 s",
    kind: "bad",
  });
  assert.deepEqual(statusInWords(true, status("dreaming")), { words: "dreaming", kind: "bad" });
});

test("the states that it knows are short, and without a line there is none", () => {
  assert.deepEqual(statusInWords(true, status("running")), { words: "running", kind: "good" });
  assert.deepEqual(statusInWords(true, status("none")), { words: "no loop", kind: "warn" });
  assert.deepEqual(statusInWords(true, status("fault", "too far")), { words: "fault", kind: "bad" });
  assert.deepEqual(statusInWords(true, null), { words: "connecting", kind: "warn" });
  assert.deepEqual(statusInWords(false, status("running")), { words: "no connection", kind: "bad" });
});

test("news are expected of a loop that runs, and of none that has ended or not begun", () => {
  assert.ok(isLive(status("running")) && isLive(status("silent")));
  for (const name of ["none", "starting", "ended", "fault"]) assert.ok(!isLive(status(name)), name);
  assert.ok(!isLive(null));
});
