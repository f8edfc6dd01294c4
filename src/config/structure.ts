/** Rules of a specification that its schema cannot express. They hold for the merged set, so libraries count in. */
import { posix } from "node:path";
import { JsonPathError } from "../errors.ts";
import { type JsonPath, parseFieldSelector, parseJsonPath, trims } from "../stores/index.ts";
import type { Assembled } from "./assemble.ts";
import { DATAPLANE_DURATIONS, dataplaneOf, LEADER_ELECTION_DEFAULTS } from "./defaults.ts";
import { parseDuration } from "./durations.ts";
import { type ConfigProblem, fieldPath, objectName } from "./problems.ts";
import { MAIN_TEMPLATE, NAME_PREFIX } from "./sources.ts";
import type { HAProxyTemplateConfig, HAProxyTemplateConfigSpec, TemplateSnippet, WatchedResource } from "./types.ts";

/** The alias under which the controller itself watches the HAProxy pods. */
const RESERVED_ALIAS = "haproxy-pods";
/** Longest interval that the agent accepts for pacing and for the verdict of a reload. */
const AGENT_LIMIT_MS = 60_000;

type Report = (message: string, path: readonly (string | number)[], hint?: string) => void;

/** Everything that is wrong, each problem naming object and field; warnings have the kind `ignored`. */
export function checkStructure(config: HAProxyTemplateConfig, assembled: Assembled): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const { spec, origins } = assembled;
  const add =
    (kind: "structure" | "ignored"): Report =>
    (message, path, hint) => {
      const field = fieldPath("spec", ...path);
      // A rule about a template names the object that gave the template, which may be a library.
      const owner = origins.get(fieldPath("spec", ...path.slice(0, 2), "template"))?.object ?? objectName(config);
      problems.push({ kind, object: owner, field, message, ...(hint === undefined ? {} : { hint }) });
    };
  const refuse = add("structure");
  const warn = add("ignored");

  if (Object.keys(spec.podSelector?.matchLabels ?? {}).length === 0) {
    refuse("at least one label of the HAProxy pods is required", ["podSelector", "matchLabels"]);
  }
  if (spec.haproxyConfig === undefined) {
    refuse("no object of the set supplies it", ["haproxyConfig"], "write it inline or refer to a library that has it");
  }
  const watched = Object.entries(spec.watchedResources ?? {});
  if (watched.length === 0) refuse("at least one entry is required", ["watchedResources"]);
  for (const [alias, entry] of watched) checkWatch(alias, entry, spec.watchedResourcesIgnoreFields ?? [], refuse, warn);
  checkPaths(spec.watchedResourcesIgnoreFields, ["watchedResourcesIgnoreFields"], refuse);
  checkReferences(config, refuse);
  for (const [name, snippet] of Object.entries(spec.templateSnippets ?? {})) checkSnippet(name, snippet, spec, refuse);
  for (const field of ["maps", "files", "sslCertificates"] as const) {
    for (const name of Object.keys(spec[field] ?? {})) {
      if (!isFileName(name))
        refuse(`${JSON.stringify(name)} is no file name: letters, digits, . _ - only, not beginning with a dot`, [
          field,
          name,
        ]);
    }
  }
  checkDataplane(spec, refuse);
  checkElection(spec, refuse);
  return problems;
}

function checkWatch(
  alias: string,
  entry: WatchedResource,
  trimEverywhere: readonly string[],
  refuse: Report,
  warn: Report,
): void {
  const at = (...path: (string | number)[]): (string | number)[] => ["watchedResources", alias, ...path];
  if (alias === RESERVED_ALIAS) refuse("the name is reserved for the HAProxy pods", at(), "choose another name");
  if ((entry.apiVersion === undefined) === (entry.apiVersions === undefined)) {
    refuse("exactly one of apiVersion and apiVersions is required", at("apiVersion"));
  }
  const versions = entry.apiVersion === undefined ? (entry.apiVersions ?? []) : [entry.apiVersion];
  for (const version of versions) {
    if (!/^([a-z0-9.-]+\/)?v[0-9][a-z0-9]*$/.test(version)) {
      refuse(
        `${JSON.stringify(version)} is no API version`,
        at(entry.apiVersion === undefined ? "apiVersions" : "apiVersion"),
        "write v1 or group/version",
      );
    }
  }
  if (!/^[a-z][a-z0-9-]*$/.test(entry.resources)) {
    refuse(
      `${JSON.stringify(entry.resources)} is no plural resource name`,
      at("resources"),
      "write it as in kubectl api-resources, e.g. ingresses",
    );
  }
  const indexBy = entry.indexBy ?? [];
  if (indexBy.length === 0)
    refuse(
      "at least one index expression is required",
      at("indexBy"),
      "for example metadata.namespace and metadata.name",
    );
  checkPaths(indexBy, at("indexBy"), refuse);
  checkPaths(entry.ignoreFields, at("ignoreFields"), refuse);
  for (const [index, expression] of indexBy.entries()) {
    const wanted = readPath(expression);
    if (typeof wanted === "string") continue;
    const trimming = [...trimEverywhere, ...(entry.ignoreFields ?? [])].find((each) => {
      const trimmed = readPath(each);
      return typeof trimmed !== "string" && trims(trimmed, wanted);
    });
    if (trimming !== undefined)
      refuse(
        `${expression} is removed by the ignored field ${trimming}`,
        at("indexBy", index),
        "do not trim a field that is indexed",
      );
  }
  const labels = entry.labelSelector ?? "";
  if (labels !== "" && !labels.split(",").every((part) => /^\s*[^\s=!,()]+\s*==?\s*[^\s=!,()]*\s*$/.test(part))) {
    refuse(
      `${JSON.stringify(labels)} is not of the form k=v[,k=v]`,
      at("labelSelector"),
      "set-based selectors are not supported",
    );
  }
  const selector = complaint(() => parseFieldSelector(entry.fieldSelector ?? ""));
  if (selector !== undefined) refuse(selector, at("fieldSelector"), "write field.path=value");
  const debounce = entry.debounceInterval ?? "";
  if (debounce !== "" && (parseDuration(debounce) ?? -1) < 0) {
    warn(
      `${JSON.stringify(debounce)} is no duration; 100ms is used`,
      at("debounceInterval"),
      "write 250ms, 1s, or 0 for none",
    );
  }
}

