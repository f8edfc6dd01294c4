/** Reviews: whoever asks is the administrator of this cluster and may do everything. */
import { randomUUID } from "node:crypto";
import { isFields, secondsTime } from "../objects.ts";
import type { Fields } from "../objects.ts";
import { readValue } from "./body.ts";
import type { ApiRequest } from "./request.ts";
import { sendJson } from "./respond.ts";

const user = { username: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };

function answer(path: string): Fields | undefined {
  switch (path) {
    case "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
    case "/apis/authorization.k8s.io/v1/subjectaccessreviews":
      return { allowed: true };
    case "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews":
      return {
        resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
        nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
        incomplete: false,
      };
    case "/apis/authentication.k8s.io/v1/selfsubjectreviews":
      return { userInfo: user };
    default:
      return undefined;
  }
}

/** Answers a review; false when the path is none. */
export async function serveReview(request: ApiRequest, now: number): Promise<boolean> {
  const status = request.method === "POST" ? answer(request.path) : undefined;
  if (status !== undefined) {
    const body = await readValue(request);
    sendJson(request, 201, { ...(isFields(body) ? body : {}), status });
    return true;
  }
  const token = /^\/api\/v1\/namespaces\/([^/]+)\/serviceaccounts\/([^/]+)\/token$/.exec(request.path);
  if (request.method !== "POST" || token === null) return false;
  const body = await readValue(request);
  const seconds = Number(isFields(body) && isFields(body["spec"]) ? (body["spec"]["expirationSeconds"] ?? 3600) : 3600);
  const expirationTimestamp = secondsTime(now + (Number.isFinite(seconds) && seconds > 0 ? seconds : 3600) * 1000);
  sendJson(request, 201, {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name: token[2], namespace: token[1], creationTimestamp: secondsTime(now) },
    spec: { audiences: ["https://kubernetes.default.svc"], expirationSeconds: seconds || 3600 },
    status: { token: randomUUID(), expirationTimestamp },
  });
  return true;
}
