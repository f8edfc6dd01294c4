/** Runs kubectl against one API server and keeps what it said. */
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

export interface Target {
  /** Words before kubectl (a network namespace), kubectl itself, and what selects the server. */
  readonly command: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Splits at blanks; single quotes keep them. */
export const words = (line: string): string[] =>
  [...line.matchAll(/(?:[^\s']+|'[^']*')+/g)].map((match) => match[0].replaceAll("'", ""));

interface Running {
  readonly outcome: Promise<Outcome>;
  kill(): void;
}

function start(target: Target, args: readonly string[], cwd: string, stdin: string | undefined): Running {
  const [program = "", ...rest] = target.command;
  const child = spawn(program, [...rest, ...args], { cwd, env: target.environment });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => undefined).end(stdin ?? "");
  const outcome = new Promise<Outcome>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
  return { outcome, kill: () => child.kill("SIGTERM") };
}

/** Runs one command to its end (at most 30 s). */
export async function kubectl(target: Target, line: string, cwd: string, stdin?: string): Promise<Outcome> {
  const running = start(target, words(line), cwd, stdin);
  const limit = setTimeout(() => running.kill(), 30_000);
  const outcome = await running.outcome;
  clearTimeout(limit);
  return outcome;
}

/** Runs a command that watches while others run, then ends it. */
export async function watchDuring(
  target: Target,
  line: string,
  cwd: string,
  during: readonly string[],
): Promise<Outcome> {
  const running = start(target, words(line), cwd, undefined);
  await sleep(700);
  for (const step of during) await kubectl(target, step, cwd);
  await sleep(400);
  running.kill();
  const { stdout, stderr } = await running.outcome;
  return { code: null, stdout, stderr };
}
