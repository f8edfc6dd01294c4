/**
 * The API server's process of the bench: the embedded API, told by its parent what to store. It notes the moment in which
 * the bytes of a change are handed to the watcher's socket. Beside it a bare TLS socket, on which the floor's lines are sent.
 */
import { readFileSync } from "node:fs";
import { ServerResponse } from "node:http";
import { join } from "node:path";
import { createServer, type TLSSocket } from "node:tls";
import { startEmbeddedApi } from "../../../src/devcluster/api/index.ts";
import { monotonic } from "./clock.ts";
import { addressOf, sliceOf } from "./objects.ts";

export interface ApiSettings {
  readonly host: string;
  readonly port: number;
  readonly linePort: number;
  /** Folder with the certificate of the floor's line. */
  readonly lineTlsFolder: string;
  /** Folder of YAML that is applied at the start. */
  readonly manifests: string;
}

/** `mark`: text by which the watch event of the change is known. `after`: milliseconds to let pass before, in fractions. */
export type ApiOrder = { readonly id: number } & (
  | { readonly do: "put"; readonly objects: readonly object[]; readonly mark?: string; readonly after?: number }
  | { readonly do: "status"; readonly object: object }
  | { readonly do: "delete"; readonly objects: readonly object[] }
  | { readonly do: "line"; readonly text: string; readonly after?: number }
  /** The Services' endpoints move, one Service after another; told as done when all has been written. */
  | { readonly do: "storm"; readonly services: readonly string[]; readonly perSecond: number; readonly seconds: number }
);

export type ApiReport =
  | { readonly kind: "ready"; readonly kubeconfig: string }
  /** `at`: when the bytes were written, by the monotonic clock; 0 = nothing was asked for, or nobody watches. Of a storm the events a second. */
  | { readonly kind: "done"; readonly id: number; readonly at: number; readonly error?: string };

interface Named {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const settings = JSON.parse(process.argv[2]!) as ApiSettings;
const api = await startEmbeddedApi(settings);

let wanted: Buffer | undefined;
let writtenAt = 0;
const { write } = ServerResponse.prototype as { write: (this: ServerResponse, ...args: unknown[]) => boolean };
ServerResponse.prototype.write = function (this: ServerResponse, ...args: unknown[]): boolean {
  const [chunk] = args;
  if (wanted !== undefined && Buffer.isBuffer(chunk) && chunk.includes(wanted)) {
    wanted = undefined;
    // A response keeps its bytes until the next tick; this one comes directly before that.
    process.nextTick(() => {
      writtenAt = monotonic();
    });
  }
  return write.apply(this, args);
} as typeof ServerResponse.prototype.write;

let line: TLSSocket | undefined;
const read = (name: string): Buffer => readFileSync(join(settings.lineTlsFolder, name));
const lines = createServer({ cert: read("tls.crt"), key: read("tls.key"), minVersion: "TLSv1.3" }, (socket) => {
  line = socket;
  socket.setNoDelay(true);
  socket.on("error", () => undefined);
});

/** Resolves with the events that were written each second. */
async function storm(services: readonly string[], perSecond: number, seconds: number): Promise<number> {
  const began = monotonic();
  let sent = 0;
  for (let passed = 0; passed < seconds * 1_000; passed = monotonic() - began) {
    for (const due = (passed / 1_000) * perSecond; sent < due; sent++) {
      const service = services[sent % services.length]!;
      const round = Math.floor(sent / services.length);
      const endpoints = [1, 2].map((at) => ({ address: addressOf(sent * 2 + at), pod: `${service}-${at}-${round}` }));
      api.objects.apply(sliceOf(service, endpoints));
    }
    await new Promise((wake) => setTimeout(wake, 1));
  }
  return sent / seconds;
}

async function obey(order: Exclude<ApiOrder, { do: "storm" }>): Promise<number> {
  // No timer is as fine.
  for (const due = monotonic() + ((("after" in order) && order.after) || 0); monotonic() < due;);
  if (order.do === "line") {
    if (line === undefined) throw new Error("nobody listens for lines");
    const at = monotonic();
    line.write(order.text);
    return at;
  }
  if (order.do === "status") {
    const { apiVersion, kind, metadata, status } = order.object as Named & { status: object };
    api.objects.patch({ apiVersion, kind, ...metadata }, { status }, "status");
    return 0;
  }
  if (order.do === "delete") {
    for (const object of order.objects) {
      const { apiVersion, kind, metadata } = object as Named;
      api.objects.delete({ apiVersion, kind, ...metadata });
    }
    return 0;
  }
  wanted = order.mark === undefined ? undefined : Buffer.from(order.mark);
  writtenAt = 0;
  for (const object of order.objects) api.objects.apply(object);
  wanted = undefined;
  await new Promise((handedOver) => setImmediate(handedOver));
  return writtenAt;
}

process.on("message", async (order: ApiOrder) => {
  let report: ApiReport;
  try {
    const at = order.do === "storm" ? await storm(order.services, order.perSecond, order.seconds) : await obey(order);
    report = { kind: "done", id: order.id, at };
  } catch (error) {
    report = { kind: "done", id: order.id, at: 0, error: String(error) };
  }
  process.send!(report);
});
process.on("disconnect", () => process.exit());
lines.listen(settings.linePort, settings.host, () => {
  process.send!({ kind: "ready", kubeconfig: api.kubeconfig } satisfies ApiReport);
});
