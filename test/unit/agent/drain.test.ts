import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { acceptedConnections, drain, serveDrain } from "../../../src/agent/drain.ts";
import { askAgent } from "../../../src/agent/local.ts";

const dir = mkdtempSync(join(tmpdir(), "haptic-drain-"));
test.after(() => rmSync(dir, { recursive: true, force: true }));

const TABLE = `# pxname,svname,scur,conn_tot,type,
status,FRONTEND,1,40,0,
http,FRONTEND,2,7,0,
https,FRONTEND,0,3,0,
web,BACKEND,0,99,1,
`;

test("The connections of frontends count, those of ignored ones and of backends do not", () => {
  assert.is(acceptedConnections(TABLE, new Set(["status"])), 10);
  assert.is(acceptedConnections(TABLE, new Set()), 50);
  assert.is(acceptedConnections("", new Set()), 0);
});

test("An HAProxy that is not there is drained after the quiet period", async () => {
  const drained = await drain({
    workerSocket: join(dir, "none.sock"),
    quietMs: 20,
    limitMs: 60_000,
    ignoredFrontends: [],
  });
  assert.equal(drained, { end: "quiet", came: 0 });
});

test("The socket answers GET /drain when it is over, and nothing else", async () => {
  const path = join(dir, "drain.sock");
  const options = {
    workerSocket: join(dir, "none.sock"),
    quietMs: 20,
    limitMs: 60_000,
    ignoredFrontends: [],
  };
  let letGo = 0;
  const server = await serveDrain(path, options, () => {
    letGo += 1;
  });
  assert.equal(await askAgent(path, "GET", "/drain"), { end: "quiet", came: 0 });
  await askAgent(path, "POST", "/drain").then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, "404"),
  );
  while (letGo === 0) await new Promise((resolve) => setTimeout(resolve, 10)); // an HAProxy that is not there is let go
  await server.close();
});

test.run();
