import { suite } from "uvu";
import * as assert from "uvu/assert";
import { decodeProtobuf, isProtobuf } from "../../../../../src/devcluster/api/protobuf/envelope.ts";

const test = suite("protobuf bodies");

const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]);
const field = (number: number, body: Buffer | string): Buffer => {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(bytes.length)]), bytes]);
};
const integer = (number: number, value: number): Buffer => Buffer.from([...varint(number << 3), ...varint(value)]);
const join = (...parts: Buffer[]): Buffer => Buffer.concat(parts);

const envelope = (apiVersion: string, kind: string, raw: Buffer): Buffer =>
  join(
    Buffer.from("k8s\0"),
    field(1, join(field(1, apiVersion), field(2, kind))),
    field(2, raw),
    field(3, ""),
    field(4, ""),
  );

test("a secret's map of bytes arrives as base64", () => {
  const metadata = join(field(1, "token"), field(2, ""), field(3, "default"), field(8, ""));
  const entry = join(field(1, "password"), field(2, Buffer.from([0, 255, 65])));
  const body = envelope("v1", "Secret", join(field(1, metadata), field(2, entry), field(3, "Opaque")));
  assert.ok(isProtobuf(body));
  const decoded = decodeProtobuf(body);
  assert.equal(decoded["data"], { password: "AP9B" });
  assert.equal(decoded["metadata"], { name: "token", generateName: "", namespace: "default" });
  assert.is(decoded["type"], "Opaque");
});

test("nested lists and an int-or-string are read", () => {
  const target = join(integer(1, 0), integer(2, 8080));
  const port = join(field(1, "http"), field(2, "TCP"), integer(3, 80), field(4, target));
  const body = envelope("v1", "Service", join(field(1, field(1, "web")), field(2, field(1, port))));
  assert.equal((decodeProtobuf(body)["spec"] as { ports: unknown }).ports, [
    { name: "http", protocol: "TCP", port: 80, targetPort: 8080 },
  ]);
});

test("a kind that is not known and bytes that are no message are refused", () => {
  assert.throws(() => decodeProtobuf(envelope("x.io/v1", "Gadget", Buffer.alloc(0))), /send JSON/);
  assert.throws(() => decodeProtobuf(Buffer.from("k8s\0\xff\xff\xff")), /unable to decode protobuf/);
});

test.run();
