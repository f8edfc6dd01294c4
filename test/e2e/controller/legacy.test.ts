// runner: beside
/** Controller and agents without TLS, where that was chosen on both sides. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { missingHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { get } from "../agent/harness.ts";
import { addHost, startStage, startUpstreams, until } from "./harness.ts";

const PREFIX = "127.92.11";
const check = needing(test, missingHaproxy("3.4"));

check(
  "with the Secret that holds what the agents ask for a host is served, with another it is not, until it changes",
  async () => {
    const credentials = { username: "admin", password: "right: one" };
    const closeUpstreams = await startUpstreams([`${PREFIX}.51`], 9080);
    const stage = await startStage(PREFIX, 1, "3.4", { secret: "credentials", credentials });
    const keep = (password: string): void => {
      stage.api.objects.apply({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "credentials", namespace: "default" },
        stringData: { dataplane_username: credentials.username, dataplane_password: password },
      });
    };
    try {
      const faults = (): string => JSON.stringify(stage.controller().faults());
      addHost(stage.api, "web", "web.example", [`${PREFIX}.51`], 9080);
      await until(
        "without a Secret the agent is not reached",
        () => faults().includes("HTTP Basic are not known"),
        30_000,
      );
      keep("wrong");
      await until("it refuses another password", () => faults().includes("missing or wrong"), 30_000);
      assert.not.match(faults(), /"wrong"|right: one/);
      keep(credentials.password);
      const answer = (): Promise<string | undefined> =>
        get(`${PREFIX}.11`, "web.example").then(
          ({ body }) => body,
          () => undefined,
        );
      await until("the host is served", async () => (await answer()) === `${PREFIX}.51`, 60_000);
      await until("nothing is wrong any more", () => stage.controller().faults().length === 0, 30_000);
    } finally {
      await stage.close();
      await closeUpstreams();
    }
  },
);

test.run();
