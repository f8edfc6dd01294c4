/** pathResolver: where rendered files are, relative to `default-path origin` (template reference, pathResolver). */
import { posix } from "node:path";
import { TemplateFault } from "../templating/index.ts";

export interface Folders {
  readonly mapsDir: string;
  readonly sslCertsDir: string;
  readonly generalStorageDir: string;
}

/** Runs of characters outside `[A-Za-z0-9_-]` in the name before its extension become one `_`; the extension stays. */
export function sanitizeName(name: string): string {
  const dot = name.lastIndexOf(".");
  const base = dot > 0 ? name.slice(0, dot) : name;
  const extension = dot > 0 ? name.slice(dot) : "";
  return base.replace(/[^A-Za-z0-9_-]+/g, "_") + extension;
}

/** Paths of one configuration: the last parts of its directories, below the directory that holds `mapsDir`. */
export class PathResolver {
  readonly baseDir: string;
  readonly #folders: ReadonlyMap<string, string>;

  constructor(dataplane: Folders) {
    this.baseDir = posix.dirname(dataplane.mapsDir);
    const maps = posix.basename(dataplane.mapsDir);
    const certs = posix.basename(dataplane.sslCertsDir);
    const general = posix.basename(dataplane.generalStorageDir);
    this.#folders = new Map([
      ["map", maps],
      ["file", general],
      ["cert", certs],
      ["crt-list", general],
      ["ca-file", certs],
    ]);
  }

  /** `maps/host.map`, `general/503.http`, `ssl/example_com.pem`; an empty name gives the folder. Throws TemplateFault. */
  resolve(name: string, type: string): string {
    const folder = this.#folders.get(type);
    if (folder === undefined)
      throw new TemplateFault(`${JSON.stringify(type)} is no file type`, "it is one of map, file, cert and crt-list");
    if (name === "") return folder;
    const file = type === "map" || type === "file" ? name : sanitizeName(name);
    const path = `${folder}/${file}`;
    if (
      file.split("/").some((part) => part === "" || part.startsWith(".")) ||
      path.length > 255 ||
      // oxlint-disable-next-line no-control-regex -- control characters are exactly what must not pass
      /[\u0000-\u0020\u007f\\]/.test(file)
    ) {
      throw new TemplateFault(
        `${JSON.stringify(name)} cannot be a file's name`,
        "no part may be empty, begin with a dot or hold blanks",
      );
    }
    return path;
  }
}
