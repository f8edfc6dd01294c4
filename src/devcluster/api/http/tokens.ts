/**
 * TokenRequest: tokens of service accounts. They are signed and a TokenReview knows them again; no request needs one here.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { asText, at, isFields, listAt, secondsTime, stringAt } from "../objects.ts";
import type { ApiObject, Fields } from "../objects.ts";
import type { ApiState } from "../operations/context.ts";
import { fieldInvalid, invalid, notFound } from "../status.ts";
import { readValue } from "./body.ts";
import type { ApiRequest } from "./request.ts";
import { sendJson } from "./respond.ts";

const AUDIENCE = "https://kubernetes.default.svc";
const LEAST_SECONDS = 600;

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

export class Tokens {
  readonly #key = randomBytes(32);
  readonly #state: ApiState;

  constructor(state: ApiState) {
    this.#state = state;
  }

  #signature(text: string): Buffer {
    return createHmac("sha256", this.#key).update(text).digest();
  }

  sign(claims: Fields): string {
    const text = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
    return `${text}.${this.#signature(text).toString("base64url")}`;
  }

  /** The claims of a token that was signed here and is still valid. */
  #claims(token: string): Fields | undefined {
    const [head = "", body = "", signature = ""] = token.split(".");
    const given = Buffer.from(signature, "base64url");
    const wanted = this.#signature(`${head}.${body}`);
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
    const claims: unknown = JSON.parse(Buffer.from(body, "base64url").toString("utf8"));
    if (!isFields(claims) || Number(claims["exp"]) * 1000 < this.#state.now()) return undefined;
    const account = at(claims, "kubernetes.io", "serviceaccount");
    const key = `${stringAt(claims, "kubernetes.io", "namespace")}/${stringAt(account, "name")}`;
    const stored = this.#state.database.store({ group: "", plural: "serviceaccounts" }).get(key);
    return stored?.object.metadata.uid === stringAt(account, "uid") ? claims : undefined;
  }

  /** The status of a TokenReview. */
  review(token: string, spec: unknown): Fields {
    const claims = this.#claims(token);
    if (claims === undefined) return { user: {}, error: "invalid bearer token" };
    const given = new Set(listAt(claims, "aud").map(asText));
    const wanted = listAt(spec, "audiences").map(asText);
    const audiences = (wanted.length === 0 ? [AUDIENCE] : wanted).filter((audience) => given.has(audience));
    if (audiences.length === 0) return { user: {}, error: "token audiences do not match" };
    const namespace = stringAt(claims, "kubernetes.io", "namespace");
    const username = stringAt(claims, "sub");
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
    const uid = stringAt(claims, "kubernetes.io", "serviceaccount", "uid");
    return { authenticated: true, user: { username, uid, groups }, audiences };
  }
}

function claimsOf(state: ApiState, account: ApiObject, audiences: readonly string[], seconds: number): Fields {
  const { name, namespace = "", uid } = account.metadata;
  const issued = Math.floor(state.now() / 1000);
  return {
    aud: audiences,
    exp: issued + seconds,
    iat: issued,
    iss: AUDIENCE,
    jti: state.uid(),
    "kubernetes.io": { namespace, serviceaccount: { name, uid } },
    nbf: issued,
    sub: `system:serviceaccount:${namespace}:${name}`,
  };
}

/** Answers POST …/serviceaccounts/NAME/token; false when the path is another. */
export async function serveTokenRequest(state: ApiState, tokens: Tokens, request: ApiRequest): Promise<boolean> {
  const match = /^\/api\/v1\/namespaces\/([^/]+)\/serviceaccounts\/([^/]+)\/token$/.exec(request.path);
  if (match === null) return false;
  const [, namespace = "", name = ""] = match;
  const body = await readValue(request);
  const resource = { group: "", plural: "serviceaccounts" };
  const account = state.database.store(resource).get(`${namespace}/${name}`)?.object;
  if (account === undefined) throw notFound(resource, name);
  const wanted = at(body, "spec", "expirationSeconds");
  const seconds = typeof wanted === "number" && wanted !== 0 ? wanted : 3600;
  if (seconds < LEAST_SECONDS) {
    throw invalid({ group: "authentication.k8s.io", kind: "TokenRequest" }, "", [
      fieldInvalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes"),
    ]);
  }
  const named = listAt(body, "spec", "audiences").map(asText);
  const audiences = named.length === 0 ? [AUDIENCE] : named;
  sendJson(request, 201, {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace, uid: account.metadata.uid, creationTimestamp: secondsTime(state.now()) },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: at(body, "spec", "boundObjectRef") ?? null },
    status: {
      token: tokens.sign(claimsOf(state, account, audiences, seconds)),
      expirationTimestamp: secondsTime(state.now() + seconds * 1000),
    },
  });
  return true;
}
