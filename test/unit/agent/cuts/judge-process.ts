/**
 * The judge of the cuts, a program of its own that shares no code with the agent: is told sets of files, then asked which
 * of them a tree holds. Messages: `know` a set, `judge` a tree.
 */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

export type JudgeOrder =
  | { readonly do: "know"; readonly id: string; readonly files: Readonly<Record<string, string>> }
  | { readonly do: "forget"; readonly id: string }
  | { readonly do: "judge"; readonly base: string };

export interface Judgement {
  /** The set that `current` holds; "" = none that is known: a mixture. */
  readonly current: string;
  /** The set that HAProxy would go back to; "" = none that is known, undefined = there is none. */
  readonly lastGood: string | undefined;
  /** What is not as it shall be. */
  readonly remarks: readonly string[];
}

const STATE = ".haptic-agent.json";
const known = new Map<string, Readonly<Record<string, string>>>();

function filesBelow(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory() || entry.name === STATE) continue;
    const path = join(entry.parentPath, entry.name);
    found[path.slice(root.length + 1)] = readFileSync(path, "utf8");
  }
  return found;
}

function setOf(root: string): string {
  const found = filesBelow(root);
  const names = Object.keys(found);
  for (const [id, files] of known) {
    if (names.length !== Object.keys(files).length) continue;
    if (names.every((name) => files[name] === found[name])) return id;
  }
  return "";
}

function judge(base: string): Judgement {
  const remarks: string[] = [];
  let lastGood: string | undefined;
  try {
    readlinkSync(join(base, ".haptic", "lkg"));
    lastGood = setOf(join(base, ".haptic", "lkg"));
  } catch {
    // There is none yet.
  }
  // Every name in the base directory leads into the set in force.
  for (const name of readdirSync(base)) {
    const place = join(base, name);
    // `current.new` is left where a cut came between making and renaming it.
    if (name === ".haptic" || name.startsWith("current") || !lstatSync(place).isSymbolicLink()) continue;
    if (readlinkSync(place) !== join("current", name)) remarks.push(`${name} leads to ${readlinkSync(place)}`);
  }
  return { current: setOf(join(base, "current")), lastGood, remarks };
}

process.on("message", (order: JudgeOrder) => {
  if (order.do === "know") known.set(order.id, order.files);
  else if (order.do === "forget") known.delete(order.id);
  else {
    let answer: Judgement;
    try {
      answer = judge(order.base);
    } catch (error) {
      answer = { current: "", lastGood: undefined, remarks: [String(error)] };
    }
    process.send?.(answer);
  }
});
process.on("disconnect", () => process.exit());
