/** Which webhooks a question goes to. */
import { asText, at, isFields, listAt, stringAt } from "../objects.ts";
import type { ApiObject, Fields } from "../objects.ts";
import type { Question } from "../operations/asking.ts";
import type { ApiState } from "../operations/context.ts";
import { namespaces } from "../operations/namespaces.ts";
import type { View } from "../resources/definition.ts";
import { forbidden } from "../status.ts";
import { conditionsHold } from "./conditions.ts";
import { selectorMatches } from "./label-selector.ts";
import { reviewRequest } from "./review.ts";

/** A webhook that has to be called, and the version of the resource that it wants to see. */
export interface Invocation {
  readonly webhook: Fields;
  readonly view: View;
}

const kindOf = { mutating: "mutatingwebhookconfigurations", validating: "validatingwebhookconfigurations" } as const;

/** All webhooks of a phase, by the names of their configurations. */
function webhooksOf(state: ApiState, phase: Question["phase"]): readonly Fields[] {
  const store = state.database.store({ group: "admissionregistration.k8s.io", plural: kindOf[phase] });
  if (store.size === 0) return [];
  return store.records().flatMap((record) => listAt(record.object, "webhooks").filter(isFields));
}

const anyOf = (values: readonly unknown[], wanted: string): boolean => values.includes("*") || values.includes(wanted);

function resourceMatches(rule: Fields, plural: string, subresource: string): boolean {
  return listAt(rule, "resources").some((text) => {
    const [resource = "", below = ""] = asText(text).split("/", 2);
    return (resource === "*" || resource === plural) && (below === "*" || below === subresource);
  });
}

function scopeMatches(rule: Fields, question: Question): boolean {
  const scope = rule["scope"] ?? "*";
  if (scope === "*") return true;
  return (scope === "Namespaced") === question.view.definition.namespaced;
}

function ruleMatches(rule: Fields, question: Question, view: View): boolean {
  return (
    scopeMatches(rule, question) &&
    anyOf(listAt(rule, "operations"), question.operation) &&
    anyOf(listAt(rule, "apiGroups"), view.group) &&
    anyOf(listAt(rule, "apiVersions"), view.version) &&
    resourceMatches(rule, view.definition.plural, question.subresource)
  );
}

/** The version that the webhook's rules name: the request's, or with matchPolicy Equivalent another of the same objects. */
function matchedView(state: ApiState, webhook: Fields, question: Question): View | undefined {
  const rules = listAt(webhook, "rules").filter(isFields);
  if (rules.some((rule) => ruleMatches(rule, question, question.view))) return question.view;
  if (webhook["matchPolicy"] === "Exact") return undefined;
  const { group, plural } = question.view.definition;
  const others = state.registry
    .views()
    .filter((view) => view !== question.view && view.definition.group === group && view.definition.plural === plural);
  for (const rule of rules) {
    const found = others.find((view) => ruleMatches(rule, question, view));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Labels of the namespace that the request is about; undefined where there is none to judge. */
function namespaceLabels(state: ApiState, question: Question): Fields | undefined {
  const { group, plural, namespaced } = question.view.definition;
  if (group === "" && plural === "namespaces") {
    const labels = (question.object ?? question.old)?.metadata.labels ?? {};
    return labels;
  }
  if (!namespaced) return undefined;
  return state.database.store(namespaces).get(question.namespace)?.object.metadata.labels ?? {};
}

const objectMatches = (selector: unknown, object: ApiObject | undefined): boolean =>
  object !== undefined && selectorMatches(selector, object.metadata.labels ?? {});

function selectorsMatch(state: ApiState, webhook: Fields, question: Question): boolean {
  const labels = namespaceLabels(state, question);
  if (labels !== undefined && !selectorMatches(webhook["namespaceSelector"], labels)) return false;
  const selector = webhook["objectSelector"];
  if (!isFields(selector) || Object.keys(selector).length === 0) return true;
  // a Scale has no labels
  const seen = (object: ApiObject | undefined) =>
    object === undefined || question.disguise === undefined ? object : (question.disguise.show(object) as ApiObject);
  return objectMatches(selector, seen(question.object)) || objectMatches(selector, seen(question.old));
}

/** Whether a webhook is to be called; throws 403 where a match condition fails and the failure policy is Fail. */
export function invocationOf(state: ApiState, webhook: Fields, question: Question): Invocation | undefined {
  if (!selectorsMatch(state, webhook, question)) return undefined;
  const view = matchedView(state, webhook, question);
  if (view === undefined) return undefined;
  const conditions = listAt(webhook, "matchConditions");
  if (conditions.length === 0) return { webhook, view };
  const held = conditionsHold(conditions, reviewRequest(question, view, ""));
  if (held instanceof Error) {
    if (stringAt(webhook, "failurePolicy") === "Ignore") return undefined;
    throw forbidden(question.view.definition, question.name, held.message);
  }
  return held ? { webhook, view } : undefined;
}

/** The webhooks of the question's phase; none for webhook configurations themselves. */
export function candidates(state: ApiState, question: Question): readonly Fields[] {
  if (question.view.group === "admissionregistration.k8s.io") return [];
  return webhooksOf(state, question.phase);
}

/** How long a webhook may take, in seconds. */
export const timeoutOf = (webhook: Fields): number => {
  const seconds = at(webhook, "timeoutSeconds");
  return typeof seconds === "number" ? seconds : 10;
};
