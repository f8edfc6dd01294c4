/** Rules of webhook configurations: defaults, and what makes one unusable. */
import { asText, at, isFields, listAt, stringAt } from "../../objects.ts";
import type { ApiObject, Fields } from "../../objects.ts";
import { fieldDuplicate, fieldInvalid, fieldNotSupported, fieldRequired } from "../../status.ts";
import type { FieldError } from "../../status.ts";
import type { KindRules } from "../definition.ts";

const fields = (value: unknown): Fields => (isFields(value) ? value : {});

function webhookDefaults(webhook: Fields, mutating: boolean): Fields {
  const made: Fields = { ...webhook };
  made["failurePolicy"] ??= "Fail";
  made["matchPolicy"] ??= "Equivalent";
  made["namespaceSelector"] ??= {};
  made["objectSelector"] ??= {};
  made["timeoutSeconds"] ??= 10;
  if (mutating) made["reinvocationPolicy"] ??= "Never";
  if (Array.isArray(made["rules"]))
    made["rules"] = made["rules"].map((rule: Fields) => ({ ...rule, scope: rule["scope"] ?? "*" }));
  const config = fields(made["clientConfig"]);
  if (isFields(config["service"])) {
    made["clientConfig"] = { ...config, service: { ...config["service"], port: config["service"]["port"] ?? 443 } };
  }
  return made;
}

const oneOf = (path: string, value: unknown, allowed: readonly string[]): FieldError[] =>
  value === undefined || allowed.includes(asText(value)) ? [] : [fieldNotSupported(path, value, allowed)];

function wildcardErrors(path: string, values: readonly unknown[], what: string): FieldError[] {
  if (values.length === 0) return [fieldRequired(path)];
  if (values.length === 1 || !values.includes("*")) return [];
  return [fieldInvalid(path, values, `if '*' is present, must not specify other ${what}`)];
}

function ruleErrors(rule: unknown, path: string): FieldError[] {
  const operations = listAt(rule, "operations");
  return [
    ...wildcardErrors(`${path}.operations`, operations, "operations"),
    ...operations.flatMap((operation, i) =>
      oneOf(`${path}.operations[${i}]`, operation, ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]),
    ),
    ...wildcardErrors(`${path}.apiGroups`, listAt(rule, "apiGroups"), "API groups"),
    ...wildcardErrors(`${path}.apiVersions`, listAt(rule, "apiVersions"), "API versions"),
    ...(listAt(rule, "resources").length === 0 ? [fieldRequired(`${path}.resources`)] : []),
    ...oneOf(`${path}.scope`, at(rule, "scope"), ["*", "Cluster", "Namespaced"]),
  ];
}

function urlErrors(text: string, path: string): FieldError[] {
  const form = "; desired format: https://host[/path]";
  const invalid = (why: string): FieldError[] => [fieldInvalid(path, text, `${why}${form}`)];
  if (!URL.canParse(text)) return invalid("url must be a valid URL");
  const url = new URL(text);
  if (url.protocol !== "https:")
    return [fieldInvalid(path, url.protocol.slice(0, -1), `'https' is the only allowed URL scheme${form}`)];
  if (url.hostname === "") return invalid("host must be specified");
  const errors: FieldError[] = [];
  if (url.username !== "" || url.password !== "") {
    errors.push(fieldInvalid(path, url.username, "user information is not permitted in the URL"));
  }
  if (url.hash !== "") errors.push(fieldInvalid(path, url.hash.slice(1), "fragments are not permitted in the URL"));
  if (url.search !== "")
    errors.push(fieldInvalid(path, url.search.slice(1), "query parameters are not permitted in the URL"));
  return errors;
}

function clientErrors(config: unknown, path: string): FieldError[] {
  const url = at(config, "url");
  const service = at(config, "service");
  if ((url === undefined) === (service === undefined)) {
    return [fieldRequired(path, "exactly one of url or service is required")];
  }
  if (url !== undefined) return urlErrors(asText(url), `${path}.url`);
  const errors: FieldError[] = [];
  if (stringAt(service, "name") === "") errors.push(fieldRequired(`${path}.service.name`, "service name is required"));
  if (stringAt(service, "namespace") === "") {
    errors.push(fieldRequired(`${path}.service.namespace`, "service namespace is required"));
  }
  const port = at(service, "port");
  if (typeof port === "number" && (port < 1 || port > 65_535)) {
    errors.push(
      fieldInvalid(`${path}.service.port`, port, "port is not valid: must be between 1 and 65535, inclusive"),
    );
  }
  return errors;
}

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

function nameErrors(name: string, path: string): FieldError[] {
  if (name === "") return [fieldRequired(path)];
  if (!NAME.test(name)) return [fieldInvalid(path, name, NAME_TEXT)];
  return name.split(".").length < 3
    ? [fieldInvalid(path, name, "should be a domain with at least three segments separated by dots")]
    : [];
}

function versionErrors(webhook: unknown, path: string): FieldError[] {
  const versions = listAt(webhook, "admissionReviewVersions").map(asText);
  if (versions.length === 0) return [fieldRequired(path, "must specify one of v1, v1beta1")];
  if (versions.includes("v1") || versions.includes("v1beta1")) return [];
  return [fieldInvalid(path, versions, "must include at least one of v1, v1beta1")];
}

function webhookErrors(webhook: unknown, path: string): FieldError[] {
  const timeout = at(webhook, "timeoutSeconds");
  const sideEffects = at(webhook, "sideEffects");
  return [
    ...nameErrors(stringAt(webhook, "name"), `${path}.name`),
    ...listAt(webhook, "rules").flatMap((rule, i) => ruleErrors(rule, `${path}.rules[${i}]`)),
    ...oneOf(`${path}.failurePolicy`, at(webhook, "failurePolicy"), ["Fail", "Ignore"]),
    ...oneOf(`${path}.matchPolicy`, at(webhook, "matchPolicy"), ["Equivalent", "Exact"]),
    ...(sideEffects === undefined || sideEffects === null
      ? [fieldRequired(`${path}.sideEffects`, "must specify one of None, NoneOnDryRun")]
      : oneOf(`${path}.sideEffects`, sideEffects, ["None", "NoneOnDryRun"])),
    ...(typeof timeout === "number" && (timeout < 1 || timeout > 30)
      ? [fieldInvalid(`${path}.timeoutSeconds`, timeout, "the timeout value must be between 1 and 30 seconds")]
      : []),
    ...oneOf(`${path}.reinvocationPolicy`, at(webhook, "reinvocationPolicy"), ["IfNeeded", "Never"]),
    ...clientErrors(at(webhook, "clientConfig"), `${path}.clientConfig`),
    ...versionErrors(webhook, `${path}.admissionReviewVersions`),
  ];
}

function validate(object: ApiObject): FieldError[] {
  const seen = new Set<string>();
  return listAt(object, "webhooks").flatMap((webhook, i) => {
    const name = stringAt(webhook, "name");
    const errors = webhookErrors(webhook, `webhooks[${i}]`);
    if (name !== "" && seen.has(name)) errors.push(fieldDuplicate(`webhooks[${i}].name`, name));
    seen.add(name);
    return errors;
  });
}

const rulesFor = (mutating: boolean): KindRules => ({
  defaults(object) {
    if (!Array.isArray(object["webhooks"])) return;
    object["webhooks"] = object["webhooks"].map((webhook: Fields) => webhookDefaults(webhook, mutating));
  },
  validate,
});

export const mutatingConfigurationRules = rulesFor(true);
export const validatingConfigurationRules = rulesFor(false);
