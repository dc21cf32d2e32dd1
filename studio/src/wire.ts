// Received messages. The types are generated from the declarations in Python; this file reads frames.

import { FRAME, HEADER_BYTES, readHeader, type HeadField, type Hello, type Message, type Refusal, type Requests, type Status } from "../out/messages";

export type * from "../out/messages";
export { MOST_VALUES } from "../out/messages";

/** The name of a request. */
export type Request = keyof Requests;
/** The fields of a request. */
export type Asks<K extends Request> = Requests[K]["asks"];

/** A request that was not carried out; `unheard`: reported by the page itself, because the Studio has not answered. */
export interface Refused extends Refusal {
  type: "answer";
  id: number | null;
  unheard?: boolean;
}

export type Answer<K extends Request = Request> = ({ type: "answer"; id: number | null; ok: true } & Requests[K]["answers"]) | Refused;

/** Every text message of the Studio. */
export type Incoming = Message | Answer;

export function faultInWords(status: Status): string {
  const kept = status.black_box ? ` The last seconds are in ${status.black_box}.` : "";
  return `The loop stopped: ${status.reason}.${kept}`;
}

/** Numbers of the newest record, by name. */
export class Head {
  constructor(
    private readonly numbers: Float32Array,
    private readonly places: Hello["head"],
  ) {}

  part(name: HeadField): Float32Array {
    const [first, count] = this.places[name];
    return this.numbers.subarray(first, first + count);
  }

  value(name: HeadField): number {
    return this.part(name)[0]!;
  }

  /** A whole number, such as the number of a law. */
  whole(name: HeadField): number {
    return Math.round(this.value(name));
  }
}

export interface Frame {
  first: number;
  time: number;
  head: Head;
  poses: Float32Array;
  samples: Float32Array;
  rows: number;
}

/** Reads a binary frame; null if it does not fit the server's description. */
export function readFrame(data: ArrayBuffer, places: Hello["head"], bodies: number, channels: number): Frame | null {
  if (data.byteLength < HEADER_BYTES) return null;
  const header = readHeader(new DataView(data));
  const head = Object.values(places).reduce((sum, [, count]) => sum + count, 0);
  const poses = 7 * header.bodies;
  const floats = head + poses + header.samples * channels;
  if (header.kind !== FRAME || header.bodies !== bodies) return null;
  if (data.byteLength !== HEADER_BYTES + 4 * floats) return null;
  const all = new Float32Array(data, HEADER_BYTES, floats);
  return {
    first: header.first,
    time: header.time_s,
    head: new Head(all.subarray(0, head), places),
    poses: all.subarray(head, head + poses),
    samples: all.subarray(head + poses),
    rows: header.samples,
  };
}
