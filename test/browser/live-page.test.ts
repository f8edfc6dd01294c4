// runner: open realm
// runner: limit 240 s
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { test as base } from "uvu";
import { WebSocket } from "ws";
import * as assert from "uvu/assert";
import { type DevCluster, startDevCluster } from "../../src/devcluster/dev.ts";
import { testHaproxy } from "../support/parts.ts";
import { needing } from "../support/skip.ts";
import { findChromium, launch, watchPage } from "./chromium.ts";

type Controller = DevCluster["session"]["controllers"][number];

const root = resolve(import.meta.dirname, "../..");
const haproxy = testHaproxy("3.4");
const executable = findChromium();
const test = needing(
  base,
  haproxy === undefined
    ? "needs HAProxy 3.4, which could not be installed here"
    : executable === undefined
      ? "needs Chromium: apt-get install chromium"
      : undefined,
);
/** Where pictures go (`npm run pictures`: those of the docs); unset = none are taken. */
const pictures = process.env["HAPTIC_PICTURES"];
const SECRET = "planted-5ecret-value";

const lines: string[] = [];
let cluster: DevCluster;
let browser: Browser;
let page: Page;
let complaints: readonly string[] = [];
/** Everything that the stream told, from the beginning of the tests on. */
let streamed = "";
const leave = new AbortController();

/** Whose page the tests look at: the controller that leads when they begin, and the other. */
let leader: Controller;
let follower: Controller;

async function leads({ debugUrl }: Controller): Promise<boolean> {
  const answer = await fetch(`${debugUrl}/debug/vars/term`);
  return ((await answer.json()) as { leading: boolean }).leading;
}

async function elected(): Promise<void> {
  const [first, second] = cluster.session.controllers as unknown as [Controller, Controller];
  [leader, follower] = (await leads(first)) ? [first, second] : [second, first];
  assert.ok(await leads(leader), "one of two leads");
  assert.not.ok(await leads(follower), "the other does not");
}

/** Stately's messages, as its tool would get them. */
function listen(url: string): void {
  const socket = new WebSocket(url);
  socket.on("message", (data: Buffer) => {
    streamed += data.toString();
  });
  socket.on("error", () => {});
  leave.signal.addEventListener("abort", () => {
    socket.terminate();
  });
}

async function follow(url: string): Promise<void> {
  const answer = await fetch(url, { signal: leave.signal });
  const decoder = new TextDecoder();
  for await (const chunk of answer.body!) streamed += decoder.decode(chunk as Uint8Array, { stream: true });
}

/** The page's policy forbids what playwright's own waiting does; this asks again and again. */
async function until(what: string, condition: string, limitMs = 10_000): Promise<void> {
  const end = performance.now() + limitMs;
  while ((await page.evaluate(condition)) !== true) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((wake) => setTimeout(wake, 30));
  }
}

async function open(
  width: number,
  height: number,
  colorScheme: "light" | "dark",
  of: Controller = leader,
): Promise<Page> {
  const opened = await browser.newPage({ viewport: { width, height }, colorScheme });
  complaints = watchPage(opened, of.debugUrl);
  await opened.goto(of.livePage);
  await opened.waitForSelector('body[data-connection="live"]');
  return opened;
}

const web = { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: "default" };
const scale = (replicas: number): void => void cluster.session.api.objects.patch(web, { spec: { replicas } });

/** A picture of a page on which something goes on; it is looked at from its top unless it shall stay where it is. */
async function picture(name: string, of: Page, { stay = false, stir = true } = {}): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  if (!stay) await of.evaluate("window.scrollTo(0, 0)");
  // What it points at would be drawn as pointed at.
  await of.mouse.move(0, 0);
  for (const replicas of stir ? [5, 3, 6, 2, 4] : []) {
    scale(replicas);
    await of.waitForTimeout(700);
  }
  if (stir) {
    const newest = async (): Promise<unknown> => of.evaluate("document.querySelector('#lives li')?.dataset.id");
    const before = await newest();
    scale(3);
    // What has just happened is lit for a moment.
    for (let left = 50; left > 0 && (await newest()) === before; left -= 1) await of.waitForTimeout(40);
    await of.waitForTimeout(150);
  }
  await of.screenshot({ path: join(pictures, `${name}.png`) });
}

test.before(async () => {
  cluster = startDevCluster(
    {
      manifests: join(root, "examples/ingress"),
      pods: 2,
      controllers: 2,
      haproxy,
      apiPort: 6443,
      httpPort: 8080,
      keep: false,
      configName: undefined,
      environment: process.env,
    },
    { line: (text) => void lines.push(text) },
  );
  await cluster.live.catch((error: unknown) => {
    throw new Error(`${String(error)}\n${lines.join("\n")}`, { cause: error });
  });
  await elected();
  for (const controller of cluster.session.controllers) {
    follow(`${controller.livePage}stream`).catch(() => {});
    listen(`${controller.livePage}inspect`.replace("http:", "ws:"));
  }
  browser = await launch(executable!);
  page = await open(1440, 1000, "light");
});
test.after(async () => {
  leave.abort();
  await browser?.close();
  await cluster.stop();
});

