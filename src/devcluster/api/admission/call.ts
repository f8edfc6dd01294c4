/** Calls of webhooks over HTTPS; failures are worded as kube-apiserver's client words them. */
import { request as httpsRequest } from "node:https";
import type { RequestOptions } from "node:https";
import { isIP } from "node:net";
import { isFields } from "../objects.ts";
import type { Fields } from "../objects.ts";
import type { Endpoint } from "./endpoint.ts";

/** A webhook that could not be asked or did not answer as one. */
export class CallFailure extends Error {}

interface NodeFailure extends Error {
  readonly code?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
  readonly cert?: { readonly subjectaltname?: string; readonly valid_to?: string };
  readonly host?: string;
}

/** What a certificate is for and what it is not for: addresses are compared with addresses, names with names. */
function wrongName(altNames: string, wanted: string): string {
  const prefix = isIP(wanted) === 0 ? "DNS:" : "IP Address:";
  const names = altNames
    .split(", ")
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
  if (names.length > 0) return `x509: certificate is valid for ${names.join(", ")}, not ${wanted}`;
  return isIP(wanted) === 0
    ? `x509: certificate is not valid for any names, but wanted to match ${wanted}`
    : `x509: cannot validate certificate for ${wanted} because it doesn't contain any IP SANs`;
}

/** The cause of a failed connection. */
function causeOf(error: NodeFailure, endpoint: Endpoint): string {
  const dial = `dial tcp ${error.address ?? endpoint.address}:${error.port ?? endpoint.port}: connect`;
  switch (error.code) {
    case "ECONNREFUSED":
      return `${dial}: connection refused`;
    case "EHOSTUNREACH":
      return `${dial}: no route to host`;
    case "ENETUNREACH":
      return `${dial}: network is unreachable`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `dial tcp: lookup ${error.hostname ?? endpoint.address}: no such host`;
    case "ECONNRESET":
      return "EOF";
    case "EPROTO":
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
      return "http: server gave HTTP response to HTTPS client";
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `tls: failed to verify certificate: ${wrongName(error.cert?.subjectaltname ?? "", endpoint.serverName)}`;
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID":
      return "tls: failed to verify certificate: x509: certificate has expired or is not yet valid";
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "CERT_SIGNATURE_FAILURE":
      return "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    default:
      return error.message;
  }
}

/** How a client takes an answer that is no success. */
function refusedText(status: number, body: string): string {
  switch (status) {
    case 400:
      return `the server rejected our request for an unknown reason`;
    case 401:
      return "the server has asked for the client to provide credentials";
    case 403:
      return body === "" ? "forbidden" : body;
    case 404:
      return "the server could not find the requested resource";
    case 405:
      return "the server does not allow this method on the requested resource";
    case 429:
      return "the server has received too many requests and has asked us to try again later";
    case 503:
      return "the server is currently unable to handle the request";
    case 504:
      return "the server was unable to return a response in the time allotted, but may still be processing the request";
    default:
      if (status >= 500)
        return `an error on the server (${JSON.stringify(body)}) has prevented the request from succeeding`;
      return `the server responded with the status code ${status} but did not return more information`;
  }
}

/** A body that is no JSON is taken for YAML, which any text is. */
const NO_OBJECT =
  'json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function parseReview(body: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    value = body;
  }
  if (!isFields(value)) throw new CallFailure(`couldn't get version/kind; json parse error: ${NO_OBJECT}`);
  for (const field of ["kind", "apiVersion"] as const) {
    if (value[field] !== undefined) continue;
    throw new CallFailure(`Object '${field === "kind" ? "Kind" : field}' is missing in '${body}'`);
  }
  return value;
}

/** Posts a review; the webhook has `seconds` for everything. Rejects with CallFailure. */
export async function callWebhook(endpoint: Endpoint, review: Fields, seconds: number): Promise<Fields> {
  const body = Buffer.from(JSON.stringify(review));
  const url = `${endpoint.url}?timeout=${seconds}s`;
  const failed = (why: string): CallFailure => new CallFailure(`Post ${JSON.stringify(url)}: ${why}`);
  const options: RequestOptions = {
    method: "POST",
    host: endpoint.address,
    port: endpoint.port,
    path: `${new URL(endpoint.url).pathname}?timeout=${seconds}s`,
    headers: {
      Host: endpoint.host,
      "Content-Type": "application/json",
      "Content-Length": body.length,
      Accept: "application/json, */*",
      "User-Agent": "kube-apiserver-admission",
    },
    servername: endpoint.sni,
    ...(endpoint.ca === undefined ? {} : { ca: endpoint.ca }),
    checkServerIdentity: endpoint.checkIdentity,
    agent: false,
  };
  const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const call = httpsRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }),
      );
      response.on("error", (error) => reject(failed(causeOf(error, endpoint))));
    });
    const timer = setTimeout(() => {
      reject(failed("context deadline exceeded"));
      call.destroy();
    }, seconds * 1000);
    call.on("close", () => clearTimeout(timer));
    call.on("error", (error) => reject(failed(causeOf(error, endpoint))));
    call.end(body);
  });
  if (status < 200 || status > 206) throw new CallFailure(refusedText(status, text.trim()));
  return parseReview(text);
}
