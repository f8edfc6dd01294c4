import { test } from "uvu";
import * as assert from "uvu/assert";
import { createKubeClient, directConnection, type KubeClient } from "../../../src/kube/index.ts";
import { scriptedServer, type Exchange } from "./scripted-server.ts";

interface World {
  readonly client: KubeClient;
  /** Group version in the index → address of its document. */
  readonly index: Record<string, unknown>;
  /** Path → status of its answer, in place of 200; 0 = none comes. */
  readonly broken: Map<string, number>;
  /** What was asked for since the last look: path and hash. */
  readonly asked: () => string[];
  /** By group version: the document's title, or why there is none. */
  readonly read: (...apiVersions: string[]) => Promise<Record<string, string>>;
}

async function withWorld(body: (world: World) => Promise<void>, requestTimeoutMs = 20_000): Promise<void> {
  const index: Record<string, unknown> = {};
  const broken = new Map<string, number>();
  const script = (exchange: Exchange): void => {
    const { pathname, searchParams } = exchange.url;
    const status = broken.get(pathname) ?? 200;
    if (status === 0) return;
    if (status !== 200) exchange.json(status, { kind: "Status", code: status, message: "broken" });
    else if (pathname !== "/openapi/v3") exchange.json(200, { title: `${pathname} ${searchParams.get("hash")}` });
    else {
      const paths = Object.entries(index).map(([key, serverRelativeURL]) => [key, { serverRelativeURL }]);
      exchange.json(200, { paths: Object.fromEntries(paths) as unknown });
    }
  };
  const server = await scriptedServer(script);
  const client = createKubeClient(directConnection({ server: server.url }), { requestTimeoutMs });
  try {
    await body({
      client,
      index,
      broken,
      asked: () => server.seen.splice(0).map(({ url }) => `${url.pathname}${url.search}`),
      read: async (...apiVersions) => {
        const answers = [...(await client.openApi(apiVersions))];
        return Object.fromEntries(
          answers.map(([key, answer]) => [
            key,
            "missing" in answer ? `missing: ${answer.missing}` : (answer.document as { title: string }).title,
          ]),
        );
      },
    });
  } finally {
    await client.close();
    await server.close();
  }
}

test("Only the documents of the group versions asked for are fetched, each again only when its hash is another", async () => {
  await withWorld(async ({ index, asked, read }) => {
    index["api/v1"] = "/openapi/v3/api/v1?hash=A";
    index["apis/apps/v1"] = "/openapi/v3/apis/apps/v1?hash=B";
    index["apis/other/v1"] = "/openapi/v3/apis/other/v1?hash=C";
    const first = await read("v1", "apps/v1", "v1");
    assert.equal(first, { v1: "/openapi/v3/api/v1 A", "apps/v1": "/openapi/v3/apis/apps/v1 B" });
    assert.equal(asked().sort(), ["/openapi/v3", "/openapi/v3/api/v1?hash=A", "/openapi/v3/apis/apps/v1?hash=B"]);
    assert.equal(await read("v1", "apps/v1"), first);
    assert.equal(asked(), ["/openapi/v3"]);
    index["apis/apps/v1"] = "/openapi/v3/apis/apps/v1?hash=B2";
    assert.equal(await read("v1", "apps/v1"), { ...first, "apps/v1": "/openapi/v3/apis/apps/v1 B2" });
    assert.equal(asked(), ["/openapi/v3", "/openapi/v3/apis/apps/v1?hash=B2"]);
  });
});

test("What the server does not describe is missing, with the reason, and hinders nothing else", async () => {
  await withWorld(async ({ index, broken, read }) => {
    index["api/v1"] = "/openapi/v3/api/v1?hash=A";
    index["apis/apps/v1"] = "/openapi/v3/apis/apps/v1?hash=B";
    broken.set("/openapi/v3/apis/apps/v1", 503);
    const answers = await read("v1", "apps/v1", "absent/v1");
    assert.is(answers["v1"], "/openapi/v3/api/v1 A");
    assert.match(answers["apps/v1"] ?? "", /^missing: read \/openapi\/v3\/apis\/apps\/v1: 503/);
    assert.is(answers["absent/v1"], "missing: /openapi/v3 lists no apis/absent/v1");
    broken.set("/openapi/v3", 404);
    assert.match((await read("absent/v1"))["absent/v1"] ?? "", /^missing: read \/openapi\/v3: 404/);
  });
});

test("A server that falls silent leaves what it said last in force", async () => {
  await withWorld(async ({ index, broken, read }) => {
    index["api/v1"] = "/openapi/v3/api/v1?hash=A";
    await read("v1");
    broken.set("/openapi/v3", 0);
    const answers = await read("v1", "apps/v1");
    assert.is(answers["v1"], "/openapi/v3/api/v1 A");
    assert.match(answers["apps/v1"] ?? "", "no answer within 2000 ms");
    broken.clear();
    index["api/v1"] = "/openapi/v3/api/v1?hash=A2";
    broken.set("/openapi/v3/api/v1", 500);
    assert.is((await read("v1"))["v1"], "/openapi/v3/api/v1 A");
    broken.clear();
    assert.is((await read("v1"))["v1"], "/openapi/v3/api/v1 A2");
  }, 2_000);
});

test("No address outside the server is followed, and no name of the index that it does not hold itself", async () => {
  await withWorld(async ({ index, asked, read }) => {
    index["apis/a/v1"] = "//elsewhere.example/openapi";
    index["apis/b/v1"] = "http://elsewhere.example/openapi";
    index["apis/c/v1"] = 7;
    const answers = await read("a/v1", "b/v1", "c/v1");
    for (const answer of Object.values(answers)) assert.match(answer, /^missing: \/openapi\/v3 lists no apis\//);
    assert.equal(asked(), ["/openapi/v3"]);
  });
});

test("Who is aborted hears so", async () => {
  await withWorld(async ({ client, broken }) => {
    broken.set("/openapi/v3", 0);
    const abort = new AbortController();
    const reading = client.openApi(["v1"], abort.signal);
    abort.abort(new Error("a newer configuration came"));
    let message = "";
    await reading.catch((error: unknown) => (message = (error as Error).message));
    assert.is(message, "a newer configuration came");
  });
});

test.run();
