/**
 * The proof of what a bad API server does to traffic, nothing, and to changes: those that it lets through are served, the others
 * when it is well again. docs/faults.md says the same to people.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Test } from "uvu";
import * as assert from "uvu/assert";
import type { TcpRelay } from "../../cluster/kube/tcp-relay.ts";
import { missingHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { ingress } from "../../unit/examples/objects.ts";
import { Cluster, CONFIG, until } from "../harness/cluster.ts";
import { ask, served } from "../harness/hosts.ts";
import type { Network } from "../harness/isolation.ts";
import { underLoad } from "../harness/load.ts";
import type { ApiChoice } from "../harness/planes.ts";
import { HOST, OTHER, OTHER_HOST, Site } from "../harness/site.ts";
import { extent, OUTAGE_MS } from "./extent.ts";
import { routed } from "./route.ts";

/** What the API server lets through is served within this time. */
const OTHERS_MS = 5_000;
const HEALED_MS = 45_000;
/** A connection without a word for so long is given up by a watch. */
const SILENCE_MS = 90_000;

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}
interface EventObject {
  readonly involvedObject: { readonly name: string };
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

export function apiFaultsProof(base: Test, network: Network, api: ApiChoice): void {
  const missing = network.missing ?? api.missing ?? missingHaproxy("3.4");
  const test = needing(base, missing);
  const part = extent(test);
  let cluster: Cluster;
  let relay: TcpRelay;
  let site: Site;
  let hosts = 0;
  test.before(async () => {
    cluster = new Cluster({
      api,
      version: "3.4",
      pods: 2,
      prefix: network.prefix,
      controllerKubeconfig: async (server, folder) => {
        const route = await routed(server.controllerKubeconfig, folder);
        ({ relay } = route);
        return route.kubeconfig;
      },
    });
    await cluster.start();
    site = new Site(cluster);
    await site.create();
  });
  test.after(async () => {
    await cluster.close();
    await relay.close();
  });

  /** A new host on endpoints that are known: nothing of it is an EndpointSlice. */
  const newName = async (): Promise<string> => {
    hosts += 1;
    const host = `name-${hosts}.example`;
    const { metadata, ...rest } = ingress(`name-${hosts}`, host, [{ service: OTHER }], {
      ingressClassName: "haptic",
    }) as { metadata: object };
    await cluster.apply({ ...rest, metadata: { ...metadata, uid: undefined } });
    return host;
  };
  const condition = async (): Promise<Condition | undefined> => {
    const config = (await cluster.client.get(CONFIG.target, CONFIG.name)) as unknown as {
      status?: { conditions?: readonly Condition[] };
    };
    return config.status?.conditions?.find(({ type }) => type === "Validated");
  };
  const eventOf = async (reason: string, type: string, text: RegExp): Promise<void> => {
    await until(
      `an Event ${type} ${reason} names it`,
      async () => {
        const { items } = await cluster.client.list({ apiVersion: "v1", resource: "events", namespace: "default" });
        return (items as unknown as EventObject[]).some(
          (event) =>
            event.involvedObject.name === CONFIG.name &&
            event.reason === reason &&
            event.type === type &&
            text.test(event.message),
        );
      },
      HEALED_MS,
    );
  };
  /** At the debug endpoint and in the log. */
  const named = async (object: RegExp, reason: string, limitMs = 20_000): Promise<void> => {
    let seen: unknown;
    await until(
      `the debug endpoint names ${object} ${reason}`,
      async () => {
        const faults = await cluster.faults();
        seen = faults;
        return faults.some((fault) => object.test(fault.object) && fault.reason === reason);
      },
      limitMs,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${JSON.stringify(seen)}\n${cluster.tail()}`, { cause: error });
    });
    await until(`the log names ${reason}`, () =>
      cluster.lines.some((line) => line.includes('"msg":"Fault"') && line.includes(`"${reason}"`) && object.test(line)),
    );
  };
  /** What changed meanwhile is served, nothing is named any more, nothing was reloaded, no status was cleared. */
  const healed = async (by: string): Promise<void> => {
    await served(cluster, OTHER_HOST, { by, limitMs: HEALED_MS });
    await served(cluster, await newName(), { limitMs: HEALED_MS });
    await until("no fault is left", async () => (await cluster.faults()).length === 0, HEALED_MS);
    await cluster.settled();
    assert.is((await condition())?.status, "True");
  };
  let pids: number[] = [];
  test.before.each(async () => {
    pids = await cluster.workerPids();
  });
  test.after.each(async () => {
    assert.equal(await cluster.workerPids(), pids, "no worker was replaced");
  });

  part(false)(`${api.name}: away for a while it disturbs no traffic; what changes afterwards is served`, async () => {
    site.unharmed(
      await underLoad(cluster, { host: HOST }, async () => {
        const away = cluster.api.outage(OUTAGE_MS);
        await named(/^watchedResources\.|"watchedResources\./, "WatchFailed");
        await away;
        await healed(await site.moveOther());
      }),
    );
  });

  part(false)(
    `${api.name}: a history that is compacted away is read anew, and what happened meanwhile is served`,
    async () => {
      const lists = async (): Promise<number> => {
        const { apiRequests = {} } = (await cluster.counters()) as unknown as { apiRequests?: Record<string, number> };
        return Object.entries(apiRequests).reduce((sum, [name, count]) => sum + (/list/.test(name) ? count : 0), 0);
      };
      const before = await lists();
      site.unharmed(
        await underLoad(cluster, { host: HOST }, async () => {
          relay.down();
          const by = await site.moveOther();
          await cluster.api.expire?.();
          relay.up();
          await healed(by);
        }),
      );
      assert.ok((await lists()) > before, "the lists were read again");
    },
  );

  part(false)(`${api.name}: watches that say nothing for a while hold changes back, nothing else`, async () => {
    site.unharmed(
      await underLoad(cluster, { host: HOST }, async () => {
        relay.freeze();
        const by = await site.moveOther();
        await sleep(3_000);
        relay.thaw();
        await healed(by);
      }),
    );
  });

  part(false)(
    `${api.name}: connections that went dead without a word are given up, and what changed meanwhile is served`,
    async () => {
      site.unharmed(
        await underLoad(cluster, { host: HOST, pauseMs: 100 }, async () => {
          relay.forget();
          const by = await site.moveOther();
          await served(cluster, OTHER_HOST, { by, limitMs: SILENCE_MS + 45_000 });
          await healed(by);
        }),
      );
    },
  );

  part(false)(
    `${api.name}: while somebody's webhook hangs on our status and Events, changes are served; it is named, and heals`,
    async () => {
      const { spec } = (await cluster.client.get(CONFIG.target, CONFIG.name)) as unknown as {
        spec: { haproxyConfig: { template: string } };
      };
      const good = spec.haproxyConfig.template;
      const edit = (template: string): Promise<string> =>
        cluster.kubectl([
          "patch",
          "haproxytemplateconfig",
          CONFIG.name,
          "--type=merge",
          "-p",
          JSON.stringify({ spec: { haproxyConfig: { template } } }),
        ]);
      site.unharmed(
        await underLoad(cluster, { host: HOST }, async () => {
          await cluster.api.failWrites(true);
          try {
            // A webhook acts after up to a second: what is written before is not held up.
            await sleep(1_500);
            await edit(`${good}\n{% if %}\n`);
            await named(/HAProxyTemplateConfig/, "ConfigInvalid");
            await named(/HAProxyTemplateConfig/, "StatusWriteFailed", HEALED_MS);
            await served(cluster, OTHER_HOST, { by: await site.moveOther(), limitMs: OTHERS_MS });
            await served(cluster, await newName(), { limitMs: OTHERS_MS });
          } finally {
            await cluster.api.failWrites(false);
          }
          await until(
            "the condition is told at last",
            async () => (await condition())?.reason === "ConfigInvalid",
            HEALED_MS,
          );
          await edit(good);
          await until("and mended", async () => (await condition())?.status === "True", HEALED_MS);
          await healed(await site.moveOther());
        }),
      );
    },
  );

  part(true)(
    `${api.name}: forbidden to read one type it keeps that type's last objects, the others go on; it is named, and heals`,
    async () => {
      site.unharmed(
        await underLoad(cluster, { host: HOST }, async () => {
          await cluster.api.forbid(true);
          relay.cut();
          await named(/watchedResources\.endpointSlices/, "WatchFailed");
          const by = await moveOtherUnseen();
          await served(cluster, await newName(), { limitMs: OTHERS_MS });
          await eventOf("WatchFailed", "Warning", /watchedResources\.endpointSlices/);
          await cluster.api.forbid(false);
          await healed(by);
          await eventOf("Resolved", "Normal", /./);
        }),
      );
    },
  );

  part(false)(
    `${api.name}: forbidden to read one type from the start it renders nothing, the last good set serves; it is named, and heals`,
    async () => {
      site.unharmed(
        await underLoad(cluster, { host: HOST }, async () => {
          await cluster.stopController();
          await cluster.api.forbid(true);
          cluster.startController();
          await named(/HAProxyTemplateConfig/, "ConfigHeld").catch(() =>
            named(/HAProxyTemplateConfig/, "ConfigInvalid"),
          );
          const refused = await until("the condition names it", async () => {
            const found = await condition();
            return found?.status === "False" && found;
          });
          assert.match(refused.message, /endpointslices/);
          assert.is((await cluster.counters()).renders, 0);
          assert.is((await ask(cluster, 0, OTHER_HOST)).status, 200);
          await cluster.api.forbid(false);
          await until("the condition is well", async () => (await condition())?.status === "True", 90_000);
          await healed(await site.moveOther());
        }),
      );
    },
  );

  /** An endpoint more that nobody hears of: the old one stays, as it is what is served. */
  async function moveOtherUnseen(): Promise<string> {
    const [more] = await cluster.newEndpoints(OTHER, 1);
    await cluster.setEndpoints(OTHER, [...cluster.endpointsOf(OTHER), more!]);
    return more!.pod;
  }
}
