/** Who may speak to the agent's API: the one controller, by its certificate or, in the legacy form, by a password. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { UsageError } from "../errors.ts";
import { type BasicCredentials, checkBasic } from "./basic.ts";
import type { Answer } from "./ticket.ts";

/** Mutual TLS. */
export interface TlsIdentity {
  /** Directory with tls.crt, tls.key, ca.crt. */
  readonly tlsDir: string;
  /** DNS name that the controller's certificate must carry, e.g. `haptic-controller-tls.haptic.svc`. */
  readonly tlsClientName: string;
  readonly basic?: never;
}

/** HTTP Basic without TLS: for networks that are private as a whole. */
export interface BasicIdentity {
  readonly basic: BasicCredentials;
  readonly tlsDir?: never;
  readonly tlsClientName?: never;
}

export type AgentIdentity = TlsIdentity | BasicIdentity;

/** Why the peer may not speak; undefined when it may. */
export type Gate = (request: IncomingMessage) => Answer | undefined;

/** Judges a connection once. */
export function certificateGate(clientName: string): Gate {
  const judged = new WeakMap<TLSSocket, Answer | "trusted">();
  return ({ socket }) => {
    let verdict = judged.get(socket as TLSSocket);
    if (verdict === undefined) {
      verdict = peerObstacle(socket as TLSSocket, clientName) ?? "trusted";
      judged.set(socket as TLSSocket, verdict);
    }
    return verdict === "trusted" ? undefined : verdict;
  };
}

function peerObstacle(socket: TLSSocket, clientName: string): Answer | undefined {
  if (!socket.authorized) {
    const reason = String(socket.authorizationError ?? "no client certificate");
    return { status: 401, body: { error: `the client's certificate is not trusted: ${reason}` } };
  }
  const names = (socket.getPeerCertificate().subjectaltname ?? "").split(", ");
  if (names.includes(`DNS:${clientName}`)) return undefined;
  return { status: 403, body: { error: `the client's certificate does not carry the DNS name ${clientName}` } };
}

const ASKS: Answer = {
  status: 401,
  body: { error: "username and password of HTTP Basic are missing or wrong" },
  headers: { "www-authenticate": 'Basic realm="haptic agent", charset="UTF-8"' },
};

/** Judges each request. How long it takes says nothing of the credentials: digests under a key of this process are compared. */
export function basicGate({ username, password }: BasicCredentials): Gate {
  const key = randomBytes(32);
  const digest = (text: Buffer): Buffer => createHmac("sha256", key).update(text).digest();
  const wanted = digest(Buffer.from(`${username}:${password}`));
  return ({ headers }) => {
    const given = /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(headers.authorization ?? "")?.[1] ?? "";
    return timingSafeEqual(digest(Buffer.from(given, "base64")), wanted) ? undefined : ASKS;
  };
}

/**
 * HTTP Basic is used only where it was chosen as a whole: TLS turned off and both variables set.
 * @throws UsageError where a part of it is missing, or there beside TLS. It names variables, never what they hold.
 */
export function chosenBasic(
  isTlsOff: boolean,
  env: Readonly<Record<string, string | undefined>>,
  flag: string,
): BasicCredentials | undefined {
  const username = env["DATAPLANE_USERNAME"] ?? "";
  const password = env["DATAPLANE_PASSWORD"] ?? "";
  const lacking = [username === "" && "DATAPLANE_USERNAME", password === "" && "DATAPLANE_PASSWORD"].filter(Boolean);
  if (!isTlsOff) {
    if (lacking.length === 2) return undefined;
    throw new UsageError(
      "DATAPLANE_USERNAME or DATAPLANE_PASSWORD is set, but with TLS nobody asks for them",
      `take both away, or choose HTTP Basic without TLS with ${flag}`,
    );
  }
  if (lacking.length > 0)
    throw new UsageError(
      `${flag}: ${lacking.join(" and ")} ${lacking.length > 1 ? "are" : "is"} missing`,
      "HTTP Basic needs both variables",
    );
  const wrong = checkBasic({ username, password }, "DATAPLANE_USERNAME", "DATAPLANE_PASSWORD");
  if (wrong !== undefined) throw new UsageError(wrong);
  return { username, password };
}
