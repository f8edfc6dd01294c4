import "reflect-metadata";
import { generateKeyPairSync, type KeyObject, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { certificateInfo } from "../../../../src/templating/functions/certificates.ts";
import { render } from "../engine.ts";

x509.cryptoProvider.set(webcrypto);

interface Pair {
  readonly crt: string;
  readonly key: string;
}

const pem = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();

async function selfSigned(options: { bits?: number; names?: readonly string[] } = {}): Promise<Pair> {
  const { bits, names = ["a.example", "*.b.example"] } = options;
  const pair =
    bits === undefined
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("rsa", { modulusLength: bits });
  const algorithm =
    bits === undefined
      ? { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }
      : { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const keys = {
    privateKey: await webcrypto.subtle.importKey(
      "pkcs8",
      pair.privateKey.export({ type: "pkcs8", format: "der" }),
      algorithm,
      true,
      ["sign"],
    ),
    publicKey: await webcrypto.subtle.importKey(
      "spki",
      pair.publicKey.export({ type: "spki", format: "der" }),
      algorithm,
      true,
      ["verify"],
    ),
  };
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: "01",
    name: "CN=a.example, O=Test",
    notBefore: new Date("2026-01-01T00:00:00Z"),
    notAfter: new Date("2027-01-01T00:00:00Z"),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: "dns" as const, value })))],
  });
  return { crt: `${certificate.toString("pem")}\n`, key: pem(pair.privateKey) };
}

const now = Date.parse("2026-11-30T00:00:00Z");
const good = await selfSigned();
const other = await selfSigned();

test("a pair that belongs together is valid, and everything about it is told", () => {
  assert.equal(certificateInfo(good.crt, good.key, now), {
    valid: true,
    reason: "",
    matches: true,
    expired: false,
    notBefore: "2026-01-01T00:00:00Z",
    notAfter: "2027-01-01T00:00:00Z",
    subject: "CN=a.example, O=Test",
    dnsNames: ["a.example", "*.b.example"],
    selfSigned: true,
  });
});

test("a chain and a key in SEC1 form are read too", () => {
  assert.ok(certificateInfo(good.crt + other.crt, good.key, now).valid);
  const sec1 = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "sec1", format: "pem" });
  assert.is(
    certificateInfo(good.crt, sec1.toString(), now).reason,
    "the private key does not belong to the certificate",
  );
});

test("expired is told by the given instant only, and does not make a pair invalid", () => {
  const late = certificateInfo(good.crt, good.key, Date.parse("2027-01-02T00:00:00Z"));
  assert.ok(late.expired && late.valid);
  assert.ok(certificateInfo(good.crt, good.key, Date.parse("2025-01-01T00:00:00Z")).expired);
  assert.not(certificateInfo(good.crt, good.key, undefined).expired);
});

const small = await selfSigned({ bits: 1024 });
const encrypted = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" },
  publicKeyEncoding: { type: "spki", format: "pem" },
}).privateKey;
const cases: readonly (readonly [name: string, crt: string, key: string, reason: string])[] = [
  ["an empty certificate", "", good.key, "the certificate is empty"],
  ["text without PEM", "hello", good.key, "the certificate text holds no PEM certificate"],
  [
    "a damaged certificate",
    good.crt.replace(/\n[A-Za-z0-9+/]{20}/, "\nAAAAAAAAAAAAAAAAAAAA"),
    good.key,
    "certificate 1 of 1 cannot be read",
  ],
  [
    "a damaged certificate of the chain",
    `${good.crt}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    good.key,
    "certificate 2 of 2 cannot be read",
  ],
  ["an empty key", good.crt, " \n", "the private key is empty"],
  ["no key", good.crt, "hello", "the key text holds no PEM private key"],
  [
    "a certificate among the keys",
    good.crt,
    good.key + good.crt,
    "the key text holds a PEM block of the kind CERTIFICATE",
  ],
  ["several keys", good.crt, good.key + other.key, "the key text holds several private keys"],
  [
    "a block that is cut off",
    `${good.crt}-----BEGIN CERTIFICATE-----\nMII`,
    good.key,
    "the certificate text holds a PEM block that is cut off",
  ],
  [
    "a block in the middle of a line",
    `x ${good.crt}`,
    good.key,
    "the certificate text holds a PEM block that does not begin its line",
  ],
  [
    "a damaged key",
    good.crt,
    "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
    "the private key cannot be read",
  ],
  ["an encrypted key", good.crt, encrypted, "the private key is encrypted"],
  ["the key of another certificate", good.crt, other.key, "the private key does not belong to the certificate"],
  ["a key that OpenSSL finds too small", small.crt, small.key, "the RSA key has 1024 bits, fewer than 2048"],
];
for (const [name, crt, key, reason] of cases) {
  test(`${name} is judged, not thrown: ${reason}`, () => {
    const info = certificateInfo(crt, key, now);
    assert.is(info.reason, reason);
    assert.not(info.valid);
  });
}

test("templates judge values of any kind, and no key appears in the answer", () => {
  const text = render("{{ toJSON(certificate_info(crt, key)) }}|{{ certificate_info(nil, map[string]any{}).reason }}", {
    data: good as unknown as Record<string, unknown>,
  });
  assert.match(text, /"valid":true/);
  assert.match(text, /\|the certificate is empty$/);
  assert.not.match(text, /PRIVATE/);
  assert.not.ok(text.includes(good.key.split("\n")[1]!));
});

test.run();
