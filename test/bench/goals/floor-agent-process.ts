/** The floor's stand-in for an agent: takes runtime commands over the agent's TLS, sends them to HAProxy, answers. No files. */
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { RuntimeSession } from "../../../src/haproxy/runtime.ts";

export interface FloorAgentSettings {
  readonly host: string;
  readonly port: number;
  readonly tlsFolder: string;
  readonly workerSocket: string;
}

const { host, port, tlsFolder, workerSocket } = JSON.parse(process.argv[2]!) as FloorAgentSettings;
const read = (name: string): Buffer => readFileSync(join(tlsFolder, name));
const session = await RuntimeSession.connect(workerSocket);

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
      const replies = await session.batch(text.trim().split(";"));
      const body = JSON.stringify(replies.map((reply) => reply.text));
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
      response.end(body);
    });
  },
);
process.on("disconnect", () => process.exit());
server.listen(port, host, () => process.send!("ready"));
