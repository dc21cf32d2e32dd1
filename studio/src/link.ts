// The socket: sends requests, receives answers, and reconnects by itself.

import type { Answer, Asks, Incoming, Refused, Request } from "./wire";

const PATIENCE_MS = 30_000;
// The first start of a task waits until it is compiled.
export const LONG_MS = 15 * 60_000;
const AGAIN_MS = [250, 500, 1000, 2000];
// A connection that is not open after this time is tried again: a browser itself waits for minutes.
const OPENING_MS = 5000;

export class Link {
  onMessage: (message: Incoming) => void = () => {};
  onFrame: (data: ArrayBuffer) => void = () => {};
  onOpen: (open: boolean) => void = () => {};
  /** Connected: urgent messages are sent now, before anything else. */
  onLine: () => void = () => {};
  /** Errors and reasons in the words of the page. */
  words: (text: string) => string = (text) => text;
  /** The number of the loop that is shown: requests are meant for it, and for no later one. */
  run = 0;
  /** When the last message arrived, by `performance.now()` [ms]. */
  heard = 0;

  private socket: WebSocket | null = null;
  private number = 0;
  private tries = 0;
  private opening: ReturnType<typeof setTimeout> | undefined;
  private readonly waiting = new Map<number, (answer: Answer) => void>();

  connect(): void {
    const socket = new WebSocket(`ws://${location.host}/socket${location.search}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      clearTimeout(this.opening);
      this.onLine();
      this.onOpen(true);
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      this.heard = performance.now();
      this.tries = 0; // not before: a line may be opened only to be refused
      if (typeof event.data === "string") this.hear(JSON.parse(event.data) as Incoming);
      else this.onFrame(event.data);
    };
    socket.onclose = (event) => this.lost(event.reason);
    this.socket = socket;
    this.opening = setTimeout(() => this.renew(), OPENING_MS);
  }

  /** Drops a silent connection and opens another: a hung connection may never report that it is closed. */
  renew(): void {
    const socket = this.socket;
    if (!socket) return; // the next try is on its way
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    this.lost();
  }

  private lost(reason = ""): void {
    clearTimeout(this.opening);
    this.socket = null;
    this.onOpen(false);
    if (reason) this.onMessage(unheard(`The Studio closed the connection: ${reason}`));
    const asked = [...this.waiting.values()];
    this.waiting.clear();
    for (const answer of asked) answer(unheard("The connection to the Studio was lost. The page reconnects by itself."));
    const wait = AGAIN_MS[Math.min(this.tries++, AGAIN_MS.length - 1)]!;
    setTimeout(() => this.connect(), wait);
  }

  private hear(message: Incoming): void {
    this.word(message);
    if (message.type === "answer" && message.id !== null) {
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
    }
    this.onMessage(message);
  }

  /** Rewrites a reason from the server in the page's words: of an error, of a slider's colours, of a fault. */
  private word(message: Incoming): void {
    if (message.type === "status") message.reason = this.words(message.reason);
    if (message.type !== "answer") return;
    if (!message.ok) message.error = this.words(message.error);
    else if ("zones" in message) for (const zone of message.zones) zone.why = this.words(zone.why);
  }

  /** Sends without waiting for an answer. */
  tell<K extends Request>(what: K, more: Asks<K>): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ do: what, run: this.run, ...more }));
  }

  ask<K extends Request>(what: K, more: Asks<K>, patience = PATIENCE_MS): Promise<Answer<K>> {
    return new Promise((resolve) => {
      if (this.socket?.readyState !== WebSocket.OPEN) return resolve(unheard("No connection to the Studio. Check that pliant studio is running."));
      const id = ++this.number;
      const late = setTimeout(() => this.waiting.delete(id) && resolve(unheard("The Studio did not answer in time. Try again.")), patience);
      this.waiting.set(id, (answer) => {
        clearTimeout(late);
        resolve(answer as Answer<K>);
      });
      this.socket.send(JSON.stringify({ id, do: what, run: this.run, ...more }));
    });
  }
}

/** The answer if the Studio itself has not answered. */
function unheard(error: string): Refused {
  return { type: "answer", id: null, ok: false, error, unheard: true };
}
