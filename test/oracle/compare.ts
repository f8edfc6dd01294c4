/** Runs a generated program with the engine and with the oracle, and says where they differ. */
import { generateKeyPairSync, webcrypto } from "node:crypto";
import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { TemplateError } from "../../src/errors.ts";
import {
  callFunction,
  createEngine,
  hostObject,
  pendingRead,
  RestartNeeded,
  runSync,
  type CompiledSet,
} from "../../src/templating/index.ts";
import { parseTemplate } from "../../src/templating/syntax/parser.ts";
import { frozen, GLOBALS } from "./generate/data.ts";
import type { Program } from "./expressions.ts";
import { INSTANT } from "./functions/more.ts";
import { interpret, type Result } from "./interpreter.ts";
import {
  ANY,
  BOOL,
  bytewise,
  FLOAT,
  fromJson,
  type Func,
  Host,
  INT,
  Slice,
  STRING,
  type Stop,
  type Type,
  type Value,
} from "./values.ts";

const PODS = frozen([
  { namespace: "default", name: "a", w: 1 },
  { namespace: "default", name: "b", w: 2 },
  { namespace: "kube", name: "constructor" },
]);

/** A certificate, its key, and another key. */
async function pems(): Promise<Record<string, string>> {
  x509.cryptoProvider.set(webcrypto);
  const keys = await webcrypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=web.example.com",
    notBefore: new Date("2020-01-01T00:00:00Z"),
    notAfter: new Date("2099-01-01T00:00:00Z"),
    keys,
    signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
  return {
    crt: certificate.toString("pem"),
    key: `-----BEGIN PRIVATE KEY-----\n${key.match(/.{1,64}/g)!.join("\n")}\n-----END PRIVATE KEY-----\n`,
    other: String(other),
  };
}
const PEMS = await pems();

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/divide by zero|division by zero/, "division"],
  [/out of range|is not an integer/, "range"],
  [/nil map/, "nil map"],
  [/watched resource/, "frozen"],
  [/interface conversion/, "assertion"],
  [/uncomparable/, "uncomparable"],
  [/cannot show/, "show"],
];

/** Kinds that both sides name alike; all others count as one kind. */
const kindOf = (message: string): string => KINDS.find(([pattern]) => pattern.test(message))?.[1] ?? "other";

export interface Outcome {
  readonly output?: string;
  /** Kind of the error that ended the run. */
  readonly error?: string;
  readonly message?: string;
}

const STORE = {
  methods: {
    List: { signature: "func() []any", reads: true },
    Fetch: { signature: "func(keys ...any) []any", reads: true },
    GetSingle: { signature: "func(keys ...any) any", reads: true },
  },
};

export function compileFiles(files: Readonly<Record<string, string>>): CompiledSet {
  return createEngine({
    sources: Object.entries(files).map(([name, text]) => ({ name, text })),
    entries: [{ template: "main", kind: "root" }],
    incremental: () => false,
    globals: {
      root: {
        ...Object.fromEntries(Object.entries(GLOBALS).map(([name, type]) => [name, { type }])),
        pems: { type: "map[string]any" },
        resources: { type: "Stores" },
        shared: { type: "Shared" },
      },
      component: {},
    },
    hostTypes: {
      Store: STORE,
      Stores: { members: { pods: "Store" } },
      Shared: {
        methods: {
          ComputeIfAbsent: { signature: "func(key string, make func() any) (any, bool)", suspends: true },
          Get: "func(key string) any",
        },
      },
    },
  });
}

const podsBy = (keys: readonly unknown[]): unknown[] =>
  PODS.filter((pod) => keys.every((key, i) => key === (i === 0 ? pod.namespace : pod.name)));

/** Runs a compiled set on one input. Reads may have to be answered, and slices end at odd places. */
export function runEngine(
  set: CompiledSet,
  data: Readonly<Record<string, unknown>>,
  impatient: boolean,
  limits = { fuel: 2_000_000, outputBytes: 4_000_000 },
): Outcome {
  const answers = new Set<string>();
  const read = (what: string, value: unknown): unknown => {
    if (!impatient || answers.has(what)) return value;
    return pendingRead({ what, value });
  };
  const store = hostObject("Store", {
    List: () => read("list", PODS),
    Fetch: (...keys: never[]) => read(`fetch ${keys.join()}`, podsBy(keys)),
    GetSingle: (...keys: never[]) => read(`single ${keys.join()}`, podsBy(keys)[0] ?? null),
  });
  for (let restarts = 0; ; restarts++) {
    const made = new Map<string, unknown>();
    const shared = hostObject("Shared", {
      *ComputeIfAbsent(key: string, make: unknown) {
        if (made.has(key)) return [made.get(key), false];
        const value: unknown = yield* callFunction(make);
        made.set(key, value);
        return [value, true];
      },
      Get: (key: string) => made.get(key) ?? null,
    });
    let output = "";
    let turn = 0;
    const sink = {
      text: (chunk: string) => {
        output += chunk;
      },
      mount: () => undefined,
    };
    const globals = { ...data, pems: PEMS, resources: hostObject("Stores", {}, { pods: store }), shared };
    try {
      const run = set.start("main", { globals, sink, due: () => impatient && ++turn % 3 === 0, limits, now: INSTANT });
      if (!impatient) runSync(run);
      else
        for (let step = run.next(); step.done !== true;) {
          const value = step.value;
          if (value.kind === "read") {
            const { what, value: answer } = value.request as { what: string; value: unknown };
            answers.add(what);
            step = run.next(answer);
          } else step = run.next();
        }
      return { output };
    } catch (error) {
      if (error instanceof RestartNeeded && restarts < 20) {
        answers.add((error.request as { what: string }).what);
        continue;
      }
      if (!(error instanceof TemplateError)) throw error;
      const { message } = error.problem;
      return { error: error.code === "HAPTIC_E_TEMPLATE_LIMIT" ? "limit" : kindOf(message), message };
    }
  }
}

