/** AdmissionReviews: what a webhook is asked, and what it may answer. */
import { asText, isFields } from "../objects.ts";
import type { ApiObject, Fields } from "../objects.ts";
import { administrator } from "../operations/administrator.ts";
import type { Question } from "../operations/asking.ts";
import { convertedObject } from "../operations/encode.ts";
import type { View } from "../resources/definition.ts";

const kindOf = (question: Question, view: View): Fields =>
  question.disguise === undefined
    ? { group: view.group, version: view.version, kind: view.definition.kind }
    : { ...question.disguise.kind };

const resourceOf = (view: View): Fields => ({
  group: view.group,
  version: view.version,
  resource: view.definition.plural,
});

const optionKinds = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions" } as const;

/** The object as the webhook's version shows it. */
function shownTo(question: Question, view: View, object: ApiObject | undefined): unknown {
  if (object === undefined) return null;
  if (question.disguise !== undefined) return question.disguise.show(object);
  return view === question.view ? object : convertedObject(question.view, view, object);
}

/** The `request` of a review. */
export function reviewRequest(question: Question, view: View, uid: string): Fields {
  const isNamespace = question.view.definition.group === "" && question.view.definition.plural === "namespaces";
  const namespace = isNamespace ? question.name : question.namespace;
  const sub = question.subresource;
  return {
    uid,
    kind: kindOf(question, view),
    resource: resourceOf(view),
    ...(sub === "" ? {} : { subResource: sub }),
    requestKind: kindOf(question, question.view),
    requestResource: resourceOf(question.view),
    ...(sub === "" ? {} : { requestSubResource: sub }),
    ...(question.name === "" ? {} : { name: question.name }),
    ...(namespace === "" ? {} : { namespace }),
    operation: question.operation,
    userInfo: administrator,
    object: shownTo(question, view, question.object),
    oldObject: shownTo(question, view, question.old),
    dryRun: question.dryRun,
    options: { kind: optionKinds[question.operation], apiVersion: "meta.k8s.io/v1", ...question.options },
  };
}

/** What a webhook said, as far as it is well formed. */
export interface Verdict {
  readonly allowed: boolean;
  /** The `status` of a refusal. */
  readonly status: Fields;
  /** JSON of a JSON patch; "" for none. */
  readonly patch: string;
  readonly patchType: string;
  readonly warnings: readonly string[];
}

export class InvalidResponse extends Error {}

const typeName = (review: Fields): string => {
  const [group = "", version = ""] = asText(review["apiVersion"] ?? "").split("/");
  return `${group}/${version}, Kind=${asText(review["kind"] ?? "")}`;
};

function checkPatch(patch: string, type: string, mutating: boolean): void {
  if (!mutating) {
    if (patch !== "") throw new InvalidResponse("validating webhook may not return response.patch");
    if (type !== "") throw new InvalidResponse("validating webhook may not return response.patchType");
  } else if (patch !== "" && type === "") {
    throw new InvalidResponse("webhook returned response.patch but not response.patchType");
  } else if (patch === "" && type !== "") {
    throw new InvalidResponse("webhook returned response.patchType but not response.patch");
  }
}

/** Reads the answer to the review with this uid; throws InvalidResponse. `version`: of the review that was sent. */
export function readReview(review: Fields, uid: string, version: string, mutating: boolean): Verdict {
  const response = review["response"];
  if (!isFields(response)) throw new InvalidResponse("webhook response was absent");
  const text = (name: string): string => (typeof response[name] === "string" ? response[name] : "");
  if (version === "v1") {
    if (text("uid") !== uid)
      throw new InvalidResponse(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(text("uid"))}`);
    const wanted = "admission.k8s.io/v1, Kind=AdmissionReview";
    if (typeName(review) !== wanted) {
      throw new InvalidResponse(`expected webhook response of ${wanted}, got ${typeName(review)}`);
    }
    checkPatch(text("patch"), text("patchType"), mutating);
  }
  const patch = Buffer.from(text("patch"), "base64").toString("utf8");
  const warnings = Array.isArray(response["warnings"]) ? response["warnings"].map(asText) : [];
  return {
    allowed: response["allowed"] === true,
    status: isFields(response["status"]) ? response["status"] : {},
    patch: mutating ? patch : "",
    patchType: text("patchType") || "JSONPatch",
    warnings,
  };
}
