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

export type Value = number | boolean | string | Value[];
export type Values = Record<string, Value>;

export interface LoopWords {
  name: string;
  task: string;
  source: string;
  robot: string;
  interface: string;
  rate_hz: number;
  sample_every: number;
  shapes: Shape[];
  bodies: number;
  /** Against gravity, in base axes. */
  up: number[];
  laws: Record<string, string>;
  states: string[];
  reasons: Record<string, string>;
  faults: Record<string, string>;
  troubles: Record<string, string>;
  values: Values;
  revision: number;
  pushable: boolean;
}

export interface Hello {
  type: "hello";
  version: number;
  number: number;
  channels: { name: string; unit: string }[];
  head: string[];
  limits: { name: string; unit: string }[];
  parameters: Declared[];
  tasks: string[];
  experiments: { name: string; summary: string }[];
  robots: string[];
  kept: string[];
  loop: LoopWords | null;
}

export interface Status {
  type: "status";
  status: "running" | "fault" | "ended" | "none";
  reason: string;
  recording: string;
  /** Sets of parameters that were kept to compare, by letter. */
  kept: string[];
}

export interface Parameters {
  type: "parameters";
  values: Values;
  revision: number;
}

export interface Answer {
  type: "answer";
  id: number | null;
  ok: boolean;
  error?: string;
  field?: string | null;
  [more: string]: unknown;
}

export type Message = Hello | Status | Parameters | Answer;

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
