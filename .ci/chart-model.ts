/** Reads an XState machine into a plain chart, and prints it as a Mermaid state diagram. */
import type { AnyStateMachine, AnyStateNode } from "xstate";

export interface ChartTransition {
  readonly event: string;
  readonly guard: string | undefined;
  readonly actions: readonly string[];
  /** Id of the target state; undefined = stays. */
  readonly target: string | undefined;
}

export interface ChartNode {
  readonly id: string;
  readonly key: string;
  readonly type: AnyStateNode["type"];
  /** Id of the initial child. */
  readonly initial?: string;
  readonly entry: readonly string[];
  readonly exit: readonly string[];
  readonly invoke: readonly string[];
  readonly transitions: readonly ChartTransition[];
  readonly states: readonly ChartNode[];
}

const nameOf = (reference: unknown): string => {
  if (typeof reference === "string") return reference;
  const { type, params } = reference as { type?: string; params?: unknown };
  if (type === undefined) return "inline";
  return typeof params === "object" && params !== null ? `${type}(${Object.values(params).join(", ")})` : type;
};

/** `after` compiles to a raise on entry and a cancel on exit; the timer is already an edge. */
const written = (action: string): boolean => action !== "xstate.raise" && action !== "xstate.cancel";

const tidyEvent = (event: string): string => {
  const patterns: readonly [RegExp, (match: RegExpExecArray) => string][] = [
    [/^xstate\.after\.([^.]+)\./, (match) => `after ${match[1]}`],
    [/^xstate\.done\.actor\.(.+)$/, (match) => `done(${match[1]})`],
    [/^xstate\.error\.actor\.(.+)$/, (match) => `error(${match[1]})`],
    [/^xstate\.done\.state\./, () => "done"],
  ];
  for (const [pattern, print] of patterns) {
    const match = pattern.exec(event);
    if (match !== null) return print(match);
  }
  return event === "" ? "always" : event;
};

const visit = (node: AnyStateNode): ChartNode => {
  const all = [...node.transitions.entries(), ["", node.always ?? []] as const];
  const initial = node.type === "compound" ? node.initial.target?.[0]?.id : undefined;
  return {
    id: node.id,
    key: node.key,
    type: node.type,
    ...(initial !== undefined && { initial }),
    entry: node.entry.map(nameOf).filter(written),
    exit: node.exit.map(nameOf).filter(written),
    invoke: node.invoke.map((invoke) => (typeof invoke.src === "string" ? invoke.src : invoke.id)),
    transitions: all.flatMap(([event, transitions]) =>
      transitions.flatMap((transition) =>
        (transition.target?.map((target) => target.id) ?? [undefined]).map((target) => ({
          event: tidyEvent(event),
          guard: transition.guard === undefined ? undefined : nameOf(transition.guard),
          actions: transition.actions.map(nameOf),
          target,
        })),
      ),
    ),
    states: Object.values(node.states)
      .sort((a, b) => a.order - b.order)
      .map(visit),
  };
};

export const chartOf = (machine: AnyStateMachine): ChartNode => visit(machine.root);

export const labelOf = ({ event, guard, actions }: ChartTransition): string =>
  `${event}${guard === undefined ? "" : ` [${guard}]`}${actions.length === 0 ? "" : ` / ${actions.join(", ")}`}`;

/** What a state shows beside its name: invokes, entry, exit, transitions that stay. */
export const factsOf = (node: ChartNode): string[] => [
  ...node.invoke.map((invoke) => `invoke ${invoke}`),
  ...node.entry.map((action) => `entry / ${action}`),
  ...node.exit.map((action) => `exit / ${action}`),
  ...node.transitions
    // The root has no box around it in which an edge of its own could begin.
    .filter((transition) => transition.target === undefined || !node.id.includes("."))
    .map((transition) => `${labelOf(transition)}${transition.target === undefined ? "" : ` → ${transition.target}`}`),
];

/** Mermaid reads `:` as the end of a name, and `"` as the end of a text. */
const mermaidText = (text: string): string => text.replaceAll(":", "∶").replaceAll('"', "'");
const mermaidId = (id: string): string => id.replace(/[^A-Za-z0-9_]/g, "_");

export function toMermaid(root: ChartNode): string {
  const lines: string[] = ["stateDiagram-v2"];
  /** Mermaid cannot draw an edge between states of two composites inside one of them: those go last, at the root. */
  const last: string[] = [];

  const print = (node: ChartNode, depth: number): void => {
    const pad = "  ".repeat(depth);
    const title = `${pad}state "${[node.key, ...factsOf(node)].map(mermaidText).join("<br/>")}" as ${mermaidId(node.id)}`;
    if (node.states.length === 0) {
      lines.push(title);
      if (node.type === "final") lines.push(`${pad}${mermaidId(node.id)} --> [*]`);
      return;
    }
    lines.push(`${title} {`);
    node.states.forEach((child, index) => {
      if (node.type === "parallel" && index > 0) lines.push(`${pad}  --`);
      print(child, depth + 1);
    });
    if (node.initial !== undefined) lines.push(`${pad}  [*] --> ${mermaidId(node.initial)}`);
    for (const child of node.states) {
      for (const transition of child.transitions) {
        if (transition.target === undefined) continue;
        const line = `${mermaidId(child.id)} --> ${mermaidId(transition.target)}: ${mermaidText(labelOf(transition))}`;
        if (node.states.some((state) => state.id === transition.target)) lines.push(`${pad}  ${line}`);
        else last.push(`  ${line}`);
      }
    }
    lines.push(`${pad}}`);
  };

  print(root, 1);
  for (const transition of root.transitions) {
    if (transition.target === undefined) continue;
    last.push(`  ${mermaidId(root.id)} --> ${mermaidId(transition.target)}: ${mermaidText(labelOf(transition))}`);
  }
  return `${[...lines, ...last].join("\n")}\n`;
}