const TYPES: Readonly<Record<string, Type>> = {
  any: ANY,
  string: STRING,
  int: INT,
  float64: FLOAT,
  bool: BOOL,
  "[]any": { k: "slice", e: ANY },
  "[]string": { k: "slice", e: STRING },
  "[]int": { k: "slice", e: INT },
  "map[string]any": { k: "map", key: STRING, e: ANY },
};

/** Parses the files for the oracle; `undefined` when the parser finds faults. */
export function parseFiles(files: Readonly<Record<string, string>>): Program["files"] {
  return new Map(Object.entries(files).map(([name, text]) => [name, parseTemplate(text).body]));
}

export function runOracle(files: Program["files"], data: Readonly<Record<string, unknown>>): Result {
  const globals = new Map(
    Object.entries(GLOBALS).map(([name, type]) => {
      const v = fromJson(data[name]);
      return [name, { v: type === "float64" ? Number(v) : v, t: TYPES[type]! }] as const;
    }),
  );
  const method = (results: readonly Type[], run: (args: Value[]) => Value[]) => ({ results, run });
  const found = (keys: readonly Value[]): Value[] => podsBy(keys).map((pod) => fromJson(pod));
  const pods = new Host(
    new Map([
      ["List", method([TYPES["[]any"]!], () => [new Slice(PODS.map((pod) => fromJson(pod)))])],
      ["Fetch", method([TYPES["[]any"]!], (keys) => [new Slice(found(keys))])],
      ["GetSingle", method([ANY], (keys) => [found(keys)[0] ?? null])],
    ]),
  );
  const made = new Map<Value, Value>();
  const shared = new Host(
    new Map([
      [
        "ComputeIfAbsent",
        method([ANY, BOOL], ([key, make]) => {
          if (made.has(key!)) return [made.get(key!)!, false];
          const value = (make as Func).call();
          made.set(key!, value);
          return [value, true];
        }),
      ],
      ["Get", method([ANY], ([key]) => [made.get(key!) ?? null])],
    ]),
  );
  const host: Type = { k: "host" };
  globals.set("resources", { v: new Host(new Map(), new Map([["pods", pods]])), t: host });
  globals.set("shared", { v: shared, t: host });
  globals.set("pems", { v: fromJson(PEMS), t: TYPES["map[string]any"]! });
  const snippets = [...files.keys()].filter((name) => name !== "main").sort(bytewise);
  return interpret({ files, snippets, globals });
}

/** What differs between the two, or undefined. A program the oracle gives up on does not count. */
export function difference(engine: Outcome, oracle: Result): string | undefined {
  const { stop } = oracle;
  if (stop?.kind === "unsupported") return undefined;
  if (stop === undefined) {
    if (engine.error !== undefined)
      return `engine: ${engine.error} (${engine.message}); oracle: ${JSON.stringify(oracle.output)}`;
    return engine.output === oracle.output
      ? undefined
      : `engine: ${JSON.stringify(engine.output)}\noracle: ${JSON.stringify(oracle.output)}`;
  }
  const wanted = named(stop);
  if (engine.error === undefined)
    return `engine: ${JSON.stringify(engine.output)}; oracle stops: ${stop.kind} (${stop.message})`;
  if (engine.error === wanted && ((stop.kind !== "fail" && stop.kind !== "panic") || engine.message === stop.message))
    return undefined;
  return `engine stops: ${engine.error} (${engine.message}); oracle stops: ${stop.kind} (${stop.message})`;
}

function named(stop: Stop): string {
  return ["division", "range", "nil map", "frozen", "assertion", "uncomparable", "show"].includes(stop.kind)
    ? stop.kind
    : kindOf(stop.kind === "fail" || stop.kind === "panic" ? stop.message : "");
}
