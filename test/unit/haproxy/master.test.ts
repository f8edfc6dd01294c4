import { test } from "uvu";
import * as assert from "uvu/assert";
import { parseProcesses, parseReloadVerdict } from "../../../src/haproxy/master.ts";

test("Success=1 without an [ALERT] is the only success", () => {
  assert.equal(parseReloadVerdict("Success=1\n--\n[NOTICE]   (1) : Loading success.\n\n"), {
    ok: true,
    output: "[NOTICE]   (1) : Loading success.",
  });
  assert.is(parseReloadVerdict("Success=0\n--\n[ALERT]    (2) : config : unknown keyword\n").ok, false);
  assert.is(parseReloadVerdict("Success=1\n--\n[ALERT]    (2) : config : invalid character '/'\n").ok, false);
  assert.is(parseReloadVerdict("Success=1\n--\n[WARNING]  (2) : deprecated\n").ok, true);
  assert.throws(() => parseReloadVerdict("Unknown command"), /could not be read/);
});

test("after a failed reload the worker that serves is listed as an old one", () => {
  const text = `#<PID>          <type>          <reloads>       <uptime>        <version>
27576           master          1 [failed: 1]   0d00h00m10s     3.4.7-1
# workers
# old workers
28022           worker          1               0d00h00m01s     3.4.7-1
`;
  assert.equal(parseProcesses(text), [
    { pid: 27576, type: "master", reloads: 1, version: "3.4.7-1" },
    { pid: 28022, type: "old-worker", reloads: 1, version: "3.4.7-1" },
  ]);
});

test.run();
