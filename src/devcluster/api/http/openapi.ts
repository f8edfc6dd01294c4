/** OpenAPI, as small as kubectl's validation and `explain` allow: validation itself is the server's. */
import { createHash } from "node:crypto";
import type { Fields } from "../objects.ts";
import type { View } from "../resources/definition.ts";
import type { Registry } from "../resources/registry.ts";
import { openApiOfKind } from "../schema/type-openapi.ts";
import type { ApiRequest } from "./request.ts";
import { pageNotFound, sendBytes, sendJson } from "./respond.ts";

const pathOf = (apiVersion: string): string => (apiVersion.includes("/") ? `apis/${apiVersion}` : `api/${apiVersion}`);

const parameter = (name: string): Fields => ({ name, in: "query", schema: { type: "string" } });

/** `io.demo.v1.Widget`: group reversed, version, kind. */
function schemaName(view: View): string {
  const group = view.group === "" ? "io.k8s.api.core" : view.group.split(".").toReversed().join(".");
  return `${group}.${view.version}.${view.definition.kind}`;
}

function documentOf(views: readonly View[]): Fields {
  const paths: Fields = {};
  const schemas: Fields = {};
  for (const view of views) {
    const { definition } = view;
    const kind = { group: view.group, version: view.version, kind: definition.kind };
    const collection = `/${pathOf(view.apiVersion)}${definition.namespaced ? "/namespaces/{namespace}" : ""}/${definition.plural}`;
    const reference = { $ref: `#/components/schemas/${schemaName(view)}` };
    const content = { "application/json": { schema: reference } };
    const operation = (action: string): Fields => ({
      "x-kubernetes-action": action,
      "x-kubernetes-group-version-kind": kind,
      responses: { "200": { description: "OK", content } },
    });
    paths[`${collection}/{name}`] = {
      get: operation("get"),
      patch: {
        ...operation("patch"),
        parameters: [parameter("dryRun"), parameter("fieldManager"), parameter("fieldValidation"), parameter("force")],
      },
    };
    schemas[schemaName(view)] = {
      ...(view.schema === undefined ? openApiOfKind(view.type, schemas) : view.openApi),
      "x-kubernetes-group-version-kind": [kind],
    };
  }
  return { openapi: "3.0.0", info: { title: "Kubernetes", version: "v1.37.2" }, paths, components: { schemas } };
}

/**
 * OpenAPI v2 without a type: kubectl asks for it where v3 does not know a kind, as with `kind: List`, and checks nothing of a kind
 * that it does not name. It asks for protobuf alone; the fields of gnostic's openapi.v2.Document: 1 swagger, 2 info {1 title,
 * 2 version}.
 */
const version2 = { swagger: "2.0", info: { title: "Kubernetes", version: "v1.37.2" }, paths: {}, definitions: {} };
const VERSION2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

function version2Protobuf(): Buffer {
  const field = (number: number, value: Buffer): Buffer =>
    Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), value]);
  const { title, version } = version2.info;
  const info = Buffer.concat([field(1, Buffer.from(title)), field(2, Buffer.from(version))]);
  return Buffer.concat([field(1, Buffer.from(version2.swagger)), field(2, info)]);
}

export class OpenApi {
  readonly #registry: Registry;
  #generation = -1;
  #documents = new Map<string, { readonly bytes: Buffer; readonly hash: string }>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Answers a path below /openapi; false when it is none. */
  serve(request: ApiRequest): boolean {
    if (!request.path.startsWith("/openapi/")) return false;
    if (request.path === "/openapi/v2") {
      const protobuf = (request.raw.headers.accept ?? "").includes("+protobuf");
      if (protobuf) sendBytes(request, 200, version2Protobuf(), VERSION2_PROTOBUF);
      else sendJson(request, 200, version2);
      return true;
    }
    this.#refresh();
    if (request.path === "/openapi/v3") {
      const paths: Fields = {};
      for (const [path, { hash }] of this.#documents)
        paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
      sendJson(request, 200, { paths });
      return true;
    }
    const document = this.#documents.get(request.path.slice("/openapi/v3/".length));
    if (document === undefined) pageNotFound(request);
    else sendBytes(request, 200, document.bytes, "application/json", { ETag: `"${document.hash}"` });
    return true;
  }

  #refresh(): void {
    if (this.#generation === this.#registry.generation) return;
    this.#generation = this.#registry.generation;
    const groups = new Map<string, View[]>();
    for (const view of this.#registry.views()) {
      if (view.verbs.length > 0) groups.set(view.apiVersion, [...(groups.get(view.apiVersion) ?? []), view]);
    }
    this.#documents = new Map(
      [...groups].map(([apiVersion, views]) => {
        const bytes = Buffer.from(JSON.stringify(documentOf(views)));
        return [pathOf(apiVersion), { bytes, hash: createHash("sha256").update(bytes).digest("hex").toUpperCase() }];
      }),
    );
  }
}
