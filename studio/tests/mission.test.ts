import assert from "node:assert/strict";
import { test } from "node:test";

import { stageAt, pathInWords } from "../src/mission";
import { plotsOf } from "../src/lines";
import type { MissionLog } from "../src/wire";
import { channel } from "./declared";

const LOG: MissionLog["log"] = [[0, "A", "the mission begins"], [1.3, "B", "the arm is parked"], [9, "C", "the base stands"]];
const MISSION_LOG: MissionLog = { stage: "B", moving: true, seeking: false, log: LOG, goal: [], stand: null, path: [], figures: [6.62, 0.4, 1] };

test("the stage at a time is the last that was entered before", () => {
  assert.equal(stageAt(LOG, 1.29).stage, "A");
  assert.deepEqual(stageAt(LOG, 1.3), { stage: "B", why: "the arm is parked" });
  assert.equal(stageAt([], 5).stage, "ready");
});

test("a path is described by its length and its changes of direction", () => {
  assert.equal(pathInWords(MISSION_LOG), "Path: 6.62 m, 0.40 m of it backwards, 1 change of direction.");
  assert.match(pathInWords({ ...MISSION_LOG, seeking: true }), /Searching/);
});

test("a base has other plots than an arm", () => {
  const titles = (names: string[]) => plotsOf(names.map((name) => channel(name))).map((plot) => plot.title);
  assert.deepEqual(titles(["speed", "speed command", "distance from goal", "lateness"]), ["Speed", "Position error", "Lateness"]);
  assert.ok(!titles(["velocity x", "velocity y", "velocity z"]).includes("Speed"));
});

test("a law adds lines to a plot, and plots of its own", () => {
  const own = { law: "my_law", unit: "mm" };
  const added = [channel("target", { ...own, plot: "Force", key: "goal", dashed: true }), channel("depth", { ...own, plot: "Depth" })];
  const plots = plotsOf([...["force x", "force y", "force z"].map((name) => channel(name)), ...added]);
  assert.deepEqual(plots.map((plot) => [plot.title, plot.lines.map((line) => line.key)]), [["Force", ["x", "y", "z", "goal"]], ["Depth", ["depth"]]]);
  assert.deepEqual(plots.map((plot) => plot.lines.map((line) => line.law).join("")), ["my_law", "my_law"]);
  assert.ok(plots[0]!.lines[3]!.dashed);
});
