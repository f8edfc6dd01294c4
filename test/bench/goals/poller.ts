/** A client that asks HAProxy over and over on one raw TCP connection, until the answer is the wanted one. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { monotonic } from "./clock.ts";

export class Poller {
  readonly #address: string;
  readonly #port: number;
  #socket: Socket | undefined;
  #answer: ((head: string, at: number) => void) | undefined;
  #fail: ((error: Error) => void) | undefined;
  #rest = "";

  constructor(address: string, port: number) {
    this.#address = address;
    this.#port = port;
  }

  /** Opens the connection where there is none. Rejects when nobody listens. */
  async open(): Promise<void> {
    if (this.#socket !== undefined) return;
    const socket = connect(this.#port, this.#address);
    socket.setNoDelay(true);
    await once(socket, "connect");
    this.#rest = "";
    this.#socket = socket;
    socket.setEncoding("latin1").on("data", (text: string) => this.#receive(text, monotonic()));
    for (const event of ["error", "close"]) {
      socket.on(event, () => {
        if (this.#socket !== socket) return;
        this.#socket = undefined;
        this.#fail?.(new Error("HAProxy closed the connection"));
      });
    }
  }

  /** The head of one answer, and when it came. */
  ask(host: string): Promise<{ head: string; at: number }> {
    return new Promise((done, failed) => {
      this.#answer = (head, at) => done({ head, at });
      this.#fail = failed;
      this.#socket!.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    });
  }

  /**
   * Asks until an answer's head holds `wanted`; resolves with the moment of that answer. Between two questions it rests for
   * a millisecond, so that it does not take the processor from what it measures.
   */
  async until(host: string, wanted: string, limitMs: number): Promise<number> {
    const began = monotonic();
    for (;;) {
      await this.open();
      const { head, at } = await this.ask(host);
      if (head.includes(wanted)) return at;
      if (at - began > limitMs) throw new Error(`${host} did not answer ${wanted} within ${limitMs} ms: ${head}`);
      await new Promise((wake) => setTimeout(wake, 1));
    }
  }

  close(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
  }

  #receive(text: string, at: number): void {
    this.#rest += text;
    const end = this.#rest.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = this.#rest.slice(0, end + 2);
    const ends = /\r\nconnection: close\r\n/i.test(head);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (!ends && this.#rest.length < end + 4 + length) return;
    this.#rest = "";
    // An answer of unknown length ends the connection; the next question opens another one.
    if (ends) this.close();
    this.#answer?.(head, at);
  }
}
