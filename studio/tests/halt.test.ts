import assert from "node:assert/strict";
import { afterEach, before, beforeEach, test } from "node:test";

import { Halt } from "../src/halt";
import { Link } from "../src/link";
import { Clock, until } from "./clock";
import { OtherEnd } from "./line";

let clock: Clock;
let end: OtherEnd;
let link: Link;
let halt: Halt;
let doubts: number[];
let answers: number[];
let open: boolean;
let port: number;

before(async () => {
  const first = new OtherEnd(); // Node makes its first socket with timers of its own, which must be the real ones
  await first.open();
  const socket = new WebSocket(`ws://${location.host}`);
  await until(() => socket.readyState === WebSocket.OPEN);
  await first.close();
});

beforeEach(async () => {
  end = new OtherEnd();
  port = await end.open();
  clock = new Clock();
  clock.start();
  link = new Link();
  halt = new Halt(link);
  [doubts, answers, open] = [[], [], false];
  link.onOpen = (now) => (open = now);
  halt.onDoubt = () => doubts.push(clock.now);
  halt.onAnswer = (_, late) => answers.push(late);
  link.connect();
  await until(() => open);
});

afterEach(async () => {
  link.connect = () => {}; // it would come back for ever
  clock.stop();
  await end.close();
});

const stops = () => end.heard.filter((said) => said.do === "halt").length;

test("a stop that is confirmed at once says nothing else", async () => {
  halt.press();
  await until(() => answers.length === 1);
  clock.advance(10_000);
  assert.deepEqual(answers, [0]);
  assert.deepEqual(doubts, []);
  assert.equal(stops(), 1);
});

test("a stop on a line that hangs is doubted after a second, and sent first on a new line", async () => {
  end.answers = false;
  halt.press();
  await until(() => stops() === 1);
  clock.advance(999);
  assert.deepEqual(doubts, []);
  clock.advance(1);
  assert.deepEqual(doubts, [1000]);
  assert.deepEqual(answers, []);
  end.answers = true;
  clock.advance(250);
  await until(() => answers.length === 1);
  assert.deepEqual(answers, [1.25]);
  assert.equal(stops(), 2);
  halt.press();
  await until(() => answers.length === 2);
  assert.equal(answers[1], 0);
});

test("a line on which something comes is kept, and a late answer on it confirms", async () => {
  end.answers = false;
  halt.press();
  await until(() => stops() === 1);
  clock.advance(500);
  end.say({ type: "status" });
  await until(() => link.heard === 500);
  clock.advance(800);
  assert.deepEqual(doubts, [1000]);
  assert.ok(open);
  end.say({ type: "answer", id: end.heard[0]!.id, ok: true });
  await until(() => answers.length === 1);
  assert.deepEqual(answers, [1.3]);
  assert.equal(stops(), 1);
});

test("a stop without a line is doubted at once, and is the first word when the line is back", async () => {
  await end.close();
  await until(() => !open);
  halt.press();
  await until(() => doubts.length > 0); // no time has passed
  end.heard.length = 0;
  link.onOpen = () => link.tell("goal", { position: [0, 0, 0] });
  await end.open(port);
  clock.advance(250);
  await until(() => answers.length === 1);
  assert.equal(end.heard[0]!.do, "halt");
  assert.deepEqual(answers, [0.25]);
});

test("a line that is lost before the answer is doubted at once", async () => {
  end.answers = false;
  halt.press();
  await until(() => stops() === 1);
  await end.close();
  await until(() => doubts.length > 0); // no time has passed
  end.answers = true;
  await end.open(port);
  clock.advance(250);
  await until(() => answers.length === 1);
  assert.equal(stops(), 2);
});

for (const [words, said] of [
  ["that it was not heard", { ok: true, heard: false }],
  ["that it could not be sent", { ok: false, error: "its queue is full" }],
] as const) {
  test(`a stop of which the Studio says ${words} is doubted, and sent again until it is heard`, async () => {
    end.answers = false;
    halt.press();
    await until(() => stops() === 1);
    clock.advance(10);
    end.say({ type: "answer", id: end.heard[0]!.id, ...said });
    await until(() => doubts.length > 0); // no more time has passed
    assert.deepEqual(answers, []);
    end.answers = true;
    end.says = { ok: true, heard: true };
    clock.advance(990);
    await until(() => answers.length === 1);
    assert.deepEqual(answers, [1]);
    assert.equal(stops(), 2);
  });
}

test("where no loop runs there is nothing to be doubted", async () => {
  end.says = { ok: false, idle: true };
  halt.press();
  await until(() => answers.length === 1);
  clock.advance(10_000);
  assert.deepEqual(doubts, []);
});
