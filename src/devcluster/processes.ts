/**
 * Child processes that leave nothing behind. Each runs in a group of its own (so that Ctrl-C reaches `haptic dev` alone,
 * which ends them in order), and a small watcher process outlives us: when its pipe from us closes, however that came, it
 * ends the groups that are left and removes the folder.
 */
import { type ChildProcess, spawn } from "node:child_process";

/** Reads `+GROUP` and `-GROUP` lines; at the end of its input ends those that are left, then removes the folder $1 (unless $2 is set). */
const WATCHER = `
trap '' INT TERM HUP
groups=" "
while read -r line; do
  case $line in
    +*) groups="$groups\${line#+} " ;;
    -*) id=\${line#-}; groups=$(printf '%s' "$groups" | sed "s/ $id / /") ;;
  esac
done
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
[ "$groups" = " " ] || sleep 1
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
[ -n "$2" ] || rm -rf -- "$1"
`;

export interface ProcessSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly folder?: string;
  /** Hears each line of both output streams. */
  readonly onLine: (line: string) => void;
  /** Opens a channel that closes when we die (Node children end themselves then). */
  readonly channel?: boolean;
}

export interface RunningProcess {
  readonly pid: number;
  /** How it ended: `exit code 0`, `signal SIGKILL`. */
  readonly ended: Promise<string>;
  /** Sends TERM to the group, KILL after `graceMs`; resolves when the process is gone. */
  end(graceMs: number): Promise<void>;
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // It is gone already.
  }
}

/** Calls `onLine` for each whole line of a stream, and for an unfinished last one. */
function lines(child: ChildProcess, onLine: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    let rest = "";
    stream?.setEncoding("utf8").on("data", (text: string) => {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      for (const line of parts) onLine(line);
    });
    stream?.on("end", () => rest !== "" && onLine(rest));
  }
}

export class ProcessKeeper {
  readonly #watcher: ChildProcess;
  readonly #running = new Set<RunningProcess>();

  /** `folder` is removed when everything has ended, unless it shall be kept. */
  constructor(folder: string, keep = false) {
    this.#watcher = spawn("/bin/sh", ["-c", WATCHER, "haptic-dev-watcher", folder, keep ? "keep" : ""], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      cwd: "/",
    });
    // Its end is awaited in clear(); an early end shows as an error of the pipe, which nobody needs to hear.
    this.#watcher.stdin!.on("error", () => undefined);
    this.#watcher.unref();
  }

  start(spec: ProcessSpec): RunningProcess {
    const child = spawn(spec.command, [...spec.args], {
      detached: true,
      stdio: ["ignore", "pipe", "pipe", ...(spec.channel === true ? (["ipc"] as const) : [])],
      env: { ...(spec.environment ?? process.env) },
      ...(spec.folder === undefined ? {} : { cwd: spec.folder }),
    });
    const { pid } = child;
    if (pid !== undefined) this.#watcher.stdin!.write(`+${pid}\n`);
    lines(child, spec.onLine);
    const ended = new Promise<string>((done) => {
      child.on("error", (error) => done(error.message));
      child.on("exit", (code, signal) => done(signal === null ? `exit code ${code}` : `signal ${signal}`));
    });
    const running: RunningProcess = {
      pid: pid ?? 0,
      ended,
      end: async (graceMs) => {
        if (pid === undefined) return;
        signalGroup(pid, "SIGTERM");
        const insist = setTimeout(() => signalGroup(pid, "SIGKILL"), graceMs);
        await ended;
        clearTimeout(insist);
      },
    };
    this.#running.add(running);
    void ended.then(() => {
      this.#running.delete(running);
      if (pid === undefined) return;
      // What the process itself left in its group goes with it, as in a container.
      signalGroup(pid, "SIGKILL");
      this.#watcher.stdin!.write(`-${pid}\n`);
    });
    return running;
  }

  /** Ends what still runs and removes the folder; resolves when that is done. */
  async clear(graceMs: number): Promise<void> {
    await Promise.all([...this.#running].map((running) => running.end(graceMs)));
    const gone = new Promise<void>((done) => {
      if (this.#watcher.exitCode !== null) return done();
      this.#watcher.on("exit", () => done());
    });
    this.#watcher.ref();
    this.#watcher.stdin!.end();
    await gone;
  }
}
