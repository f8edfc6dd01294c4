import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { Subject } from "rxjs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { WebSocket } from "ws";
import { assign, createActor, setup } from "xstate";
import type { AnyActorRef } from "xstate";
import {
  ActorBoard,
  EventHistory,
  LiveFeed,
  LiveServer,
  RenderLives,
  startDebugServer,
} from "../../../src/observe/index.ts";

const HOST = "127.93.0.2";
const SECRET = "planted-5ecret-value";

const lamp = setup({
  types: {
    context: {} as { password: string },
    events: {} as { type: "SWITCH"; password: string },
  },
  actions: { note: assign((_, params: { password: string }) => params) },
}).createMachine({
  id: "lamp",
  context: { password: SECRET },
  initial: "off",
  states: {
    off: { on: { SWITCH: { target: "on", actions: { type: "note", params: { password: SECRET } } } } },
    on: { on: { SWITCH: "off" } },
  },
});

async function start() {
  const actors: [string, AnyActorRef][] = [];
  const actor = createActor(lamp);
  actors.push(["lamp", actor]);
  actor.start();
  const ticks = new Subject<void>();
  const history = new EventHistory();
  const feed = new LiveFeed({
    history,
    lives: new RenderLives({ now: () => 0, wallClock: () => 0 }),
    board: new ActorBoard({ list: () => actors }),
    about: () => ({ identity: "test" }),
    panels: () => ({}),
    ticks,
  });
  let level = "info";
  const server = await startDebugServer({
    host: HOST,
    port: 0,
    variables: { counters: () => ({ applies: 2 }) },
    health: () => ({}),
    ready: () => true,
    events: (limit, id) => history.last(limit, ({ correlation }) => id === undefined || correlation === id),
    logLevel: {
      get: () => level,
      set: (wanted) => {
        level = wanted;
      },
    },
    live: new LiveServer(feed),
  });
  return { url: `http://${HOST}:${server.port}`, port: server.port, server, feed, actor, ticks, history };
}

type Started = Awaited<ReturnType<typeof start>>;

const withServer = (body: (started: Started) => Promise<void>) => async (): Promise<void> => {
  const started = await start();
  try {
    await body(started);
  } finally {
    await started.server.close();
  }
};

/** Status and text of a request, with any headers. */
const ask = (port: number, path: string, headers: Record<string, string> = {}): Promise<[number, string]> =>
  new Promise((resolve, reject) => {
    request({ host: HOST, port, path, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve([response.statusCode ?? 0, text]));
    })
      .on("error", reject)
      .end();
  });

