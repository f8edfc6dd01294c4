import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "uvu";
import * as assert from "uvu/assert";

const source = new URL("../../../src/cli/signals.ts", import.meta.url).href;

/** A process that runs `body` with both functions at hand, once it has said "up". */
async function start(body: string): Promise<ChildProcess> {
  const code = `import { endAtSignals, stopSignal } from ${JSON.stringify(source)};
    setInterval(() => {}, 1000); ${body}; console.log("up");`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

for (const signal of ["SIGTERM", "SIGUSR1"] as const) {
  test(`A process that has nothing to finish yet ends at ${signal}`, async () => {
    const child = await start("endAtSignals()");
    child.kill(signal);
    assert.equal(await once(child, "exit"), [0, null]);
  });

  test(`A process that serves hears ${signal} and ends in order`, async () => {
    const child = await start(
      "endAtSignals(); stopSignal().then((name) => setTimeout(() => { console.log(name); process.exit(7); }, 50))",
    );
    let said = "";
    child.stdout!.on("data", (part: Buffer) => (said += part.toString()));
    child.kill(signal);
    assert.equal(await once(child, "close"), [7, null]);
    assert.match(said, signal);
  });
}

test.run();
