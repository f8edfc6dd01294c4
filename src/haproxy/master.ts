/** HAProxy's master socket (`-S`): reload with its verdict, and the list of processes. Never used for bulk. */
import { connect } from "node:net";
import { MasterError } from "../errors.ts";

export interface ReloadVerdict {
  readonly ok: boolean;
  /** What HAProxy said, without the status line. */
  readonly output: string;
}

export interface MasterProcess {
  readonly pid: number;
  readonly type: "master" | "worker" | "old-worker";
  readonly reloads: number;
  readonly version: string;
}

/**
 * Sends one line and reads to the end. The master keeps the connection open until the client half-closes.
 * While it re-executes itself nothing listens: the caller retries on MasterError with `retriable`.
 */
export function masterCommand(path: string, line: string, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    let text = "";
    socket.setEncoding("utf8");
    socket.setTimeout(timeoutMs, () =>
      socket.destroy(new MasterError(`the master did not answer \`${line}\` within ${timeoutMs} ms`)),
    );
    socket.on("connect", () => socket.end(`${line}\n`));
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("error", (error) => {
      if (error instanceof MasterError) reject(error);
      else
        reject(new MasterError(`HAProxy's master socket ${path}: ${error.message}`, { cause: error, retriable: true }));
    });
    socket.on("close", () => resolve(text));
  });
}

/**
 * One `reload`. An empty answer means that the master was busy with another one.
 * @throws MasterError when the master cannot be reached or gives no verdict.
 */
export async function masterReload(path: string, timeoutMs: number): Promise<ReloadVerdict> {
  const text = await masterCommand(path, "reload", timeoutMs);
  if (text === "") throw new MasterError("the master closed the connection without a verdict", { retriable: true });
  return parseReloadVerdict(text);
}

/** `Success=1` and no `[ALERT]`: HAProxy 3.4 serves some configurations that it alerts about; those are refused here. */
export function parseReloadVerdict(text: string): ReloadVerdict {
  const match = /^Success=([01])\n(?:--\n)?/.exec(text);
  if (match === null)
    throw new MasterError(`the master's answer to \`reload\` could not be read: ${text.slice(0, 200)}`);
  const output = text.slice(match[0].length).trim();
  return { ok: match[1] === "1" && !/^\[ALERT\]/m.test(output), output };
}

/** `show proc`. After a failed reload the worker that still serves is listed as an old one. */
export async function masterProcesses(path: string, timeoutMs: number): Promise<MasterProcess[]> {
  return parseProcesses(await masterCommand(path, "show proc", timeoutMs));
}

export function parseProcesses(text: string): MasterProcess[] {
  const processes: MasterProcess[] = [];
  let old = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("# ")) old = line.startsWith("# old workers");
    const match = /^(\d+)\s+(master|worker)\s+(\d+)(?: \[failed: \d+\])?\s+\S+\s+(\S+)/.exec(line);
    if (match === null) continue;
    const type = match[2] === "master" ? "master" : old ? "old-worker" : "worker";
    processes.push({ pid: Number(match[1]), type, reloads: Number(match[3]), version: match[4] ?? "" });
  }
  return processes;
}
