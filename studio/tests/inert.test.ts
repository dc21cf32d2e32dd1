import assert from "node:assert/strict";
import { test } from "node:test";

import { whyInert, type Situation } from "../src/inert";
import type { MissionWords, Status } from "../src/wire";
import { law } from "./declared";

const RUNNING = { status: "running" } as Status;
const NOW: Situation = {
  open: true, past: false, status: RUNNING, loop: { mission: null, pushable: true, robot: "sim:ur5e" }, law: law(), halted: false,
};

test("a push on a simulated arm under a compliant law has an effect", () => {
  for (const what of ["arm", "goal", "force"] as const) assert.equal(whyInert(what, NOW), "");
  assert.equal(whyInert("arm", { ...NOW, law: law({ no_goal: "follows its own path" }) }), "");
});

test("a drag without effect says why, and what to do", () => {
  const real = { mission: null, pushable: false, robot: "ur:10.0.0.2" };
  const driving = { mission: {} as MissionWords, pushable: false, robot: "sim:ur5e" };
  assert.match(whyInert("arm", { ...NOW, past: true }), /recording.*Press Live/);
  assert.match(whyInert("arm", { ...NOW, open: false }), /not connected/);
  for (const status of ["ended", "fault", "starting"]) assert.match(whyInert("goal", { ...NOW, status: { ...RUNNING, status } }), /no loop is running.*Press Start/);
  assert.match(whyInert("arm", { ...NOW, loop: driving }), /mission.*Click the map/);
  assert.match(whyInert("arm", { ...NOW, loop: real }), /Push ur:10.0.0.2 by hand/);
  assert.equal(whyInert("goal", { ...NOW, loop: real }), "");
  assert.match(whyInert("arm", { ...NOW, halted: true }), /stopped.*Press Resume/);
  const stiff = law({ name: "stiff", no_push: "keeps the arm in place", no_goal: "follows a joint goal", no_virtual_push: "does not respond to forces" });
  assert.equal(whyInert("arm", { ...NOW, law: stiff }), "No effect: the law stiff keeps the arm in place.");
  assert.match(whyInert("goal", { ...NOW, law: stiff }), /joint goal/);
  assert.match(whyInert("force", { ...NOW, law: stiff }), /does not respond to forces/);
});
