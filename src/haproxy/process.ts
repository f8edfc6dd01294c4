/** The haproxy binary as a child process, for the few moments in which the agent's side needs it. */
import { execFile } from "node:child_process";
import { dirname } from "node:path";

export interface CheckOutcome {
  readonly ok: boolean;
  readonly output: string;
}

/** `haproxy -c`: passed means exit code 0 and no `[ALERT]` (3.4 alerts about some things and still returns 0). */
export function checkConfig(binary: string, path: string): Promise<CheckOutcome> {
  return new Promise((resolve) => {
    execFile(
      binary,
      ["-c", "-f", path],
      { cwd: dirname(path), maxBuffer: 4 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const output = `${stdout}${stderr}`.trim();
        const said = output === "" && error !== null ? error.message : output;
        resolve({ ok: error === null && !/^\[ALERT\]/m.test(output), output: said });
      },
    );
  });
}
