/** helm does the same and says the same whether it talks to the embedded API or to a real kube-apiserver. */
// runner: limit 600 s
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startEmbeddedApi } from "../../../src/devcluster/api/index.ts";
import type { EmbeddedApi } from "../../../src/devcluster/api/index.ts";
import { isMissing, kubernetesFolder, realControlPlane } from "../../parts/index.ts";
import { helmProgram } from "../../parts/real-node.ts";
import { needing } from "../../support/skip.ts";
import { kubectl as run } from "../contract/kubectl.ts";
import type { Target } from "../contract/kubectl.ts";
import { commands } from "./commands.ts";
import type { HelmCommand } from "./commands.ts";
import { mask } from "./mask.ts";

const helm = await helmProgram();
const plane =
  typeof helm === "string"
    ? await realControlPlane({
        address: "127.98.23.1",
        controllers: "namespace-controller,garbage-collector-controller",
      })
    : helm;

const test = needing(suite("helm contract"), isMissing(plane) ? plane.reason : undefined);

interface Side {
  readonly name: string;
  readonly prefix: readonly string[];
  readonly kubeconfig: string;
}

let folder = "";
let api: EmbeddedApi | undefined;
let sides: readonly Side[] = [];

test.before(async () => {
  if (isMissing(plane)) return;
  folder = await mkdtemp(join(tmpdir(), "haptic-helm-"));
  api = await startEmbeddedApi({ host: "127.98.24.1" });
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, api.kubeconfig);
  sides = [
    { name: "embedded", prefix: [], kubeconfig },
    { name: "real", prefix: plane.prefix, kubeconfig: plane.kubeconfig },
  ];
  for (const { name } of sides) await mkdir(join(folder, name));
});

test.after(async () => {
  await api?.close();
  if (!isMissing(plane)) await plane.stop();
  if (folder !== "") await rm(folder, { recursive: true, force: true });
});

/** helm and kubectl keep what they learn of a server in HOME. */
function target({ name, prefix, kubeconfig }: Side, program: HelmCommand["program"]): Target {
  const path = program === "helm" && typeof helm === "string" ? helm : join(kubernetesFolder(), "kubectl");
  return {
    command: [...prefix, path],
    environment: { PATH: process.env["PATH"], HOME: join(folder, name), KUBECONFIG: kubeconfig },
  };
}

async function shown(side: Side, command: HelmCommand): Promise<string> {
  const { code, stdout, stderr } = await run(target(side, command.program), command.line, import.meta.dirname);
  const lines = (text: string): string =>
    command.unordered === true ? mask(text).split("\n").toSorted().join("\n") : mask(text);
  return `exit ${String(code)}\n${lines(stdout)}--- errors\n${lines(stderr)}`;
}

for (const [i, command] of commands.entries()) {
  test(`${i + 1}: ${command.program} ${command.line} says the same on both servers`, async () => {
    const [embedded, real] = await Promise.all(sides.map((side) => shown(side, command)));
    assert.ok(embedded !== undefined && real !== undefined);
    assert.fixture(embedded, real);
    if (command.succeeds === true) assert.match(real, /^exit 0\n/);
  });
}

test.run();
