// A server at the other end of a real socket that receives, answers, goes silent or disconnects on request.

import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

const MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

export interface Said {
  id?: number;
  do: string;
}

export class OtherEnd {
  readonly heard: Said[] = [];
  answers = true;
  /** What it answers. */
  says: Record<string, unknown> = { ok: true };
  private server: Server | null = null;
  private readonly lines = new Set<Duplex>();

  /** Listens, at the same port as before if there was one. */
  async open(port = 0): Promise<number> {
    this.server = createServer();
    this.server.on("upgrade", (request, line: Duplex) => {
      const key = createHash("sha1").update(request.headers["sec-websocket-key"]! + MAGIC).digest("base64");
      line.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`);
      this.lines.add(line);
      line.on("data", (data: Buffer) => this.hear(line, data));
      line.on("error", () => {});
      line.on("close", () => this.lines.delete(line));
    });
    await new Promise<void>((resolve) => this.server!.listen(port, "127.0.0.1", resolve));
    const at = (this.server.address() as AddressInfo).port;
    Object.assign(globalThis, { location: { host: `127.0.0.1:${at}`, search: "" } });
    return at;
  }

  /** Disconnects all clients. */
  async close(): Promise<void> {
    for (const line of this.lines) line.destroy();
    await new Promise((resolve) => this.server!.close(resolve));
  }

  /** Sends a text of less than 126 bytes to every client. */
  say(message: unknown): void {
    const text = Buffer.from(JSON.stringify(message));
    for (const line of this.lines) line.write(Buffer.concat([Buffer.from([0x81, text.length]), text]));
  }

  /** Reads the short masked texts that a browser sends. */
  private hear(line: Duplex, data: Buffer): void {
    for (let at = 0; at + 6 <= data.length; ) {
      const [kind, length] = [data[at]! & 0x0f, data[at + 1]! & 0x7f];
      const mask = data.subarray(at + 2, at + 6);
      const body = Buffer.from(data.subarray(at + 6, at + 6 + length)).map((byte, i) => byte ^ mask[i % 4]!);
      at += 6 + length;
      if (kind === 8) line.end();
      if (kind !== 1) continue;
      const said = JSON.parse(Buffer.from(body).toString()) as Said;
      this.heard.push(said);
      if (this.answers) this.say({ type: "answer", id: said.id, ...this.says });
    }
  }
}
