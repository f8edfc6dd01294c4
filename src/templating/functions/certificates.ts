/** Certificates. Nothing here throws for what a text holds, and nothing shows a key. */
import { createPrivateKey, createPublicKey, hash, X509Certificate, type KeyObject } from "node:crypto";
import { TemplateFault } from "../runtime/faults.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { define, type TemplateFunction } from "./define.ts";
import { textOf } from "../runtime/text.ts";

/** What certificate_info gives. Every member is always there. */
interface CertificateInfo {
  /** Whether HAProxy can load the pair. An expired certificate is still valid in this sense. */
  valid: boolean;
  /** Why not; "" when valid. */
  reason: string;
  /** Whether the key belongs to the first certificate. */
  matches: boolean;
  /** Whether now lies outside notBefore … notAfter of the first certificate. */
  expired: boolean;
  notBefore: string;
  notAfter: string;
  /** `CN=a, O=b` */
  subject: string;
  dnsNames: string[];
  selfSigned: boolean;
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g;
/** OpenSSL's security level 2, which distributions set: smaller keys make HAProxy refuse its whole configuration. */
const LEAST_RSA_BITS = 2048;
const LEAST_EC_BITS = 224;
const CURVE_BITS: Readonly<Record<string, number>> = {
  prime192v1: 192,
  secp192r1: 192,
  secp192k1: 192,
  secp160r1: 160,
  secp160k1: 160,
  secp112r1: 112,
  secp128r1: 128,
};

function blocks(text: string, label: (name: string) => boolean): string[] {
  return [...text.matchAll(BLOCK)].filter((found) => label(found[1]!)).map((found) => found[0]);
}

/**
 * Why OpenSSL would stumble over a text although each block that is looked at is good: a block that is cut off, does not begin
 * its line, or is of a kind that HAProxy reads as something else (a certificate among the keys, parameters). "" when it would not.
 */
function strayBlock(what: string, text: string, kinds: RegExp): string {
  if (text.replaceAll(BLOCK, "").includes("-----")) return `the ${what} text holds a PEM block that is cut off`;
  for (const found of text.matchAll(BLOCK)) {
    if (!kinds.test(found[1]!)) return `the ${what} text holds a PEM block of the kind ${found[1]}`;
    if (found.index > 0 && text[found.index - 1] !== "\n")
      return `the ${what} text holds a PEM block that does not begin its line`;
  }
  return "";
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    // The reason is told by the caller: OpenSSL's texts help nobody, and must not quote what they read.
    return undefined;
  }
}

function date(text: string): Date | undefined {
  const parsed = new Date(text);
  return Number.isNaN(parsed.getTime()) ? undefined : parsed;
}

const isoText = (at: Date | undefined): string => at?.toISOString().replace(".000Z", "Z") ?? "";

/** Why HAProxy would not take a public key of this kind; "" when it would. */
function weakness(key: KeyObject): string {
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  const type = key.asymmetricKeyType ?? "";
  if (type.startsWith("rsa") && modulusLength !== undefined && modulusLength < LEAST_RSA_BITS)
    return `the RSA key has ${modulusLength} bits, fewer than ${LEAST_RSA_BITS}`;
  const curveBits = namedCurve === undefined ? undefined : CURVE_BITS[namedCurve];
  if (curveBits !== undefined && curveBits < LEAST_EC_BITS) return `the EC curve ${namedCurve} is too small`;
  return "";
}

