/** A real agent process for tests that kill it: argv = base directory, listen address, TLS directory, log file. */
import { createWriteStream } from "node:fs";
import { flushCompileCache } from "node:module";
import { pino } from "pino";
import { runAgent } from "../../../src/agent/index.ts";
import { CLIENT_NAME } from "./harness.ts";

const [baseDir = "", listen = "", tlsDir = "", log = "/dev/null"] = process.argv.slice(2);
await runAgent({
  baseDir,
  listen,
  tlsDir,
  tlsClientName: CLIENT_NAME,
  reloadIntervalMs: 0,
  log: pino({ level: "info" }, createWriteStream(log, { flags: "a" })),
  now: () => performance.timeOrigin + performance.now(),
  monotonic: () => performance.now(),
});
// It will be killed, and the next one shall start sooner.
flushCompileCache();
