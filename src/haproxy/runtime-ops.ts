/**
 * Typed operations → commands of the runtime CLI, and the judgement of their answers. Operations are absolute: doing one
 * again is no failure (`redo`), so that what a kill interrupted can be repeated.
 */
import { isIP } from "node:net";
import { RuntimeTokenError } from "../errors.ts";
import type { Op } from "../plan/ops.ts";
import { setAuthority, setCertificate, unload } from "./runtime-certs.ts";
import { addEntries, addMissingEntry, deleteEntry, replaceMap } from "./runtime-maps.ts";
import { isFailure, isWord, safePayloadText, safeWord, type OpOutcome, type RuntimeReply } from "./runtime-protocol.ts";
import type { RuntimeSession } from "./runtime.ts";

export interface OpsContext {
  /** The name by which the worker knows a map, certificate or crt-list of the manifest. */
  readonly nameOf: (path: string) => string;
  /** Content of a file of the set that the operations lead to; undefined when a later change removed it. */
  readonly content: (path: string) => Promise<Uint8Array | undefined>;
  /** The operations may have run before. */
  readonly redo: boolean;
}

type Judge = (
  replies: readonly RuntimeReply[],
) => OpOutcome | { readonly next: (session: RuntimeSession) => Promise<OpOutcome> };

/** Joined with its neighbours into one line, or a small conversation of its own. */
type Step =
  | { readonly lines: readonly string[]; readonly judge: Judge }
  | { readonly talk: (session: RuntimeSession) => Promise<OpOutcome> };

const done: OpOutcome = { ok: true, output: "" };
const outcome = (ok: boolean, reply: RuntimeReply | undefined): OpOutcome => ({
  ok,
  output: reply?.text ?? "no answer",
});

/** Every answer empty. */
const silent: Judge = (replies) => {
  const spoken = replies.find((reply) => reply.text !== "");
  return spoken === undefined ? done : outcome(false, spoken);
};

/** Like `silent`, but what is gone already is as good as gone. */
const silentOrGone: Judge = (replies) => {
  const spoken = replies.find((reply) => reply.text !== "" && !/^No such (server|backend)\./.test(reply.text));
  return spoken === undefined ? done : outcome(false, spoken);
};

/** Warnings may stand before the acknowledgement, hence not equality. */
const says =
  (text: string): Judge =>
  (replies) =>
    outcome(replies[0]?.text.trimEnd().endsWith(text) === true, replies[0]);

function serverName(op: Op): string {
  const backend = safeWord("backend", op.backend);
  const server = safeWord("server", op.server);
  if (backend.includes("/") || server.includes("/"))
    throw new RuntimeTokenError(`${backend}/${server}: a name holds a slash`);
  return `${backend}/${server}`;
}

function endpoint(op: Op): { address: string; port: number } {
  const { address = "", port = 0 } = op;
  if (isIP(address) === 0)
    throw new RuntimeTokenError(`address ${JSON.stringify(address)} is not a literal IP address`);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new RuntimeTokenError(`port ${port} is out of range`);
  return { address, port };
}

function weightOf(weight: number): number {
  if (!Number.isInteger(weight) || weight < 0 || weight > 256)
    throw new RuntimeTokenError(`weight ${weight} is out of range`);
  return weight;
}

function addServer(op: Op): Step {
  const name = serverName(op);
  const { address, port } = endpoint(op);
  const words = [`add server ${name} ${isIP(address) === 6 ? `[${address}]` : address}:${port}`];
  const weight = op.weight ?? undefined;
  if (weight !== undefined) words.push(`weight ${weightOf(weight)}`);
  if (op.guid !== undefined) words.push(`guid ${safeWord("guid", op.guid)}`);
  for (const keyword of op.keywords ?? []) {
    words.push(safeWord("keyword", keyword.name), ...keyword.args.map((arg) => safeWord(keyword.name, arg)));
  }
  const lines = [words.join(" ")];
  if (op.health === true) lines.push(`enable health ${name}`);
  // An agent may take a server out of maintenance, so it is asked from the beginning, as that of a server in the file.
  if (op.keywords?.some((keyword) => keyword.name === "agent-check") === true) lines.push(`enable agent ${name}`);
  const again = [`set server ${name} addr ${address} port ${port}`];
  if (weight !== undefined) again.push(`set server ${name} weight ${weight}`);
  return {
    lines,
    judge: (replies) => {
      const [reply] = replies;
      if (reply?.text.startsWith("Already exists a server") !== true) return says("New server registered.")(replies);
      return { next: async (session) => addressSet(await session.batch(again)) };
    },
  };
}

