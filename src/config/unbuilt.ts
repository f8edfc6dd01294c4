/** Fields of the CRD that this version does not carry out yet. They are refused by name: nothing is ignored silently. */
import { DATAPLANE_DEFAULTS } from "./defaults.ts";
import { type ConfigProblem, fieldPath } from "./problems.ts";
import type { HAProxyTemplateConfigSpec, IncrementalSnippet } from "./types.ts";

/** Effects of an incremental snippet that the render service carries out. */
const EFFECTS: ReadonlySet<string> = new Set(["backendPlan", "recordEvent"]);
const INCREMENTAL_FIELDS: ReadonlySet<string> = new Set(["source", "effects"]);

/** Timings that the controller does not set yet; whoever starts the agents gives them the first two. */
const FIXED_TIMINGS = {
  minDeploymentInterval: "give the agents --reload-interval-min",
  reloadVerificationTimeout: "give the agents --reload-timeout",
  deploymentTimeout: "leave it out",
  syncTimeout: "leave it out",
} as const;

/**
 * One problem for each field that asks for something this version does not do (`notBuilt`), and warnings (`ignored`) for
 * validationTests. A field that holds its default asks for nothing. `object` names whose specification it is.
 */
export function notBuiltYet(spec: HAProxyTemplateConfigSpec, object: string): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const refuse = (message: string, hint: string | undefined, ...path: (string | number)[]): void => {
    problems.push({
      kind: "notBuilt",
      object,
      field: fieldPath("spec", ...path),
      message,
      ...(hint === undefined ? {} : { hint }),
    });
  };
  const NOT_BUILT = "not built yet in this version";

  for (const [alias, entry] of Object.entries(spec.watchedResources ?? {})) {
    if (entry.apiVersions !== undefined)
      refuse(NOT_BUILT, "name one version with apiVersion", "watchedResources", alias, "apiVersions");
    if (entry.optional === true)
      refuse(`the value true is ${NOT_BUILT}`, "leave it out", "watchedResources", alias, "optional");
    if (entry.store === "on-demand")
      refuse(
        `the value on-demand is ${NOT_BUILT}`,
        "use store: full and ignoreFields",
        "watchedResources",
        alias,
        "store",
      );
    if (entry.enableValidationWebhook === true) {
      refuse(
        `the value true is ${NOT_BUILT}`,
        "leave it out; a bad object is named in an Event",
        "watchedResources",
        alias,
        "enableValidationWebhook",
      );
    }
  }
  for (const name of Object.keys(spec.k8sResources ?? {}))
    refuse(NOT_BUILT, "apply the resource yourself", "k8sResources", name);
  for (const [name, snippet] of Object.entries(spec.templateSnippets ?? {})) {
    if (snippet.incremental !== undefined)
      incremental(snippet.incremental, (message, field) =>
        refuse(message, undefined, "templateSnippets", name, "incremental", field),
      );
  }
  spec.validators?.forEach((_, index) => refuse(NOT_BUILT, undefined, "validators", index));
  if ((spec.logging?.level ?? "") !== "")
    refuse(NOT_BUILT, "set LOG_LEVEL in the controller's environment", "logging", "level");
  for (const [name, hint] of Object.entries(FIXED_TIMINGS)) {
    const value = spec.dataplane?.[name as keyof typeof FIXED_TIMINGS];
    if (value === undefined || value === DATAPLANE_DEFAULTS[name as keyof typeof FIXED_TIMINGS]) continue;
    refuse(`another value than the default is ${NOT_BUILT}`, hint, "dataplane", name);
  }

  const warn = (field: string, message: string): void => {
    problems.push({ kind: "ignored", object, field, message });
  };
  for (const name of Object.keys(spec.validationTests ?? {})) {
    warn(fieldPath("spec", "validationTests", name), "validation tests are not run yet in this version");
  }
  if (spec.templatingSettings?.testExtraContext !== undefined) {
    warn(
      "spec.templatingSettings.testExtraContext",
      "only validation tests read it, and these are not run yet in this version",
    );
  }
  return problems;
}

function incremental(settings: IncrementalSnippet, refuse: (message: string, field: string) => void): void {
  for (const [field, value] of Object.entries(settings)) {
    if (INCREMENTAL_FIELDS.has(field) || value === undefined || value === "") continue;
    if (Array.isArray(value) && value.length === 0) continue;
    refuse("not built yet in this version", field);
  }
  for (const effect of settings.effects ?? []) {
    if (!EFFECTS.has(effect)) refuse(`the effect ${effect} is not built yet in this version`, "effects");
  }
}
