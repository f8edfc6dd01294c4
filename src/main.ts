/**
 * The command table. Each sub-command is a file of its own in cli/, loaded only when it is asked for, so that
 * `haptic version` does not pay for the controller's packages.
 */
import { errorText } from "./cli/report.ts";
import { endAtSignals } from "./cli/signals.ts";
import type { Command } from "./cli/types.ts";
import { UnknownCommandError, UsageError } from "./errors.ts";

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

const commands: Readonly<Record<string, Entry>> = {
  run: { summary: "run the controller in a cluster", load: () => import("./cli/run.ts") },
  agent: { summary: "run the agent beside HAProxy, or ask it for its state", load: () => import("./cli/agent.ts") },
  dev: { summary: "the whole product on this machine, with no cluster", load: () => import("./cli/dev.ts") },
  render: { summary: "render a configuration from files, without a cluster", load: () => import("./cli/render.ts") },
  diff: {
    summary: "what a change would ask of HAProxy: at run time, or a reload and why",
    load: () => import("./cli/diff.ts"),
  },
  template: {
    summary: "evaluate an expression or a file of the template language",
    load: () => import("./cli/template.ts"),
  },
  version: { summary: "print the version", load: () => import("./cli/version.ts") },
};

/** Number of single-character edits (insert, delete, replace, swap of neighbours) between two short words. */
function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + (same ? 0 : 1));
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        cost = Math.min(cost, beforePrevious[column - 2]! + 1);
      }
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[to.length]!;
}

/** The known command nearest to a misspelt one, if one is near. */
function suggestionFor(name: string): string | undefined {
  const [best] = [...Object.keys(commands), "help"]
    .map((known) => ({ known, distance: known.startsWith(name) ? 1 : editDistance(name, known) }))
    .sort((left, right) => left.distance - right.distance);
  return best !== undefined && best.distance <= 2 ? best.known : undefined;
}

function overview(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const rows = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    "haptic: template-driven HAProxy ingress controller for Kubernetes",
    "",
    "Usage: haptic COMMAND [FLAGS]",
    "",
    "Commands:",
    ...rows,
    `  ${"help".padEnd(width)}  print this, or the help of one command: haptic help COMMAND`,
    "",
  ].join("\n");
}

function entryOf(name: string): Entry {
  if (Object.hasOwn(commands, name)) return commands[name]!;
  const suggestion = suggestionFor(name);
  throw new UnknownCommandError(
    `unknown command ${JSON.stringify(name)}`,
    suggestion === undefined ? "`haptic help` lists the commands" : `did you mean \`haptic ${suggestion}\`?`,
  );
}

async function main(argv: readonly string[]): Promise<number> {
  const [first = "help", ...rest] = argv;
  if (["help", "--help", "-h"].includes(first)) {
    const [topic] = rest;
    const isOverview = topic === undefined || topic === "help";
    process.stdout.write(isOverview ? overview() : (await entryOf(topic).load()).command.usage);
    return 0;
  }
  const name = first === "--version" || first === "-v" ? "version" : first;
  const { command } = await entryOf(name).load();
  const ownFlags = rest.includes("--") ? rest.slice(0, rest.indexOf("--")) : rest;
  if (ownFlags.includes("--help") || ownFlags.includes("-h")) {
    process.stdout.write(command.usage);
    return 0;
  }
  return command.run(rest);
}

// Whoever started us holds a channel whose closing tells that it is gone, also when it was killed: then end in order too.
if (process.channel !== undefined) {
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
}

if (process.pid === 1) endAtSignals();

// Of 64 KiB, as Node has it, one small buffer that stays keeps all of them: 24 MiB for the blocks of 10,000 routes.
Buffer.poolSize = 8 * 1024;

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(errorText(error));
  process.exitCode = error instanceof UnknownCommandError || error instanceof UsageError ? 2 : 1;
}
