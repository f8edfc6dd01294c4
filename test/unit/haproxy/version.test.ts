import { test } from "uvu";
import * as assert from "uvu/assert";
import { capabilitiesOf, compareVersions, lowestVersion, parseHaproxyVersion } from "../../../src/haproxy/index.ts";

test("the first line of haproxy -v is understood, releases and development versions", () => {
  assert.equal(
    parseHaproxyVersion("HAProxy version 3.4.7-1~bpo12+1 2026/11/01 - https://haproxy.org/\nStatus: LTS\n"),
    {
      version: "3.4.7",
      fullVersion: "3.4.7-1~bpo12+1",
      major: 3,
      minor: 4,
    },
  );
  assert.is(parseHaproxyVersion("HAProxy version 3.5-dev2-abc 2026/11/01")?.version, "3.5-dev2");
  assert.is(parseHaproxyVersion("nginx version: 1"), undefined);
});

test("versions compare by number, not by text", () => {
  assert.ok(compareVersions("3.10.0", "3.4.7") > 0);
  assert.ok(compareVersions("3.4", "3.4.1") < 0);
  assert.is(lowestVersion(["3.4.7", "3.2.26", "3.10.1"]), "3.2.26");
  assert.is(lowestVersion([]), undefined);
});

test("capabilities follow the version", () => {
  assert.is(capabilitiesOf("3.0.9")["supports_crt_list"], false);
  assert.is(capabilitiesOf("3.2.1")["supports_crt_list"], true);
  assert.is(capabilitiesOf("3.2.1")["supports_dynamic_backends"], false);
  assert.is(capabilitiesOf("3.4.0")["supports_dynamic_backends"], true);
  assert.is(capabilitiesOf("3.4.0")["is_enterprise"], false);
});

test.run();
