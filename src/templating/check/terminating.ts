/** Whether a list of statements can be left at its end (Go specification, "Terminating statements"). */
import type { Statement } from "../syntax/tree.ts";

/** Calls that never come back. */
const FINAL: ReadonlySet<string> = new Set(["panic", "fail"]);

/** Whether control never runs off the end of these statements. */
export function terminates(body: readonly Statement[]): boolean {
  const last = body.findLast((statement) => !(statement.kind === "text" && statement.text.trim() === ""));
  return last !== undefined && isFinal(last);
}

function isFinal(statement: Statement): boolean {
  switch (statement.kind) {
    case "return":
      return true;
    case "expression": {
      const { x } = statement;
      return x.kind === "call" && x.fn.kind === "name" && FINAL.has(x.fn.name);
    }
    case "block":
    case "sequence":
      return terminates(statement.body);
    case "if":
      return statement.otherwise !== undefined && terminates(statement.body) && terminates(statement.otherwise);
    case "for":
      return statement.condition === undefined && !breaksOut(statement.body, statement.label, true);
    case "switch":
      return (
        statement.cases.some((c) => c.values === undefined && c.types === undefined) &&
        statement.cases.every((c) => (c.fallthrough || terminates(c.body)) && !breaksOut(c.body, statement.label, true))
      );
    default:
      return false;
  }
}

/** Whether a break in these statements leaves the loop or switch around them. `near` = no other one lies between. */
function breaksOut(body: readonly Statement[], label: string | undefined, near: boolean): boolean {
  return body.some((statement): boolean => {
    switch (statement.kind) {
      case "jump":
        return statement.word === "break" && (statement.label === undefined ? near : statement.label === label);
      case "block":
      case "sequence":
        return breaksOut(statement.body, label, near);
      case "if":
        return breaksOut(statement.body, label, near) || breaksOut(statement.otherwise ?? [], label, near);
      case "for":
        return breaksOut(statement.body, label, false);
      case "range":
        return breaksOut(statement.body, label, false) || breaksOut(statement.otherwise ?? [], label, near);
      case "switch":
        return statement.cases.some((c) => breaksOut(c.body, label, false));
      default:
        return false;
    }
  });
}
