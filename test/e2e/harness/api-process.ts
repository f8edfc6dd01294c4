/** The embedded API's own process, so that what loads the test's event loop does not slow it down: argv = HOST PORT. */
import { startEmbeddedApi } from "../../../src/devcluster/api/index.ts";

const [, , host = "127.0.0.1", port = "6443"] = process.argv;
const api = await startEmbeddedApi({ host, port: Number(port) });

process.on("message", (order: { readonly outageMs: number }) => {
  api.outage(order.outageMs).then(
    () => process.send?.({ back: true }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on("disconnect", () => process.exit());
process.send?.({ kubeconfig: api.kubeconfig });
