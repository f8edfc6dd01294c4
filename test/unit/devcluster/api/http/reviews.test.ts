import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startEmbeddedApi } from "../../../../../src/devcluster/api/index.ts";
import type { EmbeddedApi } from "../../../../../src/devcluster/api/index.ts";
import { call } from "./client.ts";

const accounts = "/api/v1/namespaces/default/serviceaccounts";

interface World {
  api: EmbeddedApi;
  now: number;
}

const test = suite<World>("reviews and tokens");
test.before.each(async (world) => {
  world.now = Date.parse("2026-01-01T00:00:00Z");
  world.api = await startEmbeddedApi({ host: "127.61.6.1", now: () => world.now });
  await call(world.api, "POST", accounts, { metadata: { name: "robot" } });
});
test.after.each(({ api }) => api.close());

async function token(api: EmbeddedApi, spec: object): Promise<string> {
  const answer = await call(api, "POST", `${accounts}/robot/token`, { spec });
  assert.is(answer.status, 201);
  return (answer.body["status"] as { token: string }).token;
}

interface ReviewStatus {
  readonly authenticated?: boolean;
  readonly user: { readonly username?: string; readonly groups?: readonly string[] };
  readonly audiences?: readonly string[];
  readonly error?: string;
}
async function review(api: EmbeddedApi, spec: object): Promise<ReviewStatus> {
  const answer = await call(api, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", { spec });
  assert.is(answer.status, 201);
  return answer.body["status"] as ReviewStatus;
}

test("a token is known again, for its audience and its time", async (world) => {
  const { api } = world;
  const own = await token(api, { audiences: ["haptic"], expirationSeconds: 600 });
  const known = await review(api, { token: own, audiences: ["other", "haptic"] });
  assert.is(known.authenticated, true);
  assert.is(known.user.username, "system:serviceaccount:default:robot");
  assert.equal(known.user.groups, ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]);
  assert.equal(known.audiences, ["haptic"]);
  assert.is((await review(api, { token: own })).authenticated, undefined, "not for the API server");
  world.now += 601_000;
  assert.is((await review(api, { token: own, audiences: ["haptic"] })).error, "invalid bearer token");
});

test("a token ends with its account, also when another of that name is made; a forged one is none", async ({ api }) => {
  const own = await token(api, {});
  assert.is((await review(api, { token: own })).authenticated, true);
  const [head = "", body = "", signature = ""] = own.split(".");
  const claims = JSON.parse(Buffer.from(body, "base64url").toString()) as object;
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: "admin" })).toString("base64url");
  assert.is((await review(api, { token: `${head}.${forged}.${signature}` })).authenticated, undefined);
  await call(api, "DELETE", `${accounts}/robot`);
  await call(api, "POST", accounts, { metadata: { name: "robot" } });
  assert.is((await review(api, { token: own })).authenticated, undefined);
  for (const nonsense of ["", "a.b", "a.b.c"]) {
    assert.is((await review(api, { token: nonsense })).error, "invalid bearer token");
  }
});

test("no token without an account, none for less than ten minutes", async ({ api }) => {
  assert.is((await call(api, "POST", `${accounts}/nobody/token`, {})).status, 404);
  const short = await call(api, "POST", `${accounts}/robot/token`, { spec: { expirationSeconds: 60 } });
  assert.equal([short.status, short.body.reason], [422, "Invalid"]);
});

test("everybody may do everything, and is the administrator", async ({ api }) => {
  for (const path of [
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews",
  ]) {
    const answer = await call(api, "POST", path, {
      spec: { resourceAttributes: { verb: "delete", resource: "nodes" } },
    });
    assert.equal([answer.status, answer.body["status"]], [201, { allowed: true }]);
  }
  const me = await call(api, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {});
  assert.is((me.body["status"] as { userInfo: { username: string } }).userInfo.username, "kubernetes-admin");
  assert.is((await call(api, "POST", "/apis/authorization.k8s.io/v1/constructor", {})).status, 404);
});

test.run();
