import { Subject } from "rxjs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { followCredentials } from "../../../src/controller/agent-credentials.ts";
import type { Log } from "../../../src/controller/ports.ts";
import type { WatchSignal } from "../../../src/kube/types.ts";

const encoded = (text: string): string => Buffer.from(text).toString("base64");
const secret = (data: Record<string, string>, name = "credentials") => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "haptic" },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, encoded(text)])),
});
const whole = (username: string, password: string) =>
  secret({ dataplane_username: username, dataplane_password: password });

function follow() {
  const signals = new Subject<WatchSignal>();
  const lines: string[] = [];
  const note = (...said: unknown[]): void => void lines.push(JSON.stringify(said));
  const log = { info: note, warn: note, error: note, debug: note } as unknown as Log;
  let asked = "";
  const kube = {
    listWatch: (target: object, options: object) => {
      asked = JSON.stringify([target, options]);
      return signals.asObservable();
    },
  };
  const followed = followCredentials(kube, { namespace: "haptic", name: "credentials" }, log);
  return { signals, lines, followed, asked };
}

test("username and password are those of the Secret, from its first listing on, and follow it", () => {
  const { signals, followed, asked, lines } = follow();
  assert.match(asked, '"secrets","namespace":"haptic"');
  assert.match(asked, "metadata.name=credentials");
  assert.is(followed.current(), undefined);
  signals.next({ type: "RELIST", reason: "start" });
  signals.next({ type: "PAGE", objects: [whole("one", "first")] });
  assert.is(followed.current(), undefined, "not before the listing is whole");
  signals.next({ type: "SYNCED", resourceVersion: "1" });
  assert.equal(followed.current(), { username: "one", password: "first" });
  signals.next({ type: "MODIFIED", object: whole("two", "second") });
  assert.equal(followed.current(), { username: "two", password: "second" });
  assert.equal(lines, []);
  followed.close();
  signals.next({ type: "MODIFIED", object: whole("three", "third") });
  assert.is(followed.current()?.username, "two");
});

test("a Secret that is not there is named; what it was stays in use when it goes or cannot be used", () => {
  const { signals, followed, lines } = follow();
  signals.next({ type: "RELIST", reason: "start" });
  signals.next({ type: "SYNCED", resourceVersion: "1" });
  assert.match(lines.at(-1)!, "Agents cannot be asked: Secret haptic/credentials is not there");
  signals.next({ type: "ADDED", object: secret({ dataplane_username: "u" }) });
  assert.match(lines.at(-1)!, "Agents cannot be asked: Secret haptic/credentials has no dataplane_password");
  signals.next({ type: "ADDED", object: whole("u", "right one") });
  const stays = (signal: WatchSignal, why: string): void => {
    signals.next(signal);
    assert.match(lines.at(-1)!, why);
    assert.equal(followed.current(), { username: "u", password: "right one" });
  };
  stays({ type: "MODIFIED", object: whole("u", "hidden\n") }, "dataplane_password holds a control character");
  stays({ type: "MODIFIED", object: whole("u:v", "hidden") }, "dataplane_username holds a colon");
  stays({ type: "MODIFIED", object: secret({}) }, "has no dataplane_username and no dataplane_password");
  stays({ type: "DELETED", object: whole("u", "right one") }, "stay in use: Secret haptic/credentials is not there");
  stays({ type: "FAULT", error: new Error("403 forbidden"), retryInMs: 1 }, "cannot be read");
  assert.not.match(lines.join(), /hidden|right one/);
});

test.run();
