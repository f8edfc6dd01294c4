/** Rules of CustomResourceDefinitions. */
import type { ApiObject, Fields } from "../../objects.ts";
import { isFields } from "../../objects.ts";
import { fieldInvalid, fieldNotSupported, fieldRequired } from "../../status.ts";
import type { FieldError } from "../../status.ts";
import { specOf } from "../crd-names.ts";
import type { DefinitionVersion } from "../crd-names.ts";
import type { KindRules, RuleContext } from "../definition.ts";
import { knownFormat } from "../../schema/formats.ts";
import type { StructuralSchema } from "../../schema/structural.ts";
import { schemaFaults } from "../../schema/structural-faults.ts";

function defaults(object: ApiObject): void {
  const spec = isFields(object["spec"]) ? object["spec"] : {};
  const names = isFields(spec["names"]) ? spec["names"] : {};
  const kind = typeof names["kind"] === "string" ? names["kind"] : "";
  const filled: Fields = { ...names };
  if (!filled["singular"]) filled["singular"] = kind.toLowerCase();
  if (!filled["listKind"]) filled["listKind"] = `${kind}List`;
  const conversion = isFields(spec["conversion"]) ? spec["conversion"] : { strategy: "None" };
  const made: Fields = { ...spec, names: filled, conversion };
  if (made["preserveUnknownFields"] === false) delete made["preserveUnknownFields"];
  object["spec"] = made;
}

function prepareCreate(object: ApiObject): void {
  const storage = specOf(object).versions?.find((version) => version.storage)?.name;
  object["status"] = {
    conditions: null,
    acceptedNames: { plural: "", kind: "" },
    storedVersions: storage === undefined ? [] : [storage],
  };
}

function versionErrors(version: DefinitionVersion, path: string, schemaPath: string, single: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const columns = single ? "spec" : path;
  const schema = version.schema?.openAPIV3Schema;
  if (schema === undefined) errors.push(fieldRequired(`${path}.schema.openAPIV3Schema`, "schemas are required"));
  else errors.push(...schemaFaults(schema, schemaPath));
  for (const [i, column] of (version.additionalPrinterColumns ?? []).entries()) {
    const at = `${columns}.additionalPrinterColumns[${i}]`;
    const types = ["boolean", "date", "integer", "number", "string"];
    if (!types.includes(column.type)) {
      errors.push(fieldInvalid(`${at}.type`, column.type, `must be one of ${types.join(",")}`));
    }
    if (!column.jsonPath?.startsWith(".")) {
      errors.push(fieldInvalid(`${at}.JSONPath`, column.jsonPath ?? "", "must be a simple json path starting with ."));
    }
  }
  return errors;
}

/** A format nobody checks is allowed, and told. */
function warnOfFormats(schema: StructuralSchema | undefined, context: RuleContext): void {
  if (schema === undefined) return;
  if (schema.format !== undefined && !knownFormat(schema.format)) {
    context.warn(`unrecognized format ${JSON.stringify(schema.format)}`);
  }
  for (const below of Object.values(schema.properties ?? {})) warnOfFormats(below, context);
  warnOfFormats(schema.items, context);
  if (isFields(schema.additionalProperties)) warnOfFormats(schema.additionalProperties, context);
}

function validate(object: ApiObject, old: ApiObject | undefined, context: RuleContext): FieldError[] {
  const errors: FieldError[] = [];
  const spec = specOf(object);
  if (!spec.group) errors.push(fieldRequired("spec.group"));
  if (spec.scope !== "Namespaced" && spec.scope !== "Cluster") {
    errors.push(fieldNotSupported("spec.scope", spec.scope ?? "", ["Cluster", "Namespaced"]));
  }
  if (!spec.names.plural) errors.push(fieldRequired("spec.names.plural"));
  if (!spec.names.kind) errors.push(fieldRequired("spec.names.kind"));
  const wanted = `${spec.names.plural}.${spec.group}`;
  if (object.metadata.name !== wanted) {
    errors.push(fieldInvalid("metadata.name", object.metadata.name, `must be spec.names.plural+"."+spec.group`));
  }
  const versions = spec.versions ?? [];
  const storages = versions.filter((version) => version.storage).length;
  if (storages !== 1) {
    errors.push(
      fieldInvalid(
        "spec.versions",
        versions.map((version) => version.name),
        "must have exactly one version marked as storage version",
      ),
    );
  }
  for (const version of versions) warnOfFormats(version.schema?.openAPIV3Schema, context);
  const single = versions.length === 1;
  for (const [i, version] of versions.entries()) {
    const path = `spec.versions[${i}]`;
    const schemaPath = single ? "spec.validation.openAPIV3Schema" : `${path}.schema.openAPIV3Schema`;
    errors.push(...versionErrors(version, path, schemaPath, single));
  }
  const protectedGroup = /(^|\.)(k8s|kubernetes)\.io$/.test(spec.group ?? "");
  if (protectedGroup && object.metadata.annotations?.["api-approved.kubernetes.io"] === undefined) {
    errors.push(
      fieldRequired(
        "metadata.annotations[api-approved.kubernetes.io]",
        'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ),
    );
  }
  if (old !== undefined) errors.push(...immutable(object, old));
  return errors;
}

function immutable(object: ApiObject, old: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  const [now, before] = [specOf(object), specOf(old)];
  const check = (field: string, a: string, b: string): void => {
    if (a !== b) errors.push(fieldInvalid(field, a, "field is immutable"));
  };
  check("spec.group", now.group, before.group);
  check("spec.scope", now.scope, before.scope);
  check("spec.names.kind", now.names.kind, before.names.kind);
  check("spec.names.plural", now.names.plural, before.names.plural);
  const stored = (object["status"] as { storedVersions?: string[] } | undefined)?.storedVersions ?? [];
  for (const [i, name] of stored.entries()) {
    if (!now.versions.some((version) => version.name === name)) {
      errors.push(
        fieldInvalid(
          `status.storedVersions[${i}]`,
          name,
          "missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions".replaceAll(
            "v1",
            name,
          ),
        ),
      );
    }
  }
  return errors;
}

export const crdRules: KindRules = { defaults, prepareCreate, validate };
