/** Types of the reviews that kubectl posts and of DeleteOptions; their numbers come from the published API. */
import type { FieldNode, StructNode, TypeNode } from "../schema/type-node.ts";
import { objectMetaType } from "../schema/compact-types.ts";

const text: TypeNode = { kind: "scalar", type: "string" };
const field = (number: number, type: TypeNode): FieldNode => ({ type, number, presence: "pointer", retainKeys: false });
const struct = (name: string, fields: Record<string, FieldNode>): StructNode => ({
  kind: "struct",
  name,
  fields: new Map(Object.entries(fields)),
  atomic: false,
  open: false,
  inlined: new Map(),
});

const list = (items: TypeNode): TypeNode => ({ kind: "list", items, list: "atomic", keys: [], mergeKey: undefined });

const attributes = struct("ResourceAttributes", {
  namespace: field(1, text),
  verb: field(2, text),
  group: field(3, text),
  version: field(4, text),
  resource: field(5, text),
  subresource: field(6, text),
  name: field(7, text),
});
const nonResource = struct("NonResourceAttributes", { path: field(1, text), verb: field(2, text) });

export const reviewTypes: ReadonlyMap<string, StructNode> = new Map([
  [
    "SelfSubjectAccessReview",
    struct("SelfSubjectAccessReview", {
      metadata: field(1, objectMetaType),
      spec: field(
        2,
        struct("SelfSubjectAccessReviewSpec", {
          resourceAttributes: field(1, attributes),
          nonResourceAttributes: field(2, nonResource),
        }),
      ),
    }),
  ],
  ["SelfSubjectReview", struct("SelfSubjectReview", { metadata: field(1, objectMetaType) })],
  [
    "SelfSubjectRulesReview",
    struct("SelfSubjectRulesReview", {
      metadata: field(1, objectMetaType),
      spec: field(2, struct("SelfSubjectRulesReviewSpec", { namespace: field(1, text) })),
    }),
  ],
  [
    "DeleteOptions",
    struct("DeleteOptions", {
      gracePeriodSeconds: field(1, { kind: "scalar", type: "int64" }),
      preconditions: field(2, struct("Preconditions", { uid: field(1, text), resourceVersion: field(2, text) })),
      orphanDependents: field(3, { kind: "scalar", type: "bool" }),
      propagationPolicy: field(4, text),
      dryRun: field(5, list(text)),
    }),
  ],
]);
