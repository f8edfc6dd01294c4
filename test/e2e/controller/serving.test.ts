// runner: beside
import { test } from "uvu";
import * as assert from "uvu/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { get } from "../agent/harness.ts";
import { addHost, setEndpoints, startStage, startUpstreams, until } from "./harness.ts";

const PREFIX = "127.92.1";
const upstreams = [`${PREFIX}.51`, `${PREFIX}.52`, `${PREFIX}.53`];
const closeUpstreams = await startUpstreams(upstreams, 9080);
const stage = await startStage(PREFIX);
const pod = stage.pods[0];
const workerPid = async (): Promise<number | undefined> =>
  (await pod?.client.state({ plan: false }))?.haproxy?.worker_pid;

test.after(async () => {
  await stage.close();
  await closeUpstreams();
});

test("a configuration is tried, proven, deployed, and says so in its condition", async () => {
  addHost(stage.api, "web", "web.example", upstreams.slice(0, 1), 9080);
  await until(
    "the host is served",
    async () => (await get(`${PREFIX}.11`, "web.example").catch(() => undefined))?.body === upstreams[0],
  );
  await until("the condition is written", () => {
    const config = stage.api.objects.get({
      apiVersion: "haproxy-haptic.org/v1alpha1",
      kind: "HAProxyTemplateConfig",
      name: "ingress",
    });
    const { status } = config as unknown as { status?: { conditions?: { type: string; status: string }[] } };
    const condition = status?.conditions?.[0];
    return condition?.type === "Validated" && condition.status === "True";
  });
  await until("the pod's state is known to be the rendered one", () => {
    const views = stage.controller().variables["pods"]?.() as { applied: string; running: string }[];
    return views.length > 0 && views.every(({ applied, running }) => applied !== "" && applied === running);
  });
  assert.equal(stage.controller().faults(), []);
});

test("endpoints and new hosts come without a reload, in the same worker", async () => {
  const worker = await workerPid();
  const before = stage.counters();
  setEndpoints(stage.api, "web", upstreams.slice(1, 2), 9080);
  await until("the new endpoint answers", async () => (await get(`${PREFIX}.11`, "web.example")).body === upstreams[1]);
  addHost(stage.api, "shop", "shop.example", upstreams.slice(2, 3), 9080);
  await until("the new host answers", async () => (await get(`${PREFIX}.11`, "shop.example")).body === upstreams[2]);
  assert.is(await workerPid(), worker);
  assert.is(stage.counters().reloads, before.reloads);
});

test("a controller restart applies and reloads nothing", async () => {
  await until("the pod has all that it shall have", () => {
    const views = stage.controller().variables["pods"]?.() as {
      applied: string;
      lastGood: string;
      blobStored: boolean;
    }[];
    return views.every(({ applied, lastGood, blobStored }) => lastGood === applied && blobStored);
  });
  const worker = await workerPid();
  await stage.restartController();
  await until("the new controller has looked at the pod", () => {
    const pods = stage.controller().variables["pods"]?.() as { applied: string }[];
    return pods.some((view) => view.applied !== "");
  });
  await sleep(500);
  const { applies, reloads } = stage.counters();
  assert.equal({ applies, reloads }, { applies: 0, reloads: 0 });
  assert.is(await workerPid(), worker);
});

test("a configuration that HAProxy refuses changes nothing, is named, and clears when it is mended", async () => {
  const name = { apiVersion: "haproxy-haptic.org/v1alpha1", kind: "HAProxyTemplateConfig", name: "ingress" };
  const config = stage.api.objects.get(name) as unknown as { spec: { haproxyConfig: { template: string } } };
  const good = config.spec.haproxyConfig.template;
  stage.api.objects.patch(name, {
    spec: { haproxyConfig: { template: `${good}\nbackend broken\n    no such keyword\n` } },
  });
  await until("the fault is named", () =>
    stage
      .controller()
      .faults()
      .some((fault) => fault.reason === "HAProxyValidationFailed"),
  );
  setEndpoints(stage.api, "web", upstreams.slice(0, 1), 9080);
  await until(
    "another change is served meanwhile",
    async () => (await get(`${PREFIX}.11`, "web.example")).body === upstreams[0],
    5_000,
  );
  const condition = (): { status: string; reason: string } | undefined =>
    (stage.api.objects.get(name) as unknown as { status?: { conditions?: { status: string; reason: string }[] } })
      .status?.conditions?.[0];
  await until(
    "the condition says so",
    () => condition()?.status === "False" && condition()?.reason === "HAProxyValidationFailed",
  );
  stage.api.objects.patch(name, { spec: { haproxyConfig: { template: good } } });
  await until("the fault clears", () => stage.controller().faults().length === 0);
  await until("the condition is well again", () => condition()?.status === "True");
});

