/** The floor's stand-in for a controller: a line from a socket becomes one POST to the agent's process. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { Pool } from "undici";

export interface FloorRelaySettings {
  readonly host: string;
  readonly linePort: number;
  readonly agent: string;
  readonly tlsFolder: string;
  readonly serverName: string;
}

const { host, linePort, agent, tlsFolder, serverName } = JSON.parse(process.argv[2]!) as FloorRelaySettings;
const read = (name: string): string => readFileSync(join(tlsFolder, name), "utf8");
const pool = new Pool(`https://${agent}`, {
  connections: 1,
  keepAliveTimeout: 600_000,
  connect: {
    cert: read("tls.crt"),
    key: read("tls.key"),
    ca: read("ca.crt"),
    servername: serverName,
    minVersion: "TLSv1.3",
  },
});

/** What went wrong last is told with the next answer; the parent judges answers by what HAProxy serves. */
async function relay(commands: string): Promise<void> {
  const answer = await pool.request({ method: "POST", path: "/", body: commands });
  process.send!(await answer.body.text());
}

// The line comes as a watch's bytes come: over TLS.
const socket = connect({ host, port: linePort, ca: read("ca.crt"), servername: serverName, minVersion: "TLSv1.3" });
socket.setNoDelay(true);
let rest = "";
socket.setEncoding("utf8").on("data", (text: string) => {
  const parts = (rest + text).split("\n");
  rest = parts.pop() ?? "";
  for (const commands of parts) void relay(commands);
});
// The first handshake belongs to the start, as the product's does.
socket.once("secureConnect", () => void relay("show version"));
process.on("disconnect", () => process.exit());
