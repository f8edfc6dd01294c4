/** Types of watched resources from the cluster's OpenAPI, for the templates of a configuration that is tried. Missing ones never block. */
import { resourceTypes, type RenderSpec } from "../render/index.ts";
import type { KubeClient } from "../kube/types.ts";
import { readSchemas, type Schemas } from "../templating/index.ts";

/** What templates know of an alias: the fields of its objects, or nothing (`any`) and why. */
export interface ResourceTyping {
  readonly alias: string;
  /** `networking.k8s.io/v1 ingresses` */
  readonly resource: string;
  readonly typed: boolean;
  /** "" where it is typed. */
  readonly why: string;
}

export interface ResourceSchemas {
  readonly schemas: Schemas;
  /** In the order of the aliases' names. */
  readonly typings: readonly ResourceTyping[];
}

/** Rejects when aborted only. */
export async function readResourceSchemas(
  kube: Pick<KubeClient, "openApi">,
  spec: RenderSpec,
  signal: AbortSignal,
): Promise<ResourceSchemas> {
  const watched = spec.watchedResources ?? {};
  const versions = Object.values(watched).flatMap(({ apiVersion }) => apiVersion ?? []);
  const answers = versions.length === 0 ? new Map() : await kube.openApi([...new Set(versions)].sort(), signal);
  const missing = new Map<string, string>();
  const documents: unknown[] = [];
  for (const [apiVersion, answer] of answers) {
    if ("missing" in answer) missing.set(apiVersion, answer.missing);
    else documents.push(answer.document);
  }
  const schemas = readSchemas(documents);
  const typings = [...resourceTypes(spec, schemas)].map(([alias, type]): ResourceTyping => {
    const { apiVersion = "", resources = "" } = watched[alias] ?? {};
    const resource = `${apiVersion} ${resources}`;
    if (type !== undefined) return { alias, resource, typed: true, why: "" };
    const known = schemas.resource(apiVersion, resources, "resource") !== undefined;
    const why = known
      ? "its alias cannot be a name in templates"
      : (missing.get(apiVersion) ?? `the OpenAPI document of ${apiVersion} describes no fields of ${resources}`);
    return { alias, resource, typed: false, why };
  });
  return { schemas, typings };
}
