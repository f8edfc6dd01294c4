// runner: open realm
import type { Browser } from "playwright-core";
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import { createActor, setup } from "xstate";
import {
  ActorBoard,
  EventHistory,
  LiveFeed,
  LiveServer,
  RenderLives,
  startDebugServer,
} from "../../src/observe/index.ts";
import { needing } from "../support/skip.ts";
import { findChromium, launch, watchPage } from "./chromium.ts";

const executable = findChromium();
const test = needing(base, executable === undefined ? "needs Chromium: apt-get install chromium" : undefined);
let browser: Browser;

test.before(async () => {
  browser = await launch(executable!);
});
test.after(() => browser?.close());

/** Named as a chart that is drawn, so that the page has something to paint. */
const busy = setup({ types: { events: {} as { type: "FLIP" } } }).createMachine({
  id: "coordinator",
  initial: "idle",
  states: { idle: { on: { FLIP: "rendering" } }, rendering: { on: { FLIP: "idle" } } },
});

test("the page holds at a thousand events a second: it draws, it keeps count, and it does not grow", async () => {
  const actor = createActor(busy);
  actor.start();
  const history = new EventHistory();
  const lives = new RenderLives({ now: () => performance.now(), wallClock: () => Date.now() });
  const feed = new LiveFeed({
    history,
    lives,
    board: new ActorBoard({ list: () => [["coordinator", actor]] }),
    about: () => ({ identity: "busy", namespace: "n", config: "c", haproxy: "3.4.7" }),
    panels: () => ({
      term: { leading: true, epoch: 1, render: history.count },
      gate: "open",
      serving: { generation: 1 },
      held: [],
      stores: [{ alias: "things", objects: history.count, revision: history.count }],
      pods: [],
      counters: {},
    }),
  });
  const server = await startDebugServer({
    host: "127.93.0.3",
    port: 0,
    variables: {},
    health: () => ({}),
    ready: () => true,
    live: new LiveServer(feed),
  });
  const origin = `http://127.93.0.3:${server.port}`;
  const page = await browser.newPage();
  const complaints = watchPage(page, origin);
  try {
    await page.goto(`${origin}/live/`);
    await page.waitForSelector('body[data-connection="live"]');
    await page.evaluate("window.drawn = 0; (function count() { window.drawn++; requestAnimationFrame(count); })()");
    let number = 0;
    const began = performance.now();
    while (performance.now() - began < 5_000) {
      const due = performance.now() - began;
      for (; number < due; number += 1) {
        const event = { type: "RESOURCES.CHANGED", watch: "w", alias: "things", count: 1, revision: number } as const;
        history.add(Date.now(), event, "watcher:things", `c-${number}`);
        lives.note(event, `c-${number}`);
        if (number % 5 === 0) lives.renderBegan(`c-${number}`, []);
        actor.send({ type: "FLIP" });
      }
      await new Promise((wake) => setTimeout(wake, 5));
    }
    assert.ok(number >= 4_990, `${number} events were made`);
    const shown = async (): Promise<string> => page.locator("#rate").innerText();
    const end = performance.now() + 5_000;
    while (!(await shown()).startsWith(number.toLocaleString("en"))) {
      if (performance.now() > end) throw new Error(`the page counts ${await shown()}, ${number} were made`);
      await new Promise((wake) => setTimeout(wake, 50));
    }
    const drawn = Number(await page.evaluate("window.drawn"));
    assert.ok(drawn >= 25, `${drawn} pictures in 5 s`);
    assert.ok((await page.locator("#events li").count()) <= 200);
    assert.ok((await page.locator("#lives li").count()) <= 40);
    assert.ok(Number(await page.evaluate("document.querySelectorAll('*').length")) < 4_000);
    assert.equal(complaints, []);
  } finally {
    await page.close();
    await server.close();
  }
});

test.run();