function checkPaths(paths: readonly string[] | undefined, at: readonly (string | number)[], refuse: Report): void {
  for (const [index, expression] of (paths ?? []).entries()) {
    const path = readPath(expression);
    if (typeof path === "string")
      refuse(path, [...at, index], "write a.b.c, with dots inside a key as \\. or the key as ['a.b']");
  }
}

/** The parsed expression, or what is wrong with it. */
function readPath(expression: string): JsonPath | string {
  let path: JsonPath | undefined;
  return complaint(() => (path = parseJsonPath(expression))) ?? path ?? "";
}

/** What a parser of field paths objects to; undefined when it accepts. */
function complaint(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof JsonPathError) return error.message;
    throw error;
  }
}

function checkReferences(config: HAProxyTemplateConfig, refuse: Report): void {
  const seen = new Set<string>();
  for (const [index, { name }] of (config.spec.libraryRefs ?? []).entries()) {
    if (seen.has(name)) refuse(`the library ${name} is referred to twice`, ["libraryRefs", index, "name"]);
    seen.add(name);
  }
}

function checkSnippet(name: string, snippet: TemplateSnippet, spec: HAProxyTemplateConfigSpec, refuse: Report): void {
  const at = (...path: (string | number)[]): (string | number)[] => ["templateSnippets", name, ...path];
  const prefix = Object.values(NAME_PREFIX).find((each) => each !== "" && name.startsWith(each));
  if (name === MAIN_TEMPLATE || prefix !== undefined) {
    refuse(
      `the name is reserved for ${prefix === undefined ? "the main template" : `templates of the kind ${prefix}`}`,
      at(),
    );
  }
  for (const [index, alias] of (snippet.requires ?? []).entries()) {
    if (spec.watchedResources?.[alias] === undefined)
      refuse(`${JSON.stringify(alias)} names no watchedResources entry`, at("requires", index));
  }
  const { incremental } = snippet;
  if (incremental === undefined) return;
  if ((incremental.source === undefined) === (incremental.bindingsTemplate === undefined)) {
    refuse("exactly one of source and bindingsTemplate is required", at("incremental", "source"));
  }
  const { source } = incremental;
  if (source === undefined) return;
  if (spec.watchedResources?.[source] === undefined)
    refuse(`${JSON.stringify(source)} names no watchedResources entry`, at("incremental", "source"));
  else if (snippet.requires?.includes(source) !== true) {
    refuse(`must also be listed in requires: [${source}]`, at("incremental", "source"), `add requires: [${source}]`);
  }
}

/** A name that is one path segment, so that no name leaves its directory. */
function isFileName(name: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(name) && name.length <= 200;
}

function checkDataplane(spec: HAProxyTemplateConfigSpec, refuse: Report): void {
  const dataplane = dataplaneOf(spec);
  for (const name of DATAPLANE_DURATIONS) {
    const duration = parseDuration(dataplane[name]);
    const limited = name === "minDeploymentInterval" || name === "reloadVerificationTimeout";
    if (duration === undefined || duration < 0 || (duration === 0 && name !== "minDeploymentInterval")) {
      refuse(
        `${JSON.stringify(dataplane[name])} is no duration above zero`,
        ["dataplane", name],
        "write 500ms, 2s, 1m30s",
      );
    } else if (limited && duration > AGENT_LIMIT_MS) {
      refuse(`${dataplane[name]} is more than 60s, which agents refuse`, ["dataplane", name]);
    }
  }
  const base = posix.dirname(dataplane.mapsDir);
  const taken = new Map<string, string>();
  for (const name of ["mapsDir", "sslCertsDir", "generalStorageDir", "configFile"] as const) {
    const path = dataplane[name];
    if (!posix.isAbsolute(path) || posix.normalize(path) !== path || path.endsWith("/")) {
      refuse(`${JSON.stringify(path)} is no plain absolute path`, ["dataplane", name]);
    } else if (posix.dirname(path) !== base) {
      refuse(`${path} does not lie in ${base}, as mapsDir does; paths in haproxy.cfg are relative to one directory`, [
        "dataplane",
        name,
      ]);
    } else if (taken.has(path)) refuse(`${path} is ${taken.get(path)} too`, ["dataplane", name]);
    taken.set(path, name);
  }
}

function checkElection(spec: HAProxyTemplateConfigSpec, refuse: Report): void {
  const election = { ...LEADER_ELECTION_DEFAULTS, ...spec.controller?.leaderElection };
  const read = (name: "leaseDuration" | "renewDeadline" | "retryPeriod"): number => {
    const duration = parseDuration(election[name]) ?? 0;
    if (duration <= 0)
      refuse(`${JSON.stringify(election[name])} is no duration above zero`, ["controller", "leaderElection", name]);
    return duration;
  };
  const [lease, renew, retry] = [read("leaseDuration"), read("renewDeadline"), read("retryPeriod")];
  if (renew >= lease) refuse("must be shorter than leaseDuration", ["controller", "leaderElection", "renewDeadline"]);
  if (retry >= renew) refuse("must be shorter than renewDeadline", ["controller", "leaderElection", "retryPeriod"]);
}
