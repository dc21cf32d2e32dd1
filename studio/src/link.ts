// The socket: asks and hears answers, and comes back by itself when the server does.

import type { Answer, Message } from "./wire";

const PATIENCE_MS = 30_000;
// Whoever starts a task for the first time waits until it is compiled.
export const LONG_MS = 15 * 60_000;
const AGAIN_MS = [250, 500, 1000, 2000];

export class Link {
  onMessage: (message: Message) => void = () => {};
  onFrame: (data: ArrayBuffer) => void = () => {};
  onOpen: (open: boolean) => void = () => {};

  private socket: WebSocket | null = null;
  private number = 0;
  private tries = 0;
  private readonly waiting = new Map<number, (answer: Answer) => void>();

  connect(): void {
    const socket = new WebSocket(`ws://${location.host}/socket${location.search}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.tries = 0;
      this.onOpen(true);
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.hear(JSON.parse(event.data) as Message);
      else this.onFrame(event.data);
    };
    socket.onclose = () => this.lost();
    this.socket = socket;
  }

  private lost(): void {
    this.onOpen(false);
    for (const answer of this.waiting.values()) answer({ type: "answer", id: null, ok: false, error: "The Studio is gone." });
    this.waiting.clear();
    const wait = AGAIN_MS[Math.min(this.tries++, AGAIN_MS.length - 1)]!;
    setTimeout(() => this.connect(), wait);
  }

  private hear(message: Message): void {
    if (message.type === "answer" && message.id !== null) {
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
    }
    this.onMessage(message);
  }

  /** Sends without waiting for an answer. */
  tell(what: string, more: Record<string, unknown> = {}): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ do: what, ...more }));
  }

  ask(what: string, more: Record<string, unknown> = {}, patience = PATIENCE_MS): Promise<Answer> {
    return new Promise((resolve) => {
      if (this.socket?.readyState !== WebSocket.OPEN) {
        resolve({ type: "answer", id: null, ok: false, error: "There is no connection to the Studio." });
        return;
      }
      const id = ++this.number;
      this.waiting.set(id, resolve);
      setTimeout(() => {
        if (this.waiting.delete(id)) resolve({ type: "answer", id, ok: false, error: "The Studio did not answer." });
      }, patience);
      this.socket.send(JSON.stringify({ id, do: what, ...more }));
    });
  }
}
