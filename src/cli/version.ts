/** `haptic version`: what is running, for bug reports. */
import manifest from "../../package.json" with { type: "json" };
import type { Command } from "./types.ts";
import { readFlags } from "./flags.ts";

const usage = `Usage: haptic version [--json]

Prints HAPTIC's version, the Node it runs on and the platform.

  --json   as one JSON object
`;

export const command: Command = {
  summary: "print the version",
  usage,
  run(argv) {
    const flags = readFlags("version", argv, { json: { type: "boolean" } });
    const facts = {
      version: manifest.version,
      node: process.versions.node,
      platform: `${process.platform}/${process.arch}`,
    };
    process.stdout.write(
      flags.json === true
        ? `${JSON.stringify(facts)}\n`
        : `haptic ${facts.version} (Node ${facts.node}, ${facts.platform})\n`,
    );
    return Promise.resolve(0);
  },
};