function addressSet(replies: readonly RuntimeReply[]): OpOutcome {
  const [reply] = replies;
  return outcome(reply !== undefined && !isFailure(reply) && /changed|no need/.test(reply.text), reply);
}

function addBackend(op: Op, context: OpsContext): Step {
  const words = [`add backend ${safeWord("backend", op.backend)} from ${safeWord("profile", op.profile)}`];
  if (op.mode !== undefined) words.push(`mode ${safeWord("mode", op.mode)}`);
  if (op.guid !== undefined) words.push(`guid ${safeWord("guid", op.guid)}`);
  return {
    lines: [words.join(" ")],
    judge: ([reply]) => {
      const text = reply?.text.trimEnd() ?? "";
      if (context.redo && text.includes(`name is already used by other proxy 'backend ${op.backend}'`)) return done;
      // A backend that takes no servers is registered too, and says so in brackets.
      return outcome(text.endsWith("New backend registered."), reply);
    },
  };
}

function crtListLine(op: Op, context: OpsContext): string {
  const options = (op.options ?? []).map((option) =>
    [option.name]
      .concat(option.args)
      .map((word) => safeWord("crt-list option", word))
      .join(" "),
  );
  const filters = (op.sni_filters ?? []).map((filter) => safeWord("SNI filter", filter));
  return [context.nameOf(op.cert ?? ""), ...(options.length > 0 ? [`[${options.join(" ")}]`] : []), ...filters].join(
    " ",
  );
}

function addToCrtList(op: Op, context: OpsContext): Step {
  const list = safeWord("crt-list", context.nameOf(op.path ?? ""));
  const line = safePayloadText("crt-list line", crtListLine(op, context));
  safeWord("certificate", context.nameOf(op.cert ?? ""));
  return {
    talk: async (session) => {
      if (context.redo) {
        const shown = await session.command(`show ssl crt-list ${list}`);
        if (shown.text.split("\n").some((known) => known.trim() === line)) return done;
      }
      const reply = await session.command(`add ssl crt-list ${list}`, `${line}\n`);
      return outcome(reply.text.includes("Success!"), reply);
    },
  };
}

/**
 * Another entry of a certificate in place of all that there are. The new one comes first, so that no handshake finds none; numbers of
 * lines grow, so it is the one with the highest.
 */
function replaceInCrtList(op: Op, context: OpsContext): Step {
  const list = safeWord("crt-list", context.nameOf(op.path ?? ""));
  const cert = safeWord("certificate", context.nameOf(op.cert ?? ""));
  const line = safePayloadText("crt-list line", crtListLine(op, context));
  return {
    talk: async (session) => {
      const entries = async (): Promise<{ readonly number: number; readonly line: string }[]> =>
        (await session.command(`show ssl crt-list -n ${list}`)).text.split("\n").flatMap((shown) => {
          const [, number, rest = ""] = shown.startsWith(`${cert}:`)
            ? (/^:(\d+)(.*)$/.exec(shown.slice(cert.length)) ?? [])
            : [];
          return number === undefined ? [] : [{ number: Number(number), line: `${cert}${rest}`.trim() }];
        });
      // Done before, perhaps, but for the former entries.
      const made = context.redo ? (await entries()).filter((entry) => entry.line === line) : [];
      if (made.length === 0) {
        const reply = await session.command(`add ssl crt-list ${list}`, `${line}\n`);
        if (!reply.text.includes("Success!")) return outcome(false, reply);
      }
      const there = await entries();
      const kept = Math.max(...(made.length === 0 ? there : made).map(({ number }) => number));
      const former = there.filter(({ number }) => number !== kept);
      if (former.length === 0) return done;
      const replies = await session.batch(former.map(({ number }) => `del ssl crt-list ${list} ${cert}:${number}`));
      const outcomes = replies.map((reply) => outcome(/deleted in crtlist/.test(reply.text), reply));
      return outcomes.find(({ ok }) => !ok) ?? done;
    },
  };
}

