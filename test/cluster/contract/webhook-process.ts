/**
 * A webhook for the contract, run once beside each server: `webhook-process.ts CERTIFICATE KEY PORT ADDRESS…`. Prints
 * `ready` when it listens. What it does is in the path it is asked by; `/echo` tells what it was asked as warnings.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { ServerResponse } from "node:http";

interface Request {
  readonly uid: string;
  readonly [field: string]: unknown;
}
type Answer = Record<string, unknown>;

const base64 = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64");
const patch = (operations: unknown): Answer => ({ allowed: true, patchType: "JSONPatch", patch: base64(operations) });

const keys = (value: unknown): string =>
  typeof value === "object" && value !== null ? Object.keys(value).toSorted().join(",") : String(value);

/** The request in lines that do not depend on times and identities. */
function told(request: Request): string[] {
  const { kind, resource, requestKind, requestResource, object, oldObject } = request;
  const metadata = (value: unknown): unknown => (value as { metadata?: unknown } | null)?.metadata;
  const spec = (value: unknown): unknown => (value as { spec?: unknown } | null)?.spec ?? null;
  return [
    `${String(request["operation"])} ${JSON.stringify(kind)} ${JSON.stringify(resource)} sub=${String(request["subResource"])}`,
    `requested ${JSON.stringify(requestKind)} ${JSON.stringify(requestResource)} sub=${String(request["requestSubResource"])}`,
    `name=${String(request["name"])} namespace=${String(request["namespace"])} dryRun=${String(request["dryRun"])}`,
    `options ${JSON.stringify(request["options"])}`,
    `object ${keys(object)} metadata ${keys(metadata(object))} spec ${JSON.stringify(spec(object))}`,
    `old ${keys(oldObject)} metadata ${keys(metadata(oldObject))} spec ${JSON.stringify(spec(oldObject))}`,
    `request ${keys(request)}`,
  ];
}

/** Adds a word to the annotation `trail`, which shows in what order webhooks were asked. */
function trail(request: Request, word: string): Answer {
  const annotations = (request["object"] as { metadata: { annotations?: Record<string, string> } }).metadata
    .annotations;
  const before = annotations?.["trail"];
  const value = before === undefined ? word : `${before}-${word}`;
  if (annotations === undefined) return patch([{ op: "add", path: "/metadata/annotations", value: { trail: value } }]);
  return patch([{ op: "add", path: "/metadata/annotations/trail", value }]);
}

const answers: Readonly<Record<string, (request: Request) => Answer>> = {
  "/allow": () => ({ allowed: true }),
  "/awake": () => ({ allowed: true, warnings: ["awake"] }),
  "/awake-mutating": () => ({ allowed: true, warnings: ["mutating awake"] }),
  "/deny": () => ({ allowed: false, status: { message: "no way" } }),
  "/deny-silently": () => ({ allowed: false }),
  "/deny-reason": () => ({ allowed: false, status: { reason: "Forbidden", code: 200 } }),
  "/deny-status": () => ({
    allowed: false,
    status: {
      code: 422,
      reason: "Invalid",
      message: "bad color",
      details: {
        kind: "ConfigMap",
        causes: [{ reason: "FieldValueInvalid", field: "data.color", message: "must be red" }],
      },
    },
  }),
  "/warn": () => ({ allowed: true, warnings: ["first warning", 'second "quoted"'] }),
  "/warn-and-deny": () => ({ allowed: false, warnings: ["this comes too"], status: { message: "no" } }),
  "/echo": (request) => ({ allowed: true, warnings: told(request) }),
  "/patch": () => patch([{ op: "add", path: "/metadata/labels/patched", value: "yes" }]),
  "/color": () => patch([{ op: "add", path: "/spec/color", value: "green" }]),
  "/pink": () => patch([{ op: "add", path: "/spec/color", value: "pink" }]),
  "/unknown-field": () => patch([{ op: "add", path: "/spec/nonsense", value: 1 }]),
  "/replicas": () => patch([{ op: "replace", path: "/spec/replicas", value: 7 }]),
  "/failing-test": () => patch([{ op: "test", path: "/metadata/name", value: "another" }]),
  "/patch-without-type": () => ({ allowed: true, patch: base64([]) }),
  "/merge-patch": () => ({
    allowed: true,
    patchType: "MergePatch",
    patch: base64([{ op: "add", path: "/data", value: {} }]),
  }),
  "/one": (request) => trail(request, "one"),
  "/two": (request) => trail(request, "two"),
  "/three": (request) => trail(request, "three"),
};

function answer(path: string, review: { request: Request; apiVersion: string }, response: ServerResponse): void {
  const send = (value: unknown): void =>
    void response.setHeader("Content-Type", "application/json").end(JSON.stringify(value));
  const { request, apiVersion } = review;
  const reviewed = (more: Answer): Answer => ({
    apiVersion,
    kind: "AdmissionReview",
    response: { uid: request.uid, ...more },
  });
  const known = answers[path];
  if (known !== undefined) send(reviewed(known(request)));
  else if (path === "/absent") send({ apiVersion, kind: "AdmissionReview" });
  else if (path === "/wrong-uid") send(reviewed({ uid: "nobody", allowed: true }));
  else if (path === "/wrong-version") send({ ...reviewed({ allowed: true }), apiVersion: "admission.k8s.io/v1beta1" });
  else if (path === "/garbage") response.end("this is no JSON");
  else if (path === "/cut") response.socket?.destroy();
  else if (/^\/status-\d+$/.test(path))
    response.writeHead(Number(path.slice(8)), { "Content-Type": "text/plain" }).end("broken\n");
  // "/slow" gets no answer
}

const [certificate = "", key = "", port = "", ...addresses] = process.argv.slice(2);
let waiting = addresses.length;
for (const address of addresses) {
  const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const review = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { request: Request; apiVersion: string };
      answer((request.url ?? "").split("?")[0] ?? "", review, response);
    });
  });
  server.listen(Number(port), address, () => {
    if (--waiting === 0) process.stdout.write("ready\n");
  });
}
// without whoever started it, it has nothing to do
process.stdin.on("end", () => process.exit(0)).resume();
