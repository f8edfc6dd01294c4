/** The templates of an assembled specification, as the template engine takes them. */
import type { Assembled, TemplateField } from "./assemble.ts";
import type { LoadedObject } from "./files.ts";
import { fieldPath, objectName, type SourcePosition } from "./problems.ts";
import type { PostProcessor } from "./types.ts";

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
  /** Where the parameters of the entry's processors stand, by processor. */
  readonly processors?: readonly Readonly<Record<string, SourcePosition>>[];
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
  const add = (name: string, field: string, text: string, processors: readonly PostProcessor[] = []): void => {
    const origin = assembled.origins.get(field);
    if (origin === undefined) return;
    const templates = onDisk.get(origin.object)?.templates;
    const loaded = templates?.get(field);
    const places = loaded?.text === text ? positions(templates!, field, processors) : [];
    sources.push({
      name,
      text,
      origin: { ...origin, field, ...(loaded !== undefined && loaded.text === text ? loaded.position : {}) },
      ...(places.length > 0 && { processors: places }),
    });
  };
  const { spec } = assembled;
  if (spec.haproxyConfig !== undefined) {
    const { template, postProcessing } = spec.haproxyConfig;
    add(MAIN_TEMPLATE, "spec.haproxyConfig.template", template, postProcessing);
  }
  const named: ConfigTemplate[] = sources.splice(1);
  for (const field of Object.keys(NAME_PREFIX) as TemplateField[]) {
    for (const [name, entry] of Object.entries(spec[field] ?? {})) {
      const processors = "postProcessing" in entry ? entry.postProcessing : undefined;
      add(`${NAME_PREFIX[field]}${name}`, fieldPath("spec", field, name, "template"), entry.template, processors);
    }
  }
  named.push(...sources.splice(spec.haproxyConfig === undefined ? 0 : 1));
  return [...sources, ...named.sort((a, b) => (a.name < b.name ? -1 : 1))];
}

/** Positions of processors' parameters, where the file holds the same text. */
function positions(
  templates: LoadedObject["templates"],
  field: string,
  processors: readonly PostProcessor[],
): Readonly<Record<string, SourcePosition>>[] {
  const entry = field.replace(/\.template$/, "");
  return processors.map(({ params }, index) =>
    Object.fromEntries(
      Object.entries(params).flatMap(([name, text]) => {
        const held = templates.get(`${entry}.postProcessing[${index}].params.${name}`);
        return held?.text === text ? [[name, held.position]] : [];
      }),
    ),
  );
}
