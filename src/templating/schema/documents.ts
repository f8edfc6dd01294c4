/** Finds the schemas of resources in documents: OpenAPI v3, CustomResourceDefinitions, or single schemas. */
import type { ObjectType } from "../check/types.ts";
import { type Resolve, resourceType, type Schema } from "./object-type.ts";

/** Schemas of resources, whatever documents they came from. */
export interface Schemas {
  /**
   * The type of a watched resource. `apiVersion` is `group/version` or `version`, `plural` the resource's name in URLs,
   * (or its kind), `alias` the name templates use. Undefined when there is no schema: the resource is then untyped.
   */
  resource(apiVersion: string, plural: string, alias: string): ObjectType | undefined;
  /** Documents that held no schema of a resource, by their position: worth a warning where a person named them. */
  readonly unused: readonly number[];
}

interface Found {
  readonly schema: Schema;
  readonly resolve: Resolve;
  readonly kind: string;
}

type Json = Readonly<Record<string, unknown>>;

const isMap = (v: unknown): v is Json => typeof v === "object" && v !== null && !Array.isArray(v);
const text = (v: unknown): string => (typeof v === "string" ? v : "");
const own = (v: unknown, key: string): unknown => (isMap(v) && Object.hasOwn(v, key) ? v[key] : undefined);
const joined = (group: string, version: string): string => (group === "" ? version : `${group}/${version}`);

class SchemaTable implements Schemas {
  readonly unused: number[] = [];
  /** By `apiVersion plural`. */
  readonly #byPlural = new Map<string, Found>();
  /** By `apiVersion kind` in lower case. */
  readonly #byKind = new Map<string, Found>();
  /** Kinds that paths of the API name, by `apiVersion plural`. */
  readonly #kinds = new Map<string, string>();

  resource(apiVersion: string, plural: string, alias: string): ObjectType | undefined {
    const found = this.#find(apiVersion, plural);
    return found && resourceType(alias, found.schema, found.resolve, apiVersion, found.kind);
  }

  #find(apiVersion: string, plural: string): Found | undefined {
    const exact = this.#byPlural.get(`${apiVersion} ${plural}`);
    if (exact !== undefined) return exact;
    const kind = this.#kinds.get(`${apiVersion} ${plural}`);
    // Without paths the kind is guessed from the plural, as people make them.
    const guesses = kind !== undefined ? [kind] : singulars(plural);
    for (const guess of guesses) {
      const found = this.#byKind.get(`${apiVersion} ${guess.toLowerCase()}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Whether the document held anything of use. */
  add(document: unknown): boolean {
    if (!isMap(document)) return false;
    if (document["kind"] === "CustomResourceDefinition") return this.#addDefinition(document);
    const items = document["items"];
    if (text(document["kind"]).endsWith("List") && Array.isArray(items))
      return items.map((item) => this.add(item)).some(Boolean);
    const schemas = own(document["components"], "schemas") ?? document["definitions"];
    if (isMap(schemas)) {
      const used = this.#addSchemas(schemas);
      return this.#addPaths(document["paths"]) || used;
    }
    return this.#addSchema(document, (reference) => pointer(document, reference));
  }

  #addDefinition(definition: Json): boolean {
    const spec = definition["spec"];
    const [group, names, versions] = [own(spec, "group"), own(spec, "names"), own(spec, "versions")];
    let used = false;
    for (const version of Array.isArray(versions) ? (versions as unknown[]) : []) {
      const schema = own(own(version, "schema"), "openAPIV3Schema");
      if (!isMap(schema)) continue;
      const apiVersion = joined(text(group), text(own(version, "name")));
      const found: Found = {
        schema,
        resolve: (reference) => pointer(schema, reference),
        kind: text(own(names, "kind")),
      };
      this.#byPlural.set(`${apiVersion} ${text(own(names, "plural"))}`, found);
      this.#byKind.set(`${apiVersion} ${found.kind.toLowerCase()}`, found);
      used = true;
    }
    return used;
  }

  #addSchemas(schemas: Json): boolean {
    const resolve: Resolve = (reference) => {
      const name = /^#\/(?:components\/schemas|definitions)\/([^/]+)$/.exec(reference)?.[1];
      return own(schemas, unescaped(name ?? "")) as Schema | undefined;
    };
    return Object.values(schemas)
      .map((schema) => isMap(schema) && this.#addSchema(schema as Schema, resolve))
      .some(Boolean);
  }

  #addSchema(schema: Schema, resolve: Resolve): boolean {
    const marks = schema["x-kubernetes-group-version-kind"];
    let used = false;
    for (const mark of Array.isArray(marks) ? (marks as unknown[]) : isMap(marks) ? [marks] : []) {
      const kind = text(own(mark, "kind"));
      if (kind === "" || schema.properties === undefined) continue;
      const apiVersion = joined(text(own(mark, "group")), text(own(mark, "version")));
      this.#byKind.set(`${apiVersion} ${kind.toLowerCase()}`, { schema, resolve, kind });
      used = true;
    }
    return used;
  }

  /** `/apis/GROUP/VERSION/…/PLURAL`, of a collection or of one object, with the kind its operations name. */
  #addPaths(paths: unknown): boolean {
    let used = false;
    for (const [path, operations] of Object.entries(isMap(paths) ? paths : {})) {
      const plural =
        /^\/(?:api|apis\/[^/]+)\/[^/]+(?:\/namespaces\/\{namespace\})?\/([a-z0-9.-]+)(?:\/\{name\})?$/.exec(path)?.[1];
      if (plural === undefined) continue;
      for (const operation of Object.values(isMap(operations) ? operations : {})) {
        const mark = own(operation, "x-kubernetes-group-version-kind");
        const kind = text(own(mark, "kind"));
        if (kind === "") continue;
        this.#kinds.set(`${joined(text(own(mark, "group")), text(own(mark, "version")))} ${plural}`, kind);
        used = true;
      }
    }
    return used;
  }
}

const unescaped = (part: string): string => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");

/** A JSON pointer within one document. */
function pointer(document: unknown, reference: string): Schema | undefined {
  if (!reference.startsWith("#/")) return undefined;
  let at: unknown = document;
  for (const part of reference.slice(2).split("/")) at = own(at, unescaped(part));
  return at as Schema | undefined;
}

/** Kinds, in lower case, whose plural this may be. */
function singulars(plural: string): string[] {
  const guesses = [plural];
  if (plural.endsWith("ies")) guesses.push(`${plural.slice(0, -3)}y`);
  if (plural.endsWith("es")) guesses.push(plural.slice(0, -2));
  if (plural.endsWith("s")) guesses.push(plural.slice(0, -1));
  return guesses;
}

/**
 * Reads parsed documents: what `/openapi/v3/apis/GROUP/VERSION` of a cluster answers, CustomResourceDefinitions (also a List
 * of them), `definitions` by name, or one schema with `x-kubernetes-group-version-kind`. Of two schemas of one resource the
 * later counts. Never throws: a document that holds none is told in `unused`.
 */
export function readSchemas(documents: readonly unknown[]): Schemas {
  const table = new SchemaTable();
  documents.forEach((document, i) => {
    if (!table.add(document)) table.unused.push(i);
  });
  return table;
}
