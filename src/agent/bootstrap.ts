/** The configuration before the first apply: HAProxy runs and can be reloaded, and nothing public listens. */
import { blockOf } from "../plan/index.ts";
import { rootDigest } from "./blocks.ts";
import { emptyModel, type HeldFile, type Model } from "./model.ts";
import type { Tree } from "./tree.ts";

export interface BootstrapOptions {
  /** Path of the configuration inside the set. */
  readonly config: string;
  /** Absolute. */
  readonly workerSocket: string;
  /** Absolute path of a unix socket to listen on: HAProxy refuses to run without any listener (exit code 2). */
  readonly listenSocket: string;
}

export function bootstrapConfig(options: BootstrapOptions): string {
  return `# Written by \`haptic agent\` before the first apply. Nothing public listens.
global
    stats socket "${options.workerSocket}" mode 600 level admin

defaults
    mode http
    timeout connect 5s
    timeout client 5s
    timeout server 5s

frontend haptic-bootstrap
    bind "unix@${options.listenSocket}" mode 600
    http-request return status 503
`;
}

/** The first set. Its plan is unknown on purpose: the first apply brings everything. */
export function bootstrapModel(options: BootstrapOptions): Model {
  const block = blockOf(Buffer.from(bootstrapConfig(options)));
  const file: HeldFile = {
    path: options.config,
    kind: "config",
    reload_on_change: false,
    digest: rootDigest([block]),
    size: block.size,
    blocks: [{ ...block }],
  };
  const model = emptyModel();
  model.files.set(file.path, file);
  return model;
}

/** Puts the first set into the files when there is none. */
export async function ensureSet(tree: Tree, options: BootstrapOptions): Promise<Model> {
  const model = bootstrapModel(options);
  await tree.fold(model);
  return model;
}
