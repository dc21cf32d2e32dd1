// What comes over the wire, as the server's wire.py writes it.

export interface Shape {
  body: number;
  kind: "sphere" | "capsule" | "ellipsoid" | "cylinder" | "box" | "mesh";
  size: number[];
  pos: number[];
  quat: number[];
  rgba: number[];
  vertices?: number[];
  faces?: number[];
}

export interface Declared {
  name: string;
  type: string;
  unit: string;
  live: boolean;
  help: string;
  low: number | null;
  high: number | null;
  default: Value;
}

/** null stands in a list that is asked for, for a number that stays as it is. */
export type Value = number | boolean | string | null | Value[];
export type Values = Record<string, Value>;

export interface LoopWords {
  name: string;
  task: string;
  source: string;
  robot: string;
  rate_hz: number;
  shapes: Shape[];
  bodies: number;
  /** Against gravity, in the base frame. */
  up: number[];
  laws: Record<string, string>;
  states: string[];
  reasons: Record<string, string>;
  troubles: Record<string, string>;
  pushable: boolean;
  /** Map and stages, if it is an arm on a base with a mission. */
  mission: MissionWords | null;
  now: Parameters | Story;
}

export interface MissionWords {
  /** Stages in their order, and what happens in each. */
  stages: Record<string, string>;
  /** Behind, ahead and to each side of the base's point [m]. */
  footprint: [number, number, number];
  map: MapWords;
}

export interface MapWords {
  name: string;
  /** A picture of its cells: white is free, grey unknown, black blocked. */
  picture: string;
  /** Left, right, bottom, top [m]. */
  extent: [number, number, number, number];
}

/** How a mission stands. */
export interface Story {
  type: "mission";
  stage: string;
  moving: boolean;
  seeking: boolean;
  /** Time [s], stage and reason of every change. */
  log: [number, string, string][];
  goal: number[];
  /** Where the base shall stand: x, y [m], heading [rad]. */
  stand: number[] | null;
  /** x, y [m], heading [rad] along the way, and 1 or -1: ahead or back. */
  way: number[][];
  /** Length, length driven backwards [m], changes of direction. */
  figures: number[];
}

export interface Hello {
  type: "hello";
  number: number;
  channels: { name: string; unit: string }[];
  head: string[];
  limits: { name: string; unit: string }[];
  parameters: Declared[];
  tasks: string[];
  /** Tasks whose parameters can be compared with those in force. */
  presets: string[];
  experiments: { name: string; summary: string }[];
  /** Why there are no experiments; "" if there are. */
  no_experiments: string;
  robots: string[];
  loop: LoopWords | null;
}

/** What is being done beside the loop, in words; "" for nothing. */
export interface Busy {
  /** An experiment, a plan or a what-if. */
  work: string;
  /** The opening of a recording. */
  open: string;
}

export interface Status {
  type: "status";
  /** Starting, running, fault, ended, none, or whatever a later Studio tells. */
  status: string;
  reason: string;
  /** The file with the last seconds before a fault. */
  black_box: string;
  recording: string;
  /** What went wrong with the last recording. */
  mishap: string;
  /** Sets of parameters that were kept to compare, by letter. */
  kept: string[];
  busy: Busy;
}

/** What is in force, and which change it came with: of two that cross on their way, the later one counts. */
export interface InForce {
  values: Values;
  revision: number;
}

export interface Parameters extends InForce {
  type: "parameters";
}

export interface Answer {
  type: "answer";
  id: number | null;
  ok: boolean;
  error?: string;
  [more: string]: unknown;
}

export type Message = Hello | Status | Parameters | Story | Answer;

export function faultInWords(status: Status): string {
  const kept = status.black_box ? ` The last seconds are in ${status.black_box}.` : "";
  return `The loop stopped: ${status.reason}.${kept}`;
}

export interface Frame {
  first: number;
  time: number;
  head: Float32Array;
  poses: Float32Array;
  samples: Float32Array;
  rows: number;
}

const HEADER_BYTES = 24;
const FRAME = 1;

/** Reads a binary frame; null when it is none that fits what the server described. */
export function readFrame(data: ArrayBuffer, head: number, bodies: number, channels: number): Frame | null {
  if (data.byteLength < HEADER_BYTES) return null;
  const view = new DataView(data);
  const rows = view.getUint32(8, true);
  const poses = 7 * view.getUint32(12, true);
  const floats = head + poses + rows * channels;
  if (view.getUint32(0, true) !== FRAME || poses !== 7 * bodies) return null;
  if (data.byteLength !== HEADER_BYTES + 4 * floats) return null;
  const all = new Float32Array(data, HEADER_BYTES, floats);
  return {
    first: view.getUint32(4, true),
    time: view.getFloat64(16, true),
    head: all.subarray(0, head),
    poses: all.subarray(head, head + poses),
    samples: all.subarray(head + poses),
    rows,
  };
}
