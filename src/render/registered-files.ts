/** fileRegistry: files that a template makes beside its own output, gathered for one run. */
import type { FileKind } from "../plan/types.ts";
import { TemplateFault } from "../templating/index.ts";
import type { PathResolver } from "./paths.ts";

export interface RegisteredFile {
  readonly path: string;
  readonly kind: FileKind;
  readonly content: string;
  readonly reloadOnPush: boolean;
}

const KINDS: Readonly<Record<string, FileKind>> = {
  file: "general",
  cert: "cert",
  map: "map",
  "crt-list": "crtlist",
  "ca-file": "ca",
};

export class FileRecorder {
  readonly #paths: PathResolver;
  readonly #files = new Map<string, RegisteredFile>();

  constructor(paths: PathResolver) {
    this.#paths = paths;
  }

  /** Registers a file and gives its path. The same file twice is one; other content under one path is an error. */
  register(kind: string, name: string, content: string, reloadOnPush?: boolean): string {
    if (!Object.hasOwn(KINDS, kind))
      throw new TemplateFault(
        `file kind ${JSON.stringify(kind)} is unknown`,
        `known are ${Object.keys(KINDS).join(", ")}`,
      );
    if (reloadOnPush !== undefined && kind !== "file")
      throw new TemplateFault("only a file of kind file takes reloadOnPush");
    if (name === "") throw new TemplateFault(`a ${kind} has no name`);
    const file: RegisteredFile = {
      path: this.#paths.resolve(name, kind),
      kind: KINDS[kind] as FileKind,
      content,
      reloadOnPush: reloadOnPush ?? true,
    };
    const known = this.#files.get(file.path);
    if (known !== undefined && !sameFile(known, file))
      throw new TemplateFault(`${file.path} is registered twice with different contents`);
    this.#files.set(file.path, file);
    return file.path;
  }

  files(): ReadonlyMap<string, RegisteredFile> {
    return this.#files;
  }
}

export function sameFile(a: RegisteredFile, b: RegisteredFile): boolean {
  return a.kind === b.kind && a.content === b.content && a.reloadOnPush === b.reloadOnPush;
}