/** A judgement without regard to the time. */
interface Judgement {
  readonly info: CertificateInfo;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

/** Judgements kept, by digest of both texts: a root that lists certificates judges all of them at each change of one. */
const KEPT = 8192;
const judgements = new Map<string, Judgement>();

/** Judges a certificate (chain) and its key, both PEM texts. `now` in milliseconds; without it nothing is expired. */
export function certificateInfo(certificate: string, keyText: string, now: number | undefined): CertificateInfo {
  const digest = hash("sha256", `${certificate.length}:${certificate}${keyText}`, "base64");
  let judgement = judgements.get(digest);
  if (judgement === undefined) {
    if (judgements.size >= KEPT) judgements.clear();
    judgement = judge(certificate, keyText);
    judgements.set(digest, judgement);
  }
  const { info, from, to } = judgement;
  const expired =
    now !== undefined && ((from !== undefined && now < from.getTime()) || (to !== undefined && now > to.getTime()));
  return { ...info, dnsNames: [...info.dnsNames], expired };
}

function judge(certificate: string, keyText: string): Judgement {
  let from: Date | undefined;
  let to: Date | undefined;
  const info: CertificateInfo = {
    valid: false,
    reason: "",
    matches: false,
    expired: false,
    notBefore: "",
    notAfter: "",
    subject: "",
    dnsNames: [],
    selfSigned: false,
  };
  const refuse = (reason: string): Judgement => ({ info: { ...info, reason }, from, to });
  const chain = blocks(
    certificate,
    (name) => name === "CERTIFICATE" || name === "X509 CERTIFICATE" || name === "TRUSTED CERTIFICATE",
  );
  if (chain.length === 0)
    return refuse(
      certificate.trim() === "" ? "the certificate is empty" : "the certificate text holds no PEM certificate",
    );
  const parsed = chain.map((pem) => attempt(() => new X509Certificate(pem)));
  const broken = parsed.indexOf(undefined);
  const leaf = parsed[0];
  if (leaf !== undefined) {
    [from, to] = [date(leaf.validFrom), date(leaf.validTo)];
    info.notBefore = isoText(from);
    info.notAfter = isoText(to);
    info.subject = leaf.subject === undefined ? "" : leaf.subject.split("\n").join(", ");
    info.dnsNames = [...(leaf.subjectAltName ?? "").matchAll(/DNS:("(?:[^"\\]|\\.)*"|[^,]*)/g)].map((found) =>
      found[1]!.replace(/^"|"$/g, ""),
    );
    info.selfSigned = leaf.subject === leaf.issuer && attempt(() => leaf.checkIssued(leaf)) === true;
  }
  if (broken !== -1) return refuse(`certificate ${broken + 1} of ${chain.length} cannot be read`);
  const stray =
    strayBlock("certificate", certificate, /^((X509|TRUSTED) )?CERTIFICATE$/) ||
    strayBlock("key", keyText, /PRIVATE KEY$|^EC PARAMETERS$/);
  if (stray !== "") return refuse(stray);
  const keys = blocks(keyText, (name) => name.endsWith("PRIVATE KEY"));
  if (keys.length === 0)
    return refuse(keyText.trim() === "" ? "the private key is empty" : "the key text holds no PEM private key");
  if (keys.length > 1) return refuse("the key text holds several private keys");
  if (/ENCRYPTED/.test(keys[0]!.slice(0, 200))) return refuse("the private key is encrypted");
  const key = attempt(() => createPrivateKey(keys[0]!));
  if (key === undefined) return refuse("the private key cannot be read");
  info.matches = attempt(() => leaf!.checkPrivateKey(key)) === true;
  if (!info.matches) return refuse("the private key does not belong to the certificate");
  const weak = attempt(() => weakness(leaf!.publicKey)) ?? "the certificate's public key is of an unknown kind";
  if (weak !== "") return refuse(weak);
  return { info: { ...info, valid: true }, from, to };
}

const CURVES: Readonly<Record<string, readonly [name: string, bits: number]>> = {
  prime256v1: ["P-256", 256],
  secp384r1: ["P-384", 384],
  secp521r1: ["P-521", 521],
  secp256k1: ["secp256k1", 256],
};
const ALGORITHMS: Readonly<Record<string, readonly [name: string, bits: number]>> = {
  rsa: ["RSA", 0],
  "rsa-pss": ["RSA-PSS", 0],
  ec: ["ECDSA", 0],
  ed25519: ["Ed25519", 256],
  ed448: ["Ed448", 456],
};

function publicKeyInfo(pem: string): Record<string, unknown> {
  const refuse = (why: string): never => {
    throw new TemplateFault(`public_key_info: ${why}`);
  };
  const found = [...pem.matchAll(BLOCK)];
  if (found.some((block) => block[1]!.endsWith("PRIVATE KEY"))) refuse("the text holds a private key");
  if (found.length === 0) refuse("the text holds no PEM block");
  if (found.length > 1 || pem.replace(BLOCK, "").trim() !== "") refuse("the text holds more than one PEM block");
  const [block] = found;
  if (block![1] !== "PUBLIC KEY" && block![1] !== "RSA PUBLIC KEY")
    refuse(`the text holds a PEM block of the kind ${block![1]}, not PUBLIC KEY`);
  const key = attempt(() => createPublicKey(block![0])) ?? refuse("the public key cannot be read");
  const type = key.asymmetricKeyType ?? "";
  const [algorithm, bits] = Object.hasOwn(ALGORITHMS, type) ? ALGORITHMS[type]! : [type, 0];
  const { modulusLength, namedCurve = "" } = key.asymmetricKeyDetails ?? {};
  const [curve, curveBits] = Object.hasOwn(CURVES, namedCurve) ? CURVES[namedCurve]! : [namedCurve, 0];
  return {
    algorithm,
    bits: modulusLength ?? (curveBits || bits),
    curve,
    pem: key.export({ type: "spki", format: "pem" }),
  };
}

const EXAMPLE_KEY =
  "-----BEGIN PUBLIC KEY-----\\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\\n-----END PUBLIC KEY-----\\n";

export const certificateFunctions: readonly TemplateFunction[] = [
  define({
    name: "public_key_info",
    signature: "func(pem string) (map[string]any, error)",
    doc: "What a PEM public key (PUBLIC KEY or RSA PUBLIC KEY) is: algorithm (RSA, ECDSA, Ed25519 …), bits, curve (P-256 …, or the empty string) and pem, the key written as PUBLIC KEY. A private key, a second block, other text or a key that cannot be read is an error.",
    examples: [
      [`{% var key = public_key_info("${EXAMPLE_KEY}") %}{{ key.algorithm }} {{ key.bits }}`, "Ed25519 256"],
      ['{% var _, err = public_key_info("x") %}{{ err }}', "public_key_info: the text holds no PEM block"],
    ],
    run: (runtime: Runtime, pem: string) => {
      runtime.charge(500 + (pem.length >> 2));
      return publicKeyInfo(pem);
    },
  }),
  define({
    name: "certificate_info",
    signature: "func(certificate any, key any) map[string]any",
    doc: "Judges a certificate (first of its chain) and its private key, both PEM texts, instead of failing. Gives a map with always these members: valid (bool: HAProxy can load the pair; an expired certificate is valid), reason (why not, or the empty string), matches (bool: the key belongs to the certificate), expired (bool: the instant of the render lies before notBefore or after notAfter; false where a render has none, as in incremental snippets), notBefore and notAfter (RFC 3339, UTC), subject, dnsNames (list), selfSigned (bool). Keys never appear in what it gives.",
    examples: [
      [
        '{% var info = certificate_info("x", "y") %}{{ info.valid }}: {{ info.reason }}',
        "false: the certificate text holds no PEM certificate",
      ],
    ],
    run: (runtime: Runtime, certificate: unknown, key: unknown) => {
      const [certificateText, keyText] = [certificate, key].map((v) =>
        typeof v === "object" && v !== null ? "" : textOf(v),
      ) as [string, string];
      runtime.charge(2000 + ((certificateText.length + keyText.length) >> 2));
      return certificateInfo(certificateText, keyText, runtime.now());
    },
  }),
];