/** All entries of a certificate: names that it gained at run time are an entry of their own. */
function deleteFromCrtList(op: Op, context: OpsContext): Step {
  const list = safeWord("crt-list", context.nameOf(op.path ?? ""));
  const cert = safeWord("certificate", context.nameOf(op.cert ?? ""));
  const judge = (reply: RuntimeReply | undefined): OpOutcome =>
    outcome(
      /deleted in crtlist/.test(reply?.text ?? "") ||
        (context.redo && /not found|doesn't exist|can't/i.test(reply?.text ?? "")),
      reply,
    );
  return {
    lines: [`del ssl crt-list ${list} ${cert}`],
    judge: ([reply]) => {
      const numbers = /in several entries, .*\(([\d, ]+)\)/.exec(reply?.text ?? "")?.[1]?.split(/, */);
      if (numbers === undefined) return judge(reply);
      const lines = numbers.map((number) => `del ssl crt-list ${list} ${cert}:${number}`);
      return {
        next: async (session) => {
          const outcomes = (await session.batch(lines)).map(judge);
          return outcomes.find(({ ok }) => !ok) ?? done;
        },
      };
    },
  };
}

function compile(op: Op, context: OpsContext): Step {
  const file = (): string => safeWord(op.kind, context.nameOf(op.path ?? ""));
  switch (op.kind) {
    case "server_add":
      return addServer(op);
    case "server_enable": {
      const name = serverName(op);
      return {
        lines: op.health === true ? [`enable health ${name}`, `enable server ${name}`] : [`enable server ${name}`],
        judge: silent,
      };
    }
    case "server_disable":
    case "server_del":
      return { lines: [`disable server ${serverName(op)}`], judge: silentOrGone };
    case "server_set_addr": {
      const { address, port } = endpoint(op);
      return { lines: [`set server ${serverName(op)} addr ${address} port ${port}`], judge: addressSet };
    }
    case "server_set_weight":
      return { lines: [`set server ${serverName(op)} weight ${weightOf(op.weight ?? 1)}`], judge: silent };
    case "server_set_state":
      return { lines: [`set server ${serverName(op)} state ${safeWord("state", op.state)}`], judge: silent };
    case "backend_add":
      return addBackend(op, context);
    case "backend_publish":
      return { lines: [`publish backend ${safeWord("backend", op.backend)}`], judge: says("Backend published.") };
    case "backend_unpublish":
    case "backend_del":
      return {
        lines: [`unpublish backend ${safeWord("backend", op.backend)}`],
        judge: (replies) => (replies[0]?.text === "No such backend." ? done : says("Backend unpublished.")(replies)),
      };
    case "wait_srv_removable":
    case "wait_be_removable":
    case "shutdown_sessions":
      return { lines: [], judge: () => ({ ok: true, output: "queued" }) };
    case "map_add": {
      const name = file();
      const key = safeWord("key", op.key);
      const value = safePayloadText("value", op.value);
      return {
        talk: (session) =>
          context.redo ? addMissingEntry(session, name, key, value) : addEntries(session, name, [{ key, value }]),
      };
    }
    case "map_set": {
      const name = file();
      const key = safeWord("key", op.key);
      const value = safeWord("value", op.value);
      return {
        lines: [`set map ${name} ${key} ${value}`],
        judge: (replies) =>
          /entry not found/i.test(replies[0]?.text ?? "")
            ? { next: (session) => addEntries(session, name, [{ key, value }]) }
            : silent(replies),
      };
    }
    case "map_del": {
      const name = file();
      const key = safeWord("key", op.key);
      return { talk: (session) => deleteEntry(session, name, key) };
    }
    case "map_replace": {
      const name = file();
      return { talk: async (session) => replaceMap(session, name, await context.content(op.path ?? "")) };
    }
    case "cert_set":
    case "cert_new": {
      const name = file();
      return {
        talk: async (session) =>
          setCertificate(session, name, await context.content(op.path ?? ""), op.kind === "cert_new"),
      };
    }
    case "crtlist_add":
      return addToCrtList(op, context);
    case "crtlist_set":
      return replaceInCrtList(op, context);
    case "crtlist_del":
      return deleteFromCrtList(op, context);
    case "ca_set":
    case "ca_new": {
      const name = file();
      return {
        talk: async (session) =>
          setAuthority(session, name, await context.content(op.path ?? ""), op.kind === "ca_new"),
      };
    }
    case "cert_del":
    case "ca_del": {
      const name = file();
      return { talk: (session) => unload(session, op.kind === "cert_del" ? "cert" : "ca-file", name) };
    }
  }
}

