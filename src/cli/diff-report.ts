/** How `haptic diff` tells what a change asks of HAProxy. */
import { type Op, tellCause, tellHint, tellReason } from "../plan/index.ts";
import type { PlanDiff, PlanFile } from "../plan/types.ts";

/** The difference for one version of HAProxy. */
export interface VersionDiff {
  readonly haproxy: string;
  readonly diff: PlanDiff;
}

/** Operations that are listed on a terminal. */
const MOST_OPS = 40;

const WORDS: Readonly<Record<PlanDiff["verdict"], string>> = {
  noop: "nothing changes",
  runtime: "changes at run time",
  file_only: "files change; HAProxy need not be told",
  reload: "reloads",
};

/** Versions for which the same holds stand together. */
export function diffText(diffs: readonly VersionDiff[]): string {
  const groups = new Map<string, { readonly versions: string[]; readonly text: string }>();
  for (const { haproxy, diff } of diffs) {
    const text = bodyOf(diff);
    const group = groups.get(text);
    if (group === undefined) groups.set(text, { versions: [haproxy], text });
    else group.versions.push(haproxy);
  }
  return [...groups.values()].map(({ versions, text }) => `HAProxy ${versions.join(", ")}: ${text}`).join("\n");
}

function bodyOf({ verdict, reloads, ops, inPlaceOps, changed, removed }: PlanDiff): string {
  const lines = [WORDS[verdict]];
  // The words are those of statuses, Events and logs.
  for (const reason of reloads) {
    const hint = tellHint(reason);
    lines.push(`  because ${tellCause(reason)}${hint === "" ? "" : ";"}`);
    if (hint !== "") lines.push(`          ${hint}`);
  }
  lines.push(
    ...listOf("operations", ops),
    ...listOf("at once, where the reload has to wait", inPlaceOps, verdict === "reload"),
  );
  const files = [...changed.map((file) => `~ ${file.path}`), ...removed.map((path) => `- ${path}`)];
  if (files.length > 0) lines.push("  files", ...cut(files).map((line) => `    ${line}`));
  return `${lines.join("\n")}\n`;
}

function listOf(title: string, ops: readonly Op[], shown = true): string[] {
  if (ops.length === 0 || !shown) return [];
  return [`  ${title}`, ...cut(ops.map(opText)).map((line) => `    ${line}`)];
}

function cut(lines: readonly string[]): readonly string[] {
  return lines.length <= MOST_OPS
    ? lines
    : [...lines.slice(0, MOST_OPS), `and ${lines.length - MOST_OPS} more; -o json has all`];
}

/** `server_add      shop_web/web-1 10.0.0.1:80 check` */
export function opText(op: Op): string {
  const { kind, backend, server, profile, address, port, weight, state, keywords, path, key, value, cert } = op;
  const subject = path ?? (server === undefined ? backend : `${backend}/${server}`) ?? "";
  const words = [
    subject,
    profile === undefined ? "" : `from ${profile}`,
    address === undefined ? "" : `${address.includes(":") ? `[${address}]` : address}:${port}`,
    weight === undefined || weight === null ? "" : `weight ${weight}`,
    state ?? "",
    ...(keywords ?? []).map(({ name, args }) => [name, ...args].join(" ")),
    key ?? "",
    value ?? "",
    cert ?? "",
    ...(op.sni_filters ?? []),
  ];
  return `${kind.padEnd(18)} ${words.filter((word) => word !== "").join(" ")}`;
}

const fileJson = ({ path, kind, size }: PlanFile): object => ({ path, kind, size });

export function diffJson({ haproxy, diff }: VersionDiff): object {
  const { verdict, reloads, ops, inPlaceOps, changed, removed } = diff;
  return {
    haproxy,
    verdict,
    reasons: reloads.map((reason) => ({ ...reason, told: tellReason(reason) })),
    operations: ops,
    inPlaceOperations: verdict === "reload" ? inPlaceOps : [],
    files: { changed: changed.map(fileJson), removed },
  };
}
