/** HTTP/3 beside the other load: a client of aioquic, in a process of its own, that obeys GOAWAY. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { BulkReport } from "../harness/bulk.ts";
import type { MoreLoad } from "../harness/load.ts";

export interface H3Plan {
  readonly name: string;
  /** The interpreter that has aioquic. */
  readonly python: string;
  readonly address: string;
  readonly port: number;
  readonly host: string;
  readonly path: string;
  /** Judges the server's certificate. */
  readonly ca: string;
  readonly methods: readonly ("GET" | "POST")[];
  /** Requests in flight of each method, each on a connection of its own. */
  readonly workers: number;
  readonly pauseMs: number;
}

export interface H3Report extends BulkReport {
  readonly goaways: number;
  readonly connections: number;
}

/** Asks until it is stopped; `onEnd` hears what is told besides the counts. */
export function startH3(plan: H3Plan, onEnd: (report: H3Report) => void = () => undefined): MoreLoad {
  const child = spawn(plan.python, [join(import.meta.dirname, "h3_client.py")], { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stdin.on("error", () => undefined);
  const gone = once(child, "close");
  child.stdin.write(`${JSON.stringify(plan)}\n`);
  return {
    async stop() {
      child.stdin.end();
      await gone;
      if (said === "") throw new Error("the HTTP/3 client told nothing");
      const report = { ...(JSON.parse(said) as Omit<H3Report, "name">), name: plan.name };
      onEnd(report);
      return report;
    },
  };
}
