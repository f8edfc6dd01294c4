/** What kubectl says is the same whether it talks to the embedded API or to a real kube-apiserver. */
// runner: limit 900 s
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startEmbeddedApi } from "../../../src/devcluster/api/index.ts";
import type { EmbeddedApi } from "../../../src/devcluster/api/index.ts";
import { isMissing, kubernetesFolder, realControlPlane } from "../../parts/index.ts";
import type { ControlPlane } from "../../parts/index.ts";
import { needing } from "../../support/skip.ts";
import type { Command, Place } from "./command.ts";
import { commands } from "./commands.ts";
import { kubectl, watchDuring } from "./kubectl.ts";
import type { Outcome, Target } from "./kubectl.ts";
import { mask } from "./mask.ts";
import { Webhooks } from "./webhook-pair.ts";

const fixtures = join(import.meta.dirname, "fixtures");
const plane = await realControlPlane({
  address: "127.98.20.1",
  // no controller that would add objects of its own: only those that finish deletions
  controllers: "namespace-controller,garbage-collector-controller",
});
// What is skipped leaves no folder behind.
const folder = isMissing(plane) ? "" : await mkdtemp(join(tmpdir(), "haptic-contract-"));

function target(name: string, prefix: readonly string[], kubeconfig: string): Target {
  const cache = join(folder, name);
  return {
    command: [...prefix, join(kubernetesFolder(), "kubectl"), "--cache-dir", cache],
    environment: { PATH: process.env["PATH"], HOME: folder, KUBECONFIG: kubeconfig },
  };
}

async function targets(api: EmbeddedApi, real: ControlPlane): Promise<readonly [Target, Target]> {
  await mkdir(folder, { recursive: true });
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, api.kubeconfig);
  return [target("embedded", [], kubeconfig), target("real", real.prefix, real.kubeconfig)];
}

/** One of the two servers, and what differs around it. */
interface Side {
  readonly target: Target;
  readonly place: Place;
}

function run({ target, place }: Side, command: Command): Promise<Outcome> {
  const to = command.editor === undefined ? target : edited(target, command.editor);
  const stdin = typeof command.stdin === "function" ? command.stdin(place) : command.stdin;
  return command.during === undefined
    ? kubectl(to, command.line, fixtures, stdin)
    : watchDuring(to, command.line, fixtures, command.during);
}

const edited = (target: Target, editor: string): Target => ({
  ...target,
  environment: { ...target.environment, KUBE_EDITOR: join(fixtures, editor) },
});

/** Repeats what the command names until both servers say the words; gives up after 30 s, and the next commands then differ. */
async function untilActing({ target }: Side, until: NonNullable<Command["until"]>): Promise<void> {
  const end = Date.now() + 30_000;
  while (Date.now() < end) {
    const { stdout, stderr } = await kubectl(target, until.line, fixtures, until.stdin);
    if (until.words.every((word) => `${stdout}${stderr}`.includes(word))) return;
    await sleep(100);
  }
}

/** Waits until a server publishes what the command needs; gives up after 30 s, and the command then shows what is missing. */
async function untilPublished(to: Target, { path, word }: NonNullable<Command["published"]>): Promise<void> {
  const end = Date.now() + 30_000;
  while (Date.now() < end) {
    const answer = await kubectl(to, `get --raw ${path}`, fixtures);
    if (answer.code === 0 && answer.stdout.includes(word)) return;
    await sleep(100);
  }
}

/** Code, output and errors as one text that shows well in a difference. */
function shown(outcome: Outcome, command: Command): string {
  const lines = (text: string): string => {
    const masked = mask(text);
    return command.unordered === true ? masked.split("\n").toSorted().join("\n") : masked;
  };
  return `exit ${outcome.code}\n${lines(outcome.stdout)}--- errors\n${lines(outcome.stderr)}`;
}

const test = needing(suite("kubectl contract"), isMissing(plane) ? plane.reason : undefined);
let api: EmbeddedApi | undefined;
let pair: readonly [Side, Side] | undefined;
let webhooks: Webhooks | undefined;

test.before(async () => {
  if (isMissing(plane)) return;
  api = await startEmbeddedApi({ host: "127.98.21.1" });
  const [embedded, real] = await targets(api, plane);
  webhooks = await Webhooks.start(folder, plane);
  pair = [
    { target: embedded, place: webhooks.here },
    { target: real, place: webhooks.there },
  ];
});

test.after(async () => {
  webhooks?.stop();
  await api?.close();
  if (!isMissing(plane)) await plane.stop();
  await rm(folder, { recursive: true, force: true });
});

for (const [i, command] of commands.entries()) {
  test(`${i + 1}: kubectl ${command.line} says the same on both servers`, async () => {
    assert.ok(pair);
    const { published, until } = command;
    if (published !== undefined) await Promise.all(pair.map(({ target: to }) => untilPublished(to, published)));
    const [embedded, real] = await Promise.all(pair.map((side) => run(side, command)));
    if (until !== undefined) await Promise.all(pair.map((side) => untilActing(side, until)));
    assert.ok(embedded && real);
    assert.fixture(shown(embedded, command), shown(real, command));
  });
}

test.run();
