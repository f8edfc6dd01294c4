/**
 * A small shell process that starts children for us. Forking a large Node process copies its page tables (20 ms at the
 * sizes of a controller); the shell is forked once, while we are small, and forks for us from then on.
 *
 * Protocol: one line a request, fields separated by US (0x1f): id, output file, directory, niceness, command and
 * arguments. Answers: `S id pid` when started, `E id status` when ended. The shell ends when our end of its pipe closes.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { HaproxyBinaryError } from "../errors.ts";
import { claimScratch, type Scratch } from "./scratch.ts";

const SEPARATOR = "\x1f";

const SCRIPT = `
set -f
us=$(printf '\\037')
while IFS= read -r line; do
  IFS=$us
  set -- $line
  unset IFS
  id=$1 out=$2 dir=$3 level=$4
  shift 4
  {
    cd "$dir" || { printf 'E %s 127\\n' "$id"; exit; }
    nice -n "$level" "$@" >"$out" 2>&1 </dev/null &
    pid=$!
    printf 'S %s %s\\n' "$id" "$pid"
    wait "$pid"
    printf 'E %s %s\\n' "$id" "$?"
  } &
done
`;

export interface SpawnRequest {
  /** Program and arguments; none may be empty or hold a line end or control character. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** Killed (SIGKILL) when aborted; `run` then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** 0–19, default 0. */
  readonly nice?: number;
  /** Bytes of output kept, from the start; default 64 KiB. */
  readonly outputLimit?: number;
}

export interface SpawnResult {
  /** Exit status; 128 + n when ended by signal n, 126 or 127 when it could not be started. */
  readonly code: number;
  /** Standard output and error together. */
  readonly output: string;
}

export interface Spawner {
  run(request: SpawnRequest): Promise<SpawnResult>;
  /** Kills what still runs and ends the shell. */
  close(): Promise<void>;
}

interface Running {
  pid: number | undefined;
  readonly kill: () => void;
  readonly ended: (code: number) => void;
  readonly failed: (error: Error) => void;
}

/** Makes a spawner; its shell is started at the first request, or by `warm`. `environment` is all that children get. */
export function createSpawner(
  environment: Readonly<Record<string, string>> = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
): Spawner & { warm(): Promise<void> } {
  const running = new Map<number, Running>();
  let shell: ChildProcess | undefined;
  let folder: Promise<Scratch> | undefined;
  let nextId = 1;
  let closed = false;

  const lost = (child: ChildProcess, cause: string): void => {
    if (shell === child) shell = undefined;
    for (const [id, entry] of running) {
      running.delete(id);
      entry.failed(new HaproxyBinaryError(`the process that starts children is gone: ${cause}`));
    }
  };

  const start = (): ChildProcess => {
    if (shell !== undefined) return shell;
    const child = spawn("/bin/sh", ["-c", SCRIPT], { stdio: ["pipe", "pipe", "ignore"], env: { ...environment } });
    child.on("error", (error) => lost(child, error.message));
    child.on("exit", (code, signal) => lost(child, `status ${code ?? signal}`));
    child.stdin.on("error", (error) => lost(child, error.message));
    createInterface({ input: child.stdout }).on("line", (line) => answer(line));
    hold(child, false);
    shell = child;
    return child;
  };

  const answer = (line: string): void => {
    const [word, idText, value] = line.split(" ");
    const id = Number(idText);
    const entry = running.get(id);
    if (entry === undefined) return;
    if (word === "S") {
      entry.pid = Number(value);
      entry.kill();
    } else if (word === "E") {
      running.delete(id);
      if (running.size === 0 && shell !== undefined) hold(shell, false);
      entry.ended(Number(value));
    }
  };

  const warm = async (): Promise<void> => {
    start();
    await (folder ??= claimScratch(tmpdir(), "haptic-spawn-"));
  };

  const run = async (request: SpawnRequest): Promise<SpawnResult> => {
    if (closed) throw new HaproxyBinaryError("the spawner is closed");
    const fields = [request.cwd, String(request.nice ?? 0), ...request.command];
    // oxlint-disable-next-line no-control-regex -- control characters are exactly what must not pass
    if (fields.some((field) => field === "" || /[\u0000-\u001f\u007f]/.test(field))) {
      throw new HaproxyBinaryError("a command for a child process is empty or holds a control character");
    }
    request.signal.throwIfAborted();
    await warm();
    const id = nextId++;
    const out = join((await (folder as Promise<Scratch>)).directory, String(id));
    try {
      const code = await new Promise<number>((resolve, reject) => {
        const entry: Running = {
          pid: undefined,
          kill: () => {
            if (request.signal.aborted && entry.pid !== undefined) killQuietly(entry.pid);
          },
          ended: (status) => {
            request.signal.removeEventListener("abort", entry.kill);
            resolve(status);
          },
          failed: reject,
        };
        running.set(id, entry);
        hold(start(), true);
        request.signal.addEventListener("abort", entry.kill);
        start().stdin?.write(`${[id, out, ...fields].join(SEPARATOR)}\n`);
      });
      request.signal.throwIfAborted();
      return { code, output: await readHead(out, request.outputLimit ?? 64 * 1024) };
    } finally {
      await unlink(out).catch(() => {});
    }
  };

  const close = async (): Promise<void> => {
    closed = true;
    for (const entry of running.values()) if (entry.pid !== undefined) killQuietly(entry.pid);
    const child = shell;
    if (child !== undefined && child.exitCode === null) {
      const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      child.ref();
      child.stdin?.end();
      await gone;
    }
    if (folder !== undefined) await (await folder).close();
  };

  return { run, warm, close };
}

/** Whether the shell keeps our process alive: only while it works for us. */
function hold(child: ChildProcess, alive: boolean): void {
  for (const part of [child, child.stdin, child.stdout] as ({ ref?(): void; unref?(): void } | null)[]) {
    if (alive) part?.ref?.();
    else part?.unref?.();
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

async function readHead(path: string, limit: number): Promise<string> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return "";
  try {
    const buffer = Buffer.alloc(limit);
    const { bytesRead } = await file.read(buffer, 0, limit, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
