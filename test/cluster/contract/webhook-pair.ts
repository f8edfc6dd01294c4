/** The webhooks of the contract: one process beside each server, with one authority and one certificate. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAuthority } from "../../../src/devcluster/certificates.ts";
import type { ControlPlane } from "../../parts/index.ts";
import type { Place } from "./command.ts";
import { HOOK_ADDRESS, HOOK_PORT, HOOK_SERVICE, HOOK_STRANGER } from "./webhooks.ts";

const program = join(import.meta.dirname, "webhook-process.ts");
/** The embedded API's slices may name loopback addresses, a real server's may not. */
const HERE = "127.98.22.2";
const THERE = "10.123.0.22";

async function listening(child: ChildProcess): Promise<void> {
  child.stderr?.pipe(process.stderr);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the webhooks ended with ${String(code)}`);
  });
  if (child.stdout !== null) await Promise.race([once(child.stdout, "data"), ended]);
  ended.catch(() => undefined);
}

export class Webhooks {
  readonly here: Place;
  readonly there: Place;
  readonly #children: readonly ChildProcess[];

  private constructor(caBundle: string, children: readonly ChildProcess[]) {
    this.#children = children;
    this.here = { caBundle, serviceAddress: HERE };
    this.there = { caBundle, serviceAddress: THERE };
  }

  static async start(folder: string, plane: ControlPlane): Promise<Webhooks> {
    const authority = await createAuthority("contract", new Date());
    const { certificate, key } = await authority.issue([HOOK_ADDRESS, HOOK_SERVICE], "server");
    const files = [join(folder, "hook.crt"), join(folder, "hook.key")] as const;
    await writeFile(files[0], certificate);
    await writeFile(files[1], key);
    const args = (service: string): string[] => [
      program,
      ...files,
      String(HOOK_PORT),
      HOOK_ADDRESS,
      HOOK_STRANGER,
      service,
    ];
    const stdio = ["pipe", "pipe", "pipe"] as const;
    const children = [
      spawn(process.execPath, args(HERE), { stdio: [...stdio] }),
      plane.spawn(process.execPath, args(THERE), { stdio: [...stdio] }),
    ];
    await Promise.all(children.map(listening));
    return new Webhooks(Buffer.from(authority.certificate).toString("base64"), children);
  }

  /** They end with their input. */
  stop(): void {
    for (const child of this.#children) child.stdin?.end();
  }
}