test("the page opens on `haptic dev` and shows who leads, pods, stores and every chart", async () => {
  const text = (selector: string): Promise<string> => page.locator(selector).innerText();
  assert.match(await text("#who"), "default/ingress");
  await page.locator("#chips", { hasText: "leading" }).waitFor();
  assert.is(await page.locator("#pods li").count(), 2);
  assert.match(await text("#stores"), "endpointSlices");
  assert.match(await text("#held"), "Nothing is held");
  const actors = await page.locator("#actors button").count();
  assert.ok(actors >= 15, `${actors} actors`);
  await page.keyboard.press("a");
  await page.locator('figure[data-actor="renderGate"] svg [data-id]').first().waitFor();
  await until("every chart is drawn", `document.querySelectorAll("#chart figure svg").length === ${actors}`);
  const lit = page.locator('figure[data-actor="controller"] .on[data-id="controller.term.leading"]');
  assert.is(await lit.count(), 1, "the present state of a chart is lit");
  await page.keyboard.press("a");
  assert.is(await page.locator("#chart figure").count(), 1);
  assert.equal(complaints, []);
});

test("a change of a Service is followed across the page, from watcher to pods", async () => {
  const service = { apiVersion: "v1", kind: "Service", name: "api", namespace: "default" };
  cluster.session.api.objects.patch(service, { spec: { selector: { app: "web" } } });
  await page.locator("#lives li", { hasText: "services" }).first().waitFor({ timeout: 10_000 });
  const inForce = page.locator('#lives li[data-state="in force"]', { hasText: "endpointSlices" }).first();
  await inForce.waitFor({ timeout: 10_000 });
  await inForce.locator(".mode").nth(1).waitFor();
  const id = await inForce.getAttribute("data-id");
  // By keyboard alone.
  await inForce.locator("button").focus();
  await page.keyboard.press("Enter");
  assert.is(await page.locator("#followed").innerText(), id);
  assert.is(
    await page.locator("#events li:not(.empty)").count(),
    await page.locator(`#events li[data-id="${id}"]`).count(),
  );
  const types = await page.locator("#events li b").allInnerTexts();
  for (const type of [
    "RESOURCES.CHANGED",
    "RECONCILE.TRIGGERED",
    "PLAN.RENDERED",
    "PLAN.RELEASED",
    "DEPLOYMENT.SCHEDULED",
    "DEPLOYMENT.COMPLETED",
  ])
    assert.ok(types.includes(type), `${type} is among ${types.join(", ")}`);
  assert.is(types.filter((type) => type === "POD.APPLIED").length, 2);
  await picture("live-following", page, { stir: false });
  await page.keyboard.press("Escape");
  assert.is(await page.locator("#following").isVisible(), false);
  // A change that the first one brings about may be on its way to one of them.
  await until(
    "both pods hold the same plan",
    `new Set([...document.querySelectorAll("#pods li")].map((pod) => pod.dataset.applied)).size === 1`,
  );
  assert.equal(complaints, []);
});

test("components and edges light as events pass, and states that last no time are seen", async () => {
  await page.keyboard.press("Escape");
  await page.locator('[data-component="coordinator"]').focus();
  await page.keyboard.press("Enter");
  await page.evaluate(`
    window.seen = new Set();
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        const name = target.dataset.component ?? target.dataset.id ?? target.dataset.edge;
        for (const kind of ["lit", "passed", "taken"])
          if (target.classList.contains(kind + "-a") || target.classList.contains(kind + "-b")) window.seen.add(kind + " " + name);
      }
    }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["class"] });
  `);
  scale(4);
  for (const mark of [
    "lit watcher",
    "lit reconciler",
    "lit coordinator",
    "lit renderGate",
    "lit scheduler",
    "lit deployer",
    "lit podApply",
    "passed coordinator.rendering",
    "taken coordinator.rendering#0",
  ])
    await until(mark, `window.seen.has(${JSON.stringify(mark)})`);
  assert.equal(complaints, []);
  await picture("live-laptop", page);
  await page.locator("#actors button", { hasText: "coordinator" }).click();
  await page.locator("#chartsTitle").scrollIntoViewIfNeeded();
  await page.evaluate('document.getElementById("chartsTitle").scrollIntoView()');
  await picture("live-charts", page, { stay: true });
});

