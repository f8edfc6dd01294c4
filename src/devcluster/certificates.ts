/**
 * Keys and certificates of a throw-away cluster: one authority, the identities of agent and controller (mutual TLS with
 * distinct names), and server certificates for the hosts of the examples. All elliptic (P-256); valid for 30 days.
 */
import "reflect-metadata";
import type { webcrypto } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

cryptoProvider.set(globalThis.crypto);

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;

/** PEM texts; the certificate's text ends with its issuer's chain, without the root. */
export interface Identity {
  readonly certificate: string;
  readonly key: string;
}

export interface Authority {
  /** The root's PEM. */
  readonly certificate: string;
  issue(names: readonly string[], usage: "server" | "client"): Promise<Identity>;
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return globalThis.crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  return PemConverter.encode(await globalThis.crypto.subtle.exportKey("pkcs8", key), PemConverter.PrivateKeyTag);
}

/** Subject alternative names: an IPv4 address by its shape, everything else a DNS name. */
function alternativeNames(names: readonly string[]): SubjectAlternativeNameExtension {
  return new SubjectAlternativeNameExtension(
    names.map((value) => ({ type: /^\d+(\.\d+){3}$/.test(value) ? ("ip" as const) : ("dns" as const), value })),
  );
}

/** A new authority named `name`; certificates begin a day before `now`, so that a clock that lags accepts them. */
export async function createAuthority(name: string, now: Date): Promise<Authority> {
  const [notBefore, notAfter] = [new Date(now.getTime() - DAY_MS), new Date(now.getTime() + 30 * DAY_MS)];
  const keys = await newKeys();
  const root: X509Certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    notBefore,
    notAfter,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return {
    certificate: root.toString("pem"),
    async issue(names, usage) {
      const own = await newKeys();
      const certificate = await X509CertificateGenerator.create({
        subject: `CN=${names[0]}`,
        issuer: root.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: algorithm,
        notBefore,
        notAfter,
        extensions: [
          new BasicConstraintsExtension(false, undefined, true),
          new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
          new ExtendedKeyUsageExtension([
            usage === "server" ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth,
          ]),
          alternativeNames(names),
          await SubjectKeyIdentifierExtension.create(own.publicKey),
          await AuthorityKeyIdentifierExtension.create(keys.publicKey),
        ],
      });
      return { certificate: certificate.toString("pem"), key: await pemOf(own.privateKey) };
    },
  };
}

/**
 * Writes an identity as the kubelet mounts a Secret: tls.crt, tls.key (readable by the owner only) and ca.crt are links into `..data`, which is a
 * link to the folder of this revision, so that all three turn at once.
 */
export function writeIdentity(folder: string, identity: Identity, authority: Authority): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const revision = basename(mkdtempSync(join(folder, "..revision_")));
  writeFileSync(join(folder, revision, "tls.crt"), `${identity.certificate}\n`);
  writeFileSync(join(folder, revision, "tls.key"), `${identity.key}\n`, { mode: 0o600 });
  writeFileSync(join(folder, revision, "ca.crt"), `${authority.certificate}\n`);
  linkOver(folder, revision, "..data");
  for (const name of readdirSync(folder))
    if (name.startsWith("..revision_") && name !== revision) rmSync(join(folder, name), { recursive: true });
  for (const name of ["tls.crt", "tls.key", "ca.crt"]) linkOver(folder, `..data/${name}`, name);
}

/** A link in the place of whatever has its name. */
function linkOver(folder: string, target: string, name: string): void {
  const beside = join(folder, `..${name}_tmp`);
  rmSync(beside, { force: true });
  symlinkSync(target, beside);
  renameSync(beside, join(folder, name));
}
