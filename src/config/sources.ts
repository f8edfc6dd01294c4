/** The templates of an assembled specification, as the template engine takes them. */
import type { Assembled, TemplateField } from "./assemble.ts";
import type { LoadedObject } from "./files.ts";
import { fieldPath, objectName } from "./problems.ts";

/** Structurally a TemplateSource of the engine (src/templating/types.ts), with its origin always known. */
export interface ConfigTemplate {
  readonly name: string;
  readonly text: string;
  readonly origin: {
    readonly object: string;
    readonly field: string;
    readonly file?: string;
    readonly line?: number;
    readonly overrode?: string;
  };
}

export const MAIN_TEMPLATE = "haproxy.cfg";

/** Prefix of a template's registry name, by the field it stands in. A snippet's name is its own. */
export const NAME_PREFIX: Readonly<Record<TemplateField, string>> = {
  templateSnippets: "",
  maps: "map:",
  files: "file:",
  sslCertificates: "cert:",
  k8sResources: "k8s:",
};

/**
 * Every template, main one first, then by name. `files` are objects read from disk: where one of them holds the same
 * text at the same place, the origin names its file and line.
 */
export function toTemplateSources(
  assembled: Assembled,
  files: readonly LoadedObject[] = [],
): readonly ConfigTemplate[] {
  const onDisk = new Map(files.map((loaded) => [objectName(loaded.object), loaded]));
  const sources: ConfigTemplate[] = [];
  const add = (name: string, field: string, text: string): void => {
    const origin = assembled.origins.get(field);
    if (origin === undefined) return;
    const loaded = onDisk.get(origin.object)?.templates.get(field);
    sources.push({
      name,
      text,
      origin: { ...origin, field, ...(loaded !== undefined && loaded.text === text ? loaded.position : {}) },
    });
  };
  const { spec } = assembled;
  if (spec.haproxyConfig !== undefined) add(MAIN_TEMPLATE, "spec.haproxyConfig.template", spec.haproxyConfig.template);
  const named: ConfigTemplate[] = sources.splice(1);
  for (const field of Object.keys(NAME_PREFIX) as TemplateField[]) {
    for (const [name, entry] of Object.entries(spec[field] ?? {})) {
      add(`${NAME_PREFIX[field]}${name}`, fieldPath("spec", field, name, "template"), entry.template);
    }
  }
  named.push(...sources.splice(spec.haproxyConfig === undefined ? 0 : 1));
  return [...sources, ...named.sort((a, b) => (a.name < b.name ? -1 : 1))];
}
