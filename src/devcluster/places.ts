/** Tells where in the manifests a template's problem is: the controller knows the object and the field, a person has the file. */
import { type LoadedObject, loadFiles } from "../config/index.ts";

const DEFAULT_NAMESPACE = "default";
/** `haproxy.cfg:49:4: the template …`: a problem begins. */
const PROBLEM = /^\S.*?:(\d+):\d+: /;
/** `  in HAProxyTemplateConfig default/ingress spec.haproxyConfig.template`: the end of its chain. */
const ORIGIN = /^ *in (\S+) (?:(\S+)\/)?(\S+) (spec\.\S.*)$/;

/** The message with `(FILE:LINE)` behind each place whose object stands in one of the folder's files. */
export function withPlaces(message: string, folder: string): string {
  let objects: readonly LoadedObject[] | undefined;
  let line = 1;
  return message
    .split("\n")
    .map((text) => {
      const began = PROBLEM.exec(text);
      if (began !== null) line = Number(began[1]);
      const origin = ORIGIN.exec(text);
      if (origin === null) return text;
      objects ??= loadFiles([folder]).objects;
      const [, kind, namespace = DEFAULT_NAMESPACE, name, field = ""] = origin;
      const loaded = objects.find(
        ({ object }) =>
          object.kind === kind &&
          object.metadata.name === name &&
          (object.metadata.namespace ?? DEFAULT_NAMESPACE) === namespace,
      );
      const position = loaded?.templates.get(field)?.position;
      return position === undefined ? text : `${text} (${position.file}:${position.line + line - 1})`;
    })
    .join("\n");
}
