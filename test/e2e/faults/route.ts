/** The controller's way to the API server leads through a relay, so that what a network does can be done to it alone. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { type TcpRelay, tcpRelay } from "../../cluster/kube/tcp-relay.ts";

interface Kubeconfig {
  readonly clusters: { cluster: { server: string } }[];
}

/** A copy of the kubeconfig whose server is a relay to the same one. */
export async function routed(kubeconfig: string, folder: string): Promise<{ relay: TcpRelay; kubeconfig: string }> {
  const config = parse(readFileSync(kubeconfig, "utf8")) as Kubeconfig;
  const { cluster } = config.clusters[0]!;
  const server = new URL(cluster.server);
  const relay = await tcpRelay(server.hostname, Number(server.port));
  cluster.server = `${server.protocol}//127.0.0.1:${relay.port}`;
  const file = join(folder, "routed-kubeconfig");
  writeFileSync(file, stringify(config), { mode: 0o600 });
  return { relay, kubeconfig: file };
}
