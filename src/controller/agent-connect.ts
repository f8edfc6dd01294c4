/** The controller's port to agents, by their HTTP API over mutual TLS. */
import { createAgentClient, type ClientTls } from "../agent/client.ts";
import type { AgentConnect } from "./agent-port.ts";

export function connectAgents(tls: ClientTls): AgentConnect {
  return (address) => {
    const client = createAgentClient({ url: `https://${address}`, tls });
    return {
      state: ({ verify, plan }, signal) => client.state({ verify, plan }, signal),
      apply: (manifest, parts, signal) =>
        client.apply(manifest, new Map(parts.map(({ path, bytes }) => [path, bytes])), undefined, signal),
      storePlan: async (planId, blob, signal) => (await client.putPlan(planId, blob, signal)).kind === "stored",
      close: () => client.close(),
    };
  };
}
