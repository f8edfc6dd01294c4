/**
 * The floor's stand-in for an agent: takes runtime commands over the agent's TLS, sends them to HAProxy, answers. No files. The word
 * `structure N` makes it write its configuration with that number and reload HAProxy.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { masterReload } from "../../../src/haproxy/index.ts";
import { RuntimeSession } from "../../../src/haproxy/runtime.ts";

const STRUCTURE = "structure ";
const RELOAD_MS = 30_000;

export interface FloorAgentSettings {
  readonly host: string;
  readonly port: number;
  readonly tlsFolder: string;
  readonly workerSocket: string;
  readonly masterSocket: string;
  readonly configFile: string;
}

const settings = JSON.parse(process.argv[2]!) as FloorAgentSettings;
const { host, port, tlsFolder, workerSocket } = settings;
const read = (name: string): Buffer => readFileSync(join(tlsFolder, name));
let session = await RuntimeSession.connect(workerSocket);
let config: readonly [before: string, after: string] | undefined;

async function restructure(version: string): Promise<string> {
  if (config === undefined) {
    const [before = "", after = ""] = readFileSync(settings.configFile, "utf8").split(/(?<=hdr x-structure ")\d+(?=")/);
    config = [before, after];
  }
  writeFileSync(`${settings.configFile}.new`, config.join(version));
  renameSync(`${settings.configFile}.new`, settings.configFile);
  const { output } = await masterReload(settings.masterSocket, RELOAD_MS);
  session.close();
  session = await RuntimeSession.connect(workerSocket);
  return output;
}

async function obey(text: string): Promise<readonly string[]> {
  if (text.startsWith(STRUCTURE)) return [await restructure(text.slice(STRUCTURE.length))];
  return (await session.batch(text.split(";"))).map((reply) => reply.text);
}

const server = createServer(
  {
    cert: read("tls.crt"),
    key: read("tls.key"),
    ca: read("ca.crt"),
    minVersion: "TLSv1.3",
    requestCert: true,
    rejectUnauthorized: true,
    keepAliveTimeout: 600_000,
    noDelay: true,
  },
  (request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => (text += part));
    request.on("end", async () => {
      const body = JSON.stringify(await obey(text.trim()));
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
      response.end(body);
    });
  },
);
process.on("disconnect", () => process.exit());
server.listen(port, host, () => process.send!("ready"));
