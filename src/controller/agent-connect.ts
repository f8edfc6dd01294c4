/** The controller's port to agents, by their HTTP API: over mutual TLS, or without TLS where that was chosen. */
import { type AgentTransport, createAgentClient } from "../agent/client.ts";
import type { AgentConnect } from "./agent-port.ts";

export function connectAgents(transport: AgentTransport): AgentConnect {
  const scheme = transport.tls === undefined ? "http" : "https";
  return (address) => {
    const client = createAgentClient({ ...transport, url: `${scheme}://${address}` });
    return {
      state: ({ verify, plan }, signal) => client.state({ verify, plan }, signal),
      apply: (manifest, parts, signal) =>
        client.apply(manifest, new Map(parts.map(({ path, bytes }) => [path, bytes])), undefined, signal),
      storePlan: async (planId, blob, signal) => (await client.putPlan(planId, blob, signal)).kind === "stored",
      close: () => client.close(),
    };
  };
}
