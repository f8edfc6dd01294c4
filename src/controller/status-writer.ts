/** Gives `statusWriter` its one actor: the status of the configuration object, applied from the books. */
import { fromPromise } from "xstate";
import { statusWriterMachine, statusWriterReads } from "../../machines/statusWriter.ts";
import { applyStatus } from "../kube/index.ts";
import type { Bus } from "./bus.ts";
import { onBus } from "./component.ts";
import type { ActorRegistry } from "./component.ts";
import { conditionStatus } from "./condition.ts";
import type { ConfigSource } from "./config-source.ts";
import { API_VERSION } from "./ports.ts";
import type { ControllerPorts } from "./ports.ts";
import type { Records } from "./records.ts";

export function wireStatusWriter(
  ports: ControllerPorts,
  source: ConfigSource,
  records: Records,
  bus: Bus,
  registry: ActorRegistry,
) {
  const { kube, namespace, configName } = ports;
  const target = {
    apiVersion: API_VERSION,
    kind: "HAProxyTemplateConfig",
    resource: "haproxytemplateconfigs",
    namespace,
  };
  return onBus(
    statusWriterMachine.provide({
      actors: {
        write: fromPromise<void>(async ({ signal }) => {
          const config = source.config;
          if (config === undefined) return;
          const status = conditionStatus(records.book, config, new Date(ports.wallClock()).toISOString());
          source.adopt(await applyStatus(kube, target, configName, status, { signal }));
        }),
      },
    }),
    statusWriterReads,
    bus,
    registry,
    { atLeisure: statusWriterReads },
  );
}