test("a planted Secret is nowhere on the page and nowhere in the streams of both controllers", async () => {
  const encoded = Buffer.from(SECRET).toString("base64");
  cluster.session.api.objects.create({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "planted", namespace: "default" },
    type: "kubernetes.io/tls",
    data: { "tls.crt": encoded, "tls.key": encoded },
  });
  await page.locator('#stores li[data-alias="secrets"][data-objects="3"]').waitFor({ timeout: 10_000 });
  await page.keyboard.press("a");
  await page.waitForTimeout(500);
  const dom = await page.content();
  assert.ok(streamed.includes("secrets"), "the stream tells of the alias");
  const held = cluster.session.api.objects.get({
    apiVersion: "v1",
    kind: "Secret",
    name: "demo-tls",
    namespace: "default",
  });
  const key = (held!["data"] as { "tls.key": string })["tls.key"];
  const keyText = Buffer.from(key, "base64").toString().split("\n")[1]!;
  for (const [where, text] of [
    ["the page", dom],
    ["the stream", streamed],
  ] as const) {
    for (const word of [SECRET, encoded, key, keyText, "PRIVATE KEY"])
      assert.not.ok(text.includes(word), `${where} holds ${word.slice(0, 24)}`);
  }
  await page.keyboard.press("a");
});

test("what is held is named, its message is shown only when somebody asks", async () => {
  const { objects } = cluster.session.api;
  const ingress = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "broken", namespace: "default" };
  objects.create({
    apiVersion: ingress.apiVersion,
    kind: ingress.kind,
    metadata: { name: ingress.name, namespace: ingress.namespace },
    spec: {
      ingressClassName: "haptic",
      rules: [
        {
          host: "broken.localhost",
          http: {
            paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "nosuch", port: { number: 80 } } } }],
          },
        },
      ],
    },
  });
  const fault = page.locator("#held li.fault", { hasText: "default/broken" }).first();
  await fault.waitFor({ timeout: 10_000 });
  await page.evaluate("window.scrollTo(0, 0)");
  assert.is(await fault.locator("pre").count(), 0);
  await page.locator("#messages").click();
  await fault.locator("pre").waitFor();
  objects.delete(ingress);
  await page.locator("#held .fine").waitFor({ timeout: 10_000 });
  assert.equal(complaints, []);
});

test("the leader is killed: the other's components light as soon as it has the Lease, and a change goes its way", async () => {
  const other = await open(1440, 1000, "light", follower);
  await other.locator("#chips", { hasText: `following ${leader.podName}` }).waitFor();
  assert.ok(
    await other.locator('[data-component="coordinator"].absent').count(),
    "what belongs to a term is not there",
  );
  // In the page's own time: the poll of a busy test runner would count in.
  await other.evaluate(`
    window.litAt = 0;
    new MutationObserver(() => {
      const box = document.querySelector('[data-component="coordinator"]');
      if (window.litAt === 0 && !box.classList.contains("absent")) window.litAt = Date.now();
    }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["class"] });
  `);
  process.kill(leader.pid!, "SIGKILL");
  await page.waitForSelector('body[data-connection="reconnecting"]', { timeout: 10_000 });
  await other.locator("#chips", { hasText: "leading" }).waitFor({ timeout: 20_000 });
  const lease = cluster.session.api.objects.get({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    name: "haptic-leader",
    namespace: cluster.session.config.namespace,
  });
  const { holderIdentity, acquireTime } = lease!["spec"] as { holderIdentity: string; acquireTime: string };
  assert.is(holderIdentity, follower.podName);
  const litAfterMs = Number(await other.evaluate("window.litAt")) - Date.parse(acquireTime);
  assert.ok(litAfterMs < 2_000, `lit ${litAfterMs} ms after it took the Lease`);
  await other.locator('[data-component="coordinator"]:not(.absent)').waitFor();
  scale(5);
  await other
    .locator('#lives li[data-state="in force"]', { hasText: "endpointSlices" })
    .first()
    .waitFor({ timeout: 10_000 });
  assert.ok(
    lines.some((line) => line.startsWith(`${leader.name} ended`)),
    lines.slice(-10).join("\n"),
  );
  await other.close();
});

test("the killed one's page comes back by itself, and follows", async () => {
  await page.waitForSelector('body[data-connection="live"]', { timeout: 60_000 });
  await page.locator("#chips", { hasText: `following ${follower.podName}` }).waitFor({ timeout: 20_000 });
  [leader, follower] = [follower, leader];
});

test("laptop and phone, light and dark: nothing runs over, keys reach everything", async () => {
  for (const [width, height, scheme, name] of [
    [1280, 800, "dark", "live-dark"],
    [390, 844, "light", "live-phone"],
  ] as const) {
    const other = await open(width, height, scheme);
    await other.locator("#lives li").first().waitFor();
    const wider = await other.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.is(wider, 0, `${name} does not scroll sideways`);
    await picture(name, other);
    assert.equal(complaints, []);
    await other.close();
  }
  const fresh = await open(1440, 1000, "light");
  const reached = new Set<string>();
  for (let press = 0; press < 40; press += 1) {
    await fresh.keyboard.press("Tab");
    reached.add(String(await fresh.evaluate("document.activeElement.id || document.activeElement.dataset.component")));
  }
  for (const wanted of ["pause", "theme", "coordinator", "podApply"])
    assert.ok(reached.has(wanted), `Tab reaches ${wanted}`);
});

test.run();
