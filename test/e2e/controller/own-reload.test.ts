// runner: beside
/** What an agent finds when it reads HAProxy back reaches those who look after the cluster. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { missingHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { get } from "../agent/harness.ts";
import { addHost, startStage, startUpstreams, until } from "./harness.ts";

const PREFIX = "127.92.12";
const check = needing(test, missingHaproxy("3.4"));

interface Cfg {
  readonly status?: {
    readonly deployedToPods?: readonly { readonly mode?: string; readonly reasons?: readonly string[] }[];
  };
}

check("a reload that nobody asked for is published with what differed, counted, and told in an Event", async () => {
  const upstream = `${PREFIX}.51`;
  const closeUpstreams = await startUpstreams([upstream], 9080);
  const stage = await startStage(PREFIX);
  const [pod] = stage.pods;
  const serves = (host: string): Promise<boolean> =>
    get(`${PREFIX}.11`, host).then(
      ({ body }) => body === upstream,
      () => false,
    );
  try {
    addHost(stage.api, "web", "web.example", [upstream], 9080);
    await until("the host is served", () => serves("web.example"), 60_000);
    await until("its reload is counted", () => stage.counters().reloads === 1);
    // Of two entries of one key HAProxy answers with the first: adding the right one succeeds and changes nothing.
    await pod!.runtime("add map maps/path-prefix.map shop.example/ elsewhere");
    addHost(stage.api, "shop", "shop.example", [upstream], 9080);
    await until("the agent has healed it", () => serves("shop.example"), 30_000);
    await until("it reloaded", async () => (await pod!.client.state({ plan: false })).own_reload !== undefined, 30_000);
    addHost(stage.api, "third", "third.example", [upstream], 9080);
    await until("the next change is in force", () => serves("third.example"), 30_000);
    const reason = /the worker was read back: map maps\/path-prefix.map: shop.example\/ has another value/;
    const told = (): readonly string[] =>
      (stage.api.objects.list("haproxy-haptic.org/v1alpha1", "HAProxyCfg") as unknown as Cfg[]).flatMap(
        ({ status }) => status?.deployedToPods?.flatMap(({ reasons = [] }) => reasons) ?? [],
      );
    await until("it is published", () => told().some((text) => reason.test(text)), 30_000);
    assert.not.match(told().join(), "elsewhere");
    assert.is(stage.counters().reloads, 2);
    await until("an Event says so", () =>
      stage.api.objects
        .list("v1", "Event")
        .map((event) => event as unknown as { reason?: string; note?: string; message?: string })
        .some((event) => event.reason === "HAProxyReloaded" && reason.test(event.message ?? event.note ?? "")),
    );
  } finally {
    await stage.close();
    await closeUpstreams();
  }
});

test.run();
