import { test } from "uvu";
import * as assert from "uvu/assert";
import { carrierOf, cfgName, fileObjectName, labelValue } from "../../../src/publish/names.ts";

const parent = { name: "main-haproxycfg", uid: "u1" };
const map = carrierOf("map", false);
const SUM = `sha256:${"1".repeat(64)}`;

test("an object's name says which file it is, and is another one for another content, path, use or owner", () => {
  const name = fileObjectName(map, "maps/Host_1.map", SUM, parent);
  assert.match(name, /^haproxy-map-host-1-map-[0-9a-f]{20}$/);
  assert.is(fileObjectName(map, "maps/Host_1.map", SUM, parent), name);
  const others = [
    fileObjectName(map, "maps/Host_1.map", SUM.replace("1", "2"), parent),
    fileObjectName(map, "maps/Host-1.map", SUM, parent),
    fileObjectName(map, "maps/Host_1.map", SUM, { ...parent, uid: "u2" }),
    fileObjectName(map, "maps/Host_1.map", SUM, { ...parent, name: "other-haproxycfg" }),
    fileObjectName(carrierOf("cert", true), "ssl/a.pem", SUM, parent),
    fileObjectName(carrierOf("ca", false), "ssl/a.pem", SUM, parent),
  ];
  assert.is(new Set([name, ...others]).size, others.length + 1);
});

test("the ending is left out but for maps, and nothing that a name may not have stays", () => {
  assert.match(
    fileObjectName(carrierOf("cert", true), "ssl/example_com.pem", SUM, parent),
    /^haproxy-cert-example-com-/,
  );
  assert.match(fileObjectName(carrierOf("general", false), "general/503.http", SUM, parent), /^haproxy-file-503-/);
  assert.match(fileObjectName(carrierOf("crtlist", false), "general/all.list", SUM, parent), /^haproxy-crtlist-all-/);
  assert.match(fileObjectName(carrierOf("general", false), "general/___", SUM, parent), /^haproxy-file-[0-9a-f]{20}$/);
  assert.ok(fileObjectName(map, `maps/${"x".repeat(240)}.map`, SUM, parent).length <= 253);
});

test("certificates and authorities are Secrets, and so is any file that holds key material", () => {
  assert.is(carrierOf("cert", true).kind, "Secret");
  assert.is(carrierOf("cert", false).kind, "Secret");
  assert.is(carrierOf("ca", false).kind, "Secret");
  assert.is(carrierOf("ca", false).list, "sslCaFiles");
  assert.is(carrierOf("general", false).kind, "HAProxyGeneralFile");
  assert.equal([carrierOf("general", true).kind, carrierOf("general", true).list], ["Secret", "generalFiles"]);
  assert.equal([carrierOf("map", true).kind, carrierOf("map", true).list], ["Secret", "mapFiles"]);
});

test("a long name is cut to a label that is told from others", () => {
  assert.is(labelValue("main"), "main");
  const long = `${"a".repeat(43)}-${"b".repeat(100)}`;
  assert.ok(labelValue(long).length <= 63);
  assert.match(labelValue(long), /^a{43}-[0-9a-f]{16}$/);
  assert.is.not(labelValue(long), labelValue(`${long}b`));
  assert.is(cfgName("main"), "main-haproxycfg");
  assert.ok(cfgName("x".repeat(253)).length <= 253);
});

test.run();
