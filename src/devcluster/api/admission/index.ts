/**
 * Admission: mutating webhooks one after the other, each seeing what the former made of the object, validating ones all at
 * once. Runs an operation that asks (operations/asking.ts) and gives it their answers.
 */
import { randomUUID } from "node:crypto";
import { deepEqual, isFields, listAt, stringAt } from "../objects.ts";
import type { ApiObject, Fields } from "../objects.ts";
import type { Asking, Question } from "../operations/asking.ts";
import type { ApiState } from "../operations/context.ts";
import { convertedObject } from "../operations/encode.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { StatusError } from "../status.ts";
import type { StatusDetails } from "../status.ts";
import { CallFailure, callWebhook } from "./call.ts";
import { endpointOf } from "./endpoint.ts";
import { candidates, invocationOf, timeoutOf } from "./matching.ts";
import type { Invocation } from "./matching.ts";
import { InvalidResponse, readReview, reviewRequest } from "./review.ts";
import type { Verdict } from "./review.ts";

const internal = (message: string): StatusError =>
  new StatusError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });

/** What the client of a refused request gets: the webhook's own Status, at least 400. */
function refusal(name: string, status: Fields): StatusError {
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`;
  const why = stringAt(status, "message") || stringAt(status, "reason");
  const code = typeof status["code"] === "number" && status["code"] >= 400 ? status["code"] : 400;
  const message = why === "" ? `${denied} without explanation` : `${denied}: ${why}`;
  const details = isFields(status["details"]) ? (status["details"] as StatusDetails) : undefined;
  return new StatusError(code, stringAt(status, "reason"), message, details);
}

/** An answer in another known version is converted by nobody. */
function checkVersion(answer: Fields, version: string): void {
  const other = /^admission\.k8s\.io\/(v1|v1beta1)$/.exec(stringAt(answer, "apiVersion"))?.[1];
  if (other === undefined || other === version || answer["kind"] !== "AdmissionReview") return;
  throw new CallFailure(`converting (${other}.AdmissionReview) to (${version}.AdmissionReview): unknown conversion`);
}

/** Asks one webhook. Throws CallFailure where it could not be asked. */
async function ask(state: ApiState, question: Question, invocation: Invocation): Promise<Verdict> {
  const { webhook, view } = invocation;
  const seconds = timeoutOf(webhook);
  const endpoint = endpointOf(state, webhook, seconds);
  const version = listAt(webhook, "admissionReviewVersions").find((v) => v === "v1" || v === "v1beta1") ?? "v1";
  const uid = randomUUID();
  const review = {
    kind: "AdmissionReview",
    apiVersion: `admission.k8s.io/${version}`,
    request: reviewRequest(question, view, uid),
  };
  let answer: Fields;
  try {
    answer = await callWebhook(endpoint, review, seconds);
    checkVersion(answer, version);
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    throw new CallFailure(`failed to call webhook: ${error.message}`, { cause: error });
  }
  try {
    return readReview(answer, uid, version, question.phase === "mutating");
  } catch (error) {
    if (!(error instanceof InvalidResponse)) throw error;
    throw new CallFailure(`received invalid webhook response: ${error.message}`, { cause: error });
  }
}

/** The webhook's verdict; undefined where it failed and its failure is to be ignored. Throws where the request ends here. */
async function verdictOf(state: ApiState, question: Question, invocation: Invocation): Promise<Verdict | undefined> {
  const name = stringAt(invocation.webhook, "name");
  let verdict: Verdict;
  try {
    verdict = await ask(state, question, invocation);
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    if (invocation.webhook["failurePolicy"] === "Ignore") return undefined;
    throw internal(`failed calling webhook ${JSON.stringify(name)}: ${error.message}`);
  }
  for (const warning of verdict.warnings) question.warn(warning);
  if (!verdict.allowed) throw refusal(name, verdict.status);
  return verdict;
}

/** The object after the webhook's patch, in the version of the request. */
function patched(question: Question, invocation: Invocation, verdict: Verdict): ApiObject | undefined {
  if (verdict.patch === "") return undefined;
  const { object, disguise, view } = question;
  const name = stringAt(invocation.webhook, "name");
  let patch: unknown;
  try {
    patch = JSON.parse(verdict.patch);
  } catch (error) {
    throw internal(
      `failed calling webhook ${JSON.stringify(name)}: received undecodable patch in webhook response: ${error instanceof Error ? error.message : ""}`,
    );
  }
  if (Array.isArray(patch) && patch.length === 0) return undefined;
  if (verdict.patchType !== "JSONPatch") {
    throw internal(
      `failed calling webhook ${JSON.stringify(name)}: unsupported patch type ${JSON.stringify(verdict.patchType)}`,
    );
  }
  if (object === undefined) {
    throw internal(
      `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`,
    );
  }
  const seen = reviewRequest(question, invocation.view, "")["object"];
  let result: Fields;
  try {
    result = jsonPatch(seen, patch) as Fields;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw internal(typeof error.cause === "string" ? error.cause : error.message);
  }
  if (disguise !== undefined) return disguise.read(object, result);
  return invocation.view === view ? (result as ApiObject) : convertedObject(invocation.view, view, result as ApiObject);
}

/** Webhooks that want to be asked again when a later one changed the object are asked once more, after all others. */
async function mutate(state: ApiState, question: Question): Promise<ApiObject | undefined> {
  let current = question;
  let changed = false;
  const call = async (webhook: Fields): Promise<"skipped" | "asked" | "changed"> => {
    const invocation = invocationOf(state, webhook, current);
    if (invocation === undefined) return "skipped";
    const verdict = await verdictOf(state, current, invocation);
    const object = verdict === undefined ? undefined : patched(current, invocation, verdict);
    if (object === undefined || deepEqual(object, current.object)) return "asked";
    current = { ...current, object };
    changed = true;
    return "changed";
  };
  const webhooks = candidates(state, question);
  const asked = new Set<Fields>();
  const again = new Set<Fields>();
  for (const webhook of webhooks) {
    const outcome = await call(webhook);
    if (outcome === "skipped") continue;
    if (outcome === "changed") {
      for (const former of asked) again.add(former);
      asked.clear();
    }
    if (webhook["reinvocationPolicy"] === "IfNeeded") asked.add(webhook);
  }
  for (const webhook of webhooks) if (again.has(webhook)) await call(webhook);
  return changed ? current.object : undefined;
}

async function validate(state: ApiState, question: Question): Promise<void> {
  const invocations = candidates(state, question)
    .map((webhook) => invocationOf(state, webhook, question))
    .filter((invocation) => invocation !== undefined);
  const outcomes = await Promise.allSettled(invocations.map((invocation) => verdictOf(state, question, invocation)));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

/** Runs an operation and asks the webhooks what it wants to know. */
export async function asked<T>(state: ApiState, steps: Asking<T>): Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    let answer: ApiObject | undefined;
    if (candidates(state, step.value).length > 0) {
      if (step.value.phase === "mutating") answer = await mutate(state, step.value);
      else await validate(state, step.value);
    }
    step = steps.next(answer);
  }
  return step.value;
}