test("an object whose text opens a quote that would end HAProxy at its reload reaches no pod, is named, and clears when it is mended", async () => {
  const name = { apiVersion: "haproxy-haptic.org/v1alpha1", kind: "HAProxyTemplateConfig", name: "ingress" };
  const config = stage.api.objects.get(name) as unknown as { spec: { haproxyConfig: { template: string } } };
  const good = config.spec.haproxyConfig.template;
  const place = "    http-request set-header X-Forwarded-Proto http\n";
  assert.ok(good.includes(place));
  const text = `{{ resources.banners.GetSingle("banner") | dig_string("none", "data", "text") }}`;
  const line = `    http-request return status 200 content-type text/plain string "${text}" if { req.hdr(host) banner.example }\n`;
  stage.api.objects.patch(name, {
    spec: {
      watchedResources: { banners: { apiVersion: "v1", resources: "configmaps", indexBy: ["metadata.name"] } },
      haproxyConfig: { template: good.replace(place, place + line) },
    },
  });
  const say = (words: string): void => {
    stage.api.objects.apply({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "banner", namespace: "default" },
      data: { text: words },
    });
  };
  const banner = async (): Promise<string> => (await get(`${PREFIX}.11`, "banner.example")).body;
  say("hello");
  await until("the banner is served", async () => (await banner()) === "hello", 20_000);
  const master = pod?.haproxy().pid;
  say('an "open quote');
  await until("the fault is named", () =>
    stage
      .controller()
      .faults()
      .some((fault) => fault.reason === "HAProxyValidationFailed"),
  );
  setEndpoints(stage.api, "web", upstreams.slice(1, 2), 9080);
  addHost(stage.api, "late", "late.example", upstreams.slice(2), 9080);
  assert.is(pod?.haproxy().pid, master);
  assert.is(pod?.haproxy().exitCode, null, "HAProxy runs on");
  assert.is(await banner(), "hello");
  say("hello again");
  await until("the mended banner is served", async () => (await banner()) === "hello again", 20_000);
  await until(
    "what came meanwhile is served",
    async () => (await get(`${PREFIX}.11`, "late.example")).body === upstreams[2],
    20_000,
  );
  await until("the fault clears", () => stage.controller().faults().length === 0);
  stage.api.objects.patch(name, { spec: { watchedResources: { banners: null }, haproxyConfig: { template: good } } });
  setEndpoints(stage.api, "web", upstreams.slice(0, 1), 9080);
  await until("all is as before", async () => (await get(`${PREFIX}.11`, "web.example")).body === upstreams[0], 20_000);
});

test("a misspelt field of a watched resource is refused, by the schema that the API server has, and the nearest one named", async () => {
  const types = stage.controller().variables["types"]?.() as { alias: string; typed: boolean }[];
  assert.ok(types.length > 0 && types.every(({ typed }) => typed), JSON.stringify(types));
  const name = { apiVersion: "haproxy-haptic.org/v1alpha1", kind: "HAProxyTemplateConfig", name: "ingress" };
  const config = stage.api.objects.get(name) as unknown as { spec: { haproxyConfig: { template: string } } };
  const good = config.spec.haproxyConfig.template;
  const line = "{% for _, ingress := range ingresses %}{{ ingress.spec.ingressClassNam }}{% end %}";
  stage.api.objects.patch(name, { spec: { haproxyConfig: { template: `${good.trimEnd()}\n${line}\n` } } });
  const place = `haproxy.cfg:${good.trimEnd().split("\n").length + 1}:${line.indexOf(".ingressClassNam") + 1}: `;
  await until("the condition tells it", () => {
    const { status } = stage.api.objects.get(name) as unknown as {
      status: { conditions: { status: string; message: string }[] };
    };
    const [condition] = status.conditions;
    return (
      condition?.status === "False" &&
      condition.message.startsWith(place) &&
      condition.message.includes('did you mean "ingressClassName"?')
    );
  });
  assert.is((await get(`${PREFIX}.11`, "web.example")).body, upstreams[0]);
  stage.api.objects.patch(name, { spec: { haproxyConfig: { template: good } } });
  await until("the fault clears", () => stage.controller().faults().length === 0);
});

test.run();
