/**
 * Temporary folders that do not outlive their owners for long: what a killed process leaves may hold keys. The owner
 * listens on a socket in its folder; where nobody does any more, whoever needs such a folder next removes it. Process
 * ids would not do: in a container each start has the same one.
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";

const OWNER = ".owner";

export interface Scratch {
  /** For its owner alone (mode 700). */
  readonly directory: string;
  close(): Promise<void>;
}

/** Makes `PARENT/PREFIX…`, and removes what dead owners have left there under this prefix. */
export async function claimScratch(parent: string, prefix: string): Promise<Scratch> {
  await sweep(parent, prefix).catch(() => undefined);
  const directory = await mkdtemp(join(parent, prefix));
  const server = await listen(join(directory, OWNER));
  return {
    directory,
    async close() {
      server?.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** undefined where no socket can be made (a path of over 107 bytes): such a folder is nobody's to remove. */
function listen(path: string): Promise<Server | undefined> {
  return new Promise((done) => {
    const server = createServer((socket) => socket.destroy());
    server.on("error", () => done(undefined));
    server.listen(path, () => done(server));
    server.unref();
  });
}

async function sweep(parent: string, prefix: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(prefix));
  await Promise.all(
    names.map(async (name) => {
      const folder = join(parent, name);
      if (await isDead(join(folder, OWNER))) await rm(folder, { recursive: true, force: true });
    }),
  );
}

/** Only a socket that refuses tells of a dead owner; where there is none, somebody may be about to make it. */
function isDead(socket: string): Promise<boolean> {
  return new Promise((done) => {
    const trial = connect(socket, () => {
      trial.destroy();
      done(false);
    });
    trial.on("error", (error: NodeJS.ErrnoException) => done(error.code === "ECONNREFUSED"));
  });
}
