/** Reviews of access and identity: whoever asks is the administrator of this cluster and may do everything. */
import { isFields, stringAt } from "../objects.ts";
import type { Fields } from "../objects.ts";
import { administrator } from "../operations/administrator.ts";
import type { ApiState } from "../operations/context.ts";
import { readValue } from "./body.ts";
import type { ApiRequest } from "./request.ts";
import { sendJson } from "./respond.ts";
import type { Tokens } from "./tokens.ts";
import { serveTokenRequest } from "./tokens.ts";

const discoveryPaths = [
  "/api",
  "/api/*",
  "/apis",
  "/apis/*",
  "/healthz",
  "/livez",
  "/openapi",
  "/openapi/*",
  "/readyz",
];
const publicPaths = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/** What an administrator's roles add up to in a new cluster. */
const rules: Fields = {
  resourceRules: [
    { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
    { verbs: ["create"], apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"] },
    {
      verbs: ["create"],
      apiGroups: ["authorization.k8s.io"],
      resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
    },
  ],
  nonResourceRules: [
    { verbs: ["*"], nonResourceURLs: ["*"] },
    { verbs: ["get"], nonResourceURLs: [...discoveryPaths, "/version", "/version/"] },
    { verbs: ["get"], nonResourceURLs: publicPaths },
  ],
  incomplete: false,
};

interface Review {
  readonly kind: string;
  readonly group: string;
  readonly namespaced?: true;
  status(spec: unknown, tokens: Tokens): Fields;
}

const allowed = { status: () => ({ allowed: true }) };

const reviews: Readonly<Record<string, Review>> = {
  selfsubjectaccessreviews: { kind: "SelfSubjectAccessReview", group: "authorization.k8s.io", ...allowed },
  subjectaccessreviews: { kind: "SubjectAccessReview", group: "authorization.k8s.io", ...allowed },
  localsubjectaccessreviews: {
    kind: "LocalSubjectAccessReview",
    group: "authorization.k8s.io",
    namespaced: true,
    ...allowed,
  },
  selfsubjectrulesreviews: { kind: "SelfSubjectRulesReview", group: "authorization.k8s.io", status: () => rules },
  selfsubjectreviews: {
    kind: "SelfSubjectReview",
    group: "authentication.k8s.io",
    status: () => ({ userInfo: administrator }),
  },
  tokenreviews: {
    kind: "TokenReview",
    group: "authentication.k8s.io",
    status: (spec, tokens) => tokens.review(stringAt(spec, "token"), spec),
  },
};

function reviewAt(path: string): Review | undefined {
  const match = /^\/apis\/([^/]+)\/v1(?:\/(namespaces)\/[^/]+)?\/([a-z]+)$/.exec(path);
  if (match === null) return undefined;
  const review = Object.hasOwn(reviews, match[3] ?? "") ? reviews[match[3] ?? ""] : undefined;
  return review?.group === match[1] && (review?.namespaced === true) === (match[2] !== undefined) ? review : undefined;
}

/** Answers a review or a request for a token; false when the path is neither. */
export async function serveReview(state: ApiState, tokens: Tokens, request: ApiRequest): Promise<boolean> {
  if (request.method !== "POST") return false;
  const review = reviewAt(request.path);
  if (review === undefined) return serveTokenRequest(state, tokens, request);
  const body = await readValue(request);
  const sent = isFields(body) ? body : {};
  sendJson(request, 201, {
    kind: review.kind,
    apiVersion: `${review.group}/v1`,
    metadata: isFields(sent["metadata"]) ? sent["metadata"] : {},
    ...(sent["spec"] === undefined ? {} : { spec: sent["spec"] }),
    status: review.status(sent["spec"], tokens),
  });
  return true;
}