/** One more entry that fits on a command line joins its neighbours: a payload would need a line, and an answer, of its own. */
function loneEntry(ops: readonly Op[], at: number, context: OpsContext): Step | undefined {
  const op = ops[at]!;
  const isEntry = (other: Op | undefined): boolean => other?.kind === "map_add" && other.path === op.path;
  if (context.redo || !isEntry(op) || isEntry(ops[at - 1]) || isEntry(ops[at + 1])) return undefined;
  if (!isWord(op.value)) return undefined;
  const name = safeWord(op.kind, context.nameOf(op.path ?? ""));
  return { lines: [`add map ${name} ${safeWord("key", op.key)} ${op.value}`], judge: silent };
}

/**
 * Compiles all, then runs in order; neighbours share a line. Nothing is sent when one operation cannot be written.
 * One outcome an operation; a refused one does not stop the rest (the caller reloads).
 * @throws RuntimeTokenError for an unsafe name, RuntimeError when the connection ends.
 */
export async function runOps(session: RuntimeSession, ops: readonly Op[], context: OpsContext): Promise<OpOutcome[]> {
  const steps = ops.map((op, at) => loneEntry(ops, at, context) ?? compile(op, context));
  const outcomes: OpOutcome[] = [];
  for (let at = 0; at < steps.length;) {
    const step = steps[at]!;
    if ("talk" in step) {
      const entries = context.redo ? [] : adjacentEntries(ops, at, context);
      if (entries.length > 1) {
        const result = await addEntries(session, context.nameOf(ops[at]!.path ?? ""), entries);
        outcomes.push(...entries.map(() => result));
        at += entries.length;
        continue;
      }
      outcomes.push(await step.talk(session));
      at += 1;
      continue;
    }
    let end = at;
    while (end < steps.length && "lines" in steps[end]!) end += 1;
    outcomes.push(...(await runLines(session, steps.slice(at, end) as Extract<Step, { lines: unknown }>[])));
    at = end;
  }
  return outcomes;
}

async function runLines(
  session: RuntimeSession,
  steps: readonly Extract<Step, { lines: unknown }>[],
): Promise<OpOutcome[]> {
  const replies = await session.batch(steps.flatMap((step) => step.lines));
  const outcomes: OpOutcome[] = [];
  let at = 0;
  for (const step of steps) {
    const judged = step.judge(replies.slice(at, at + step.lines.length));
    at += step.lines.length;
    outcomes.push("next" in judged ? await judged.next(session) : judged);
  }
  return outcomes;
}

/** Additions to one map in a row go as one payload. */
function adjacentEntries(ops: readonly Op[], from: number, context: OpsContext): { key: string; value: string }[] {
  const entries: { key: string; value: string }[] = [];
  for (let at = from; at < ops.length; at++) {
    const op = ops[at]!;
    if (op.kind !== "map_add" || op.path !== ops[from]!.path) break;
    entries.push({ key: safeWord("key", op.key), value: safePayloadText("value", op.value) });
  }
  if (entries.length > 0) safeWord("map", context.nameOf(ops[from]!.path ?? ""));
  return entries;
}