test(
  "the page and its parts are served, under a policy that lets nothing else in",
  withServer(async ({ url }) => {
    const page = await fetch(`${url}/live`);
    assert.is(page.url, `${url}/live/`);
    assert.match(page.headers.get("content-type") ?? "", "text/html");
    assert.match(
      page.headers.get("content-security-policy") ?? "",
      "default-src 'none'; script-src 'self'; style-src 'self';",
    );
    const html = await page.text();
    for (const outside of html.matchAll(/(?:src|href)="([^"]+)"/g))
      assert.not.match(outside[1] ?? "", /^(https?:)?\/\//);
    for (const part of ["main.js", "page.css", "map-data.js", "charts/coordinator.svg"]) {
      const answer = await fetch(`${url}/live/${part}`);
      assert.is(answer.status, 200, part);
      assert.not.match(await answer.text(), /https?:\/\/(?!www\.w3\.org\/)/, `${part} names nothing outside`);
    }
    const chart = await (await fetch(`${url}/live/charts/coordinator.svg`)).text();
    assert.not.match(chart, "<style>");
    assert.match(chart, 'data-id="coordinator.rendering"');
  }),
);

test(
  "nothing but the page's own files can be had",
  withServer(async ({ port }) => {
    for (const path of [
      "/live/../package.json",
      "/live/%2e%2e/%2e%2e/package.json",
      "/live/tsconfig.json",
      "/live/charts/nosuch.svg",
      "/live/charts/../page.css",
      "/live/main.svg",
      "/live/charts/main.js",
    ]) {
      const [status, text] = await ask(port, path);
      assert.ok(status === 404 || path.includes("../"), `${path}: ${status}`);
      assert.not.match(text, '"dependencies"');
    }
  }),
);

test(
  "a name that was made to lead here gets neither page nor variables",
  withServer(async ({ port }) => {
    for (const path of ["/live/", "/live/stream", "/debug/vars", "/debug/events"]) {
      assert.is((await ask(port, path, { host: "evil.example:80" }))[0], 403, path);
    }
    assert.is((await ask(port, "/debug/vars", { host: "localhost:1234" }))[0], 200);
    assert.is((await ask(port, "/debug/vars", { host: "[::1]:1234" }))[0], 200);
    assert.is((await ask(port, "/readyz", { host: "controller.haptic.svc" }))[0], 200, "probes come under any name");
  }),
);

test(
  "events are asked for by number and by correlation id",
  withServer(async ({ url, history }) => {
    for (let number = 1; number <= 5; number += 1)
      history.add(number, { type: `N${number}` }, "someone", number % 2 === 0 ? "even" : "odd");
    const types = async (query: string): Promise<string[]> => {
      const { events } = (await (await fetch(`${url}/debug/events${query}`)).json()) as { events: { type: string }[] };
      return events.map(({ type }) => type);
    };
    assert.equal(await types(""), ["N5", "N4", "N3", "N2", "N1"]);
    assert.equal(await types("?limit=2"), ["N5", "N4"]);
    assert.equal(await types("?correlation_id=even"), ["N4", "N2"]);
    assert.is((await fetch(`${url}/debug/events?limit=none`)).status, 400);
  }),
);

test(
  "the log level is read and changed, and a word that is none is refused",
  withServer(async ({ url }) => {
    const put = async (body: string): Promise<[number, unknown]> => {
      const answer = await fetch(`${url}/debug/log-level`, { method: "PUT", body });
      return [answer.status, await answer.json()];
    };
    assert.equal(await put("debug\n"), [200, { level: "debug" }]);
    assert.equal(await put('{"level":"WARN"}'), [200, { level: "warn" }]);
    assert.is((await put("loud"))[0], 400);
    assert.is((await put('{"level":7}'))[0], 400);
    assert.is((await put("x".repeat(5_000)))[0], 400);
    assert.equal(await (await fetch(`${url}/debug/log-level`)).json(), { level: "warn" });
    assert.is((await fetch(`${url}/debug/vars`, { method: "PUT", body: "debug" })).status, 405);
  }),
);

test(
  "the stream tells the present, then what changes, and ends with its page",
  withServer(async ({ url, feed, actor, ticks }) => {
    const leave = new AbortController();
    const answer = await fetch(`${url}/live/stream`, { signal: leave.signal });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const until = async (what: string): Promise<void> => {
      while (!text.includes(what)) text += (await reader.read()).value ?? "";
    };
    await until('"lamp.off"');
    actor.send({ type: "SWITCH", password: SECRET });
    ticks.next();
    await until('"lamp.on"');
    assert.match(text, '"heard":["SWITCH"]');
    assert.not.match(text, SECRET);
    leave.abort();
    await reader.closed.catch(() => {});
    for (let turn = 0; turn < 50 && feed.pages > 0; turn += 1) await new Promise((done) => setTimeout(done, 10));
    assert.is(feed.pages, 0);
  }),
);

test(
  "Stately's messages go over a WebSocket, without context or an event's content",
  withServer(async ({ port, actor, feed }) => {
    const socket = new WebSocket(`ws://${HOST}:${port}/live/inspect`);
    const messages: string[] = [];
    socket.on("message", (data) => messages.push((data as Buffer).toString()));
    await once(socket, "open");
    while (messages.length === 0) await once(socket, "message");
    actor.send({ type: "SWITCH", password: SECRET });
    while (messages.length < 3) await once(socket, "message");
    const parsed = messages.map((message) => JSON.parse(message) as { type: string; snapshot?: { value: string } });
    assert.equal(
      parsed.map(({ type }) => type),
      ["@xstate.actor", "@xstate.event", "@xstate.snapshot"],
    );
    assert.is(parsed[2]?.snapshot?.value, "on");
    assert.not.match(messages.join(""), SECRET);
    socket.close();
    await once(socket, "close");
    for (let turn = 0; turn < 50 && feed.actors().length > 0; turn += 1)
      await new Promise((done) => setTimeout(done, 10));
    assert.equal(feed.actors(), [], "nothing is inspected any more");
  }),
);

test(
  "a page of another origin gets no WebSocket",
  withServer(async ({ port }) => {
    for (const options of [{ origin: "https://evil.example" }, { headers: { host: "evil.example" } }]) {
      const socket = new WebSocket(`ws://${HOST}:${port}/live/inspect`, options);
      const [error] = (await once(socket, "error")) as [Error];
      assert.match(error.message, "403");
    }
  }),
);

test(
  "an address that cannot be read is refused, asked plainly or as a WebSocket, and the server goes on",
  withServer(async ({ port }) => {
    assert.is((await ask(port, "//["))[0], 400);
    const upgrade = { connection: "Upgrade", upgrade: "websocket" };
    assert.is((await ask(port, "//[", upgrade))[0], 403);
    assert.is((await ask(port, "/debug/vars"))[0], 200);
  }),
);

test(
  "a client that resets its connection in the middle of a refused WebSocket harms nobody",
  withServer(async ({ port }) => {
    const socket = connect({ host: HOST, port });
    await once(socket, "connect");
    socket.write("GET /nowhere HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n");
    socket.resetAndDestroy();
    await once(socket, "close");
    assert.is((await ask(port, "/debug/vars"))[0], 200);
  }),
);

test.run();
