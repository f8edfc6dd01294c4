/**
 * What the proofs of this folder run on: the ingress example with two pods, HTTP/3 beside HTTP/1.1 and HTTP/2, a mark that
 * only a reload changes, and a worker whose start can be held.
 */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Cluster, CONFIG, type ExampleConfig, until } from "../harness/cluster.ts";
import type { Network } from "../harness/isolation.ts";
import type { ApiChoice } from "../harness/planes.ts";
import { NAME, Site } from "../harness/site.ts";

/** The pod whose new worker can be held at its start. */
export const SLOW = 0;
export const QUICK = 1;
const STATUS_PORT = 8404;
const LOADED_MS = 60_000;
/** Endpoints of a host where one of them is asked for. */
const FEW_ENDPOINTS = 2;

const TCP_BIND = `bind "\${HAPTIC_BIND_ADDRESS-*}:8443" ssl {{ render "certificates" }} alpn h2,http/1.1\n`;
const QUIC_BIND = `    bind "quic4@\${HAPTIC_BIND_ADDRESS-*}:8443" ssl {{ render "certificates" }} alpn h3\n`;
const STATUS = "frontend status from base\n";
const MARK = `    http-request return status 200 content-type text/plain string "{{ extraContext | dig_string("", "mark") }}" if { path /mark }\n`;

/** Told apart by the environment: `haproxy -c` of the controller is not held. */
const holdScript = (address: string, hold: string, held: string): string => `
local function there() local file = io.open("${hold}"); if file then file:close() end; return file ~= nil end
if os.getenv("HAPTIC_BIND_ADDRESS") == "${address}" and there() then
  local file = io.open("${held}", "w"); file:close()
  while there() do os.execute("sleep 0.02") end
end
`;

/** Puts one text in the place of another that must be there. */
function replaced(text: string, what: string, by: string): string {
  if (!text.includes(what)) throw new Error(`the example has no ${JSON.stringify(what)} any more`);
  return text.replace(what, () => by);
}

export interface StageOptions {
  readonly pods: number;
  /** Further flags of the agents. */
  readonly agentFlags: readonly string[];
}

/** Reloads follow each other faster than by default, so that more of them meet the load. */
export const BUSY: StageOptions = { pods: 2, agentFlags: ["--reload-interval-min=1s"] };

export class Stage {
  readonly cluster: Cluster;
  readonly site: Site;
  #marks = 0;

  constructor(api: ApiChoice, network: Network, options: StageOptions) {
    this.cluster = new Cluster({
      api,
      version: "3.4",
      prefix: network.prefix,
      ...options,
      configure: (config, folder) => this.#configure(config, `${network.prefix}.1.${11 + SLOW}`, folder),
    });
    this.site = new Site(this.cluster);
  }

  #configure(config: ExampleConfig, slowAddress: string, folder: string): void {
    const { spec } = config;
    spec.templatingSettings.extraContext["mark"] = "0";
    let { template } = spec.haproxyConfig;
    template = replaced(template, STATUS, STATUS + MARK);
    template = replaced(template, TCP_BIND, TCP_BIND + QUIC_BIND);
    const script = join(folder, "hold.lua");
    writeFileSync(script, holdScript(slowAddress, join(folder, "hold"), join(folder, "held")));
    const load = `    tune.lua.bool-sample-conversion normal\n    lua-load ${script}\n`;
    spec.haproxyConfig.template = replaced(template, "global\n", `global\n${load}`);
    // A certificate's own list of protocols is for both binds.
    const { certificates } = spec.templateSnippets;
    spec.templateSnippets["certificates"] = {
      ...certificates,
      template: replaced(certificates!.template, "[alpn h2,http/1.1]", "[alpn h3,h2,http/1.1]"),
    };
  }

  async start(): Promise<void> {
    await this.cluster.start();
    await this.site.create();
  }

  close(): Promise<void> {
    return this.cluster.close();
  }

  /** An operator edits the configuration, in a way that only a reload brings into force; gives the new mark. */
  async edit(mark = String(this.#marks + 1)): Promise<string> {
    this.#marks += 1;
    const patch = { spec: { templatingSettings: { extraContext: { mark } } } };
    await this.cluster.client.mergePatch(CONFIG.target, CONFIG.name, patch, { fieldManager: "e2e" });
    return mark;
  }

  /** Waits until the worker that answers has loaded what bears this mark. */
  async loaded(mark: string, pods: readonly number[] = [...this.cluster.pods.keys()]): Promise<void> {
    await Promise.all(
      pods.map((pod) =>
        until(
          `pod ${pod} has loaded ${mark}`,
          async () => {
            const answer = await fetch(`http://${this.cluster.address(pod)}:${STATUS_PORT}/mark`, {
              headers: { connection: "close" },
            });
            return (await answer.text()) === mark;
          },
          LOADED_MS,
        ).catch((error: unknown) => {
          throw new Error(`${String(error)}\n${this.cluster.tail()}`, { cause: error });
        }),
      ),
    );
  }

  /** Leaves the host under load few endpoints: of the hundred that a rolling update leaves, one gets its turn after seconds. */
  async fewEndpoints(): Promise<void> {
    const { cluster } = this;
    const endpoints = cluster.endpointsOf(NAME);
    if (endpoints.length <= FEW_ENDPOINTS) return;
    const applied = async (): Promise<string[]> =>
      (await cluster.variable<readonly { readonly applied: string }[]>("pods")).map((pod) => pod.applied);
    await cluster.settled();
    const before = await applied();
    await cluster.setEndpoints(NAME, endpoints.slice(-FEW_ENDPOINTS));
    await until("the others are gone", async () => (await applied()).every((plan, pod) => plan !== before[pod]));
    await cluster.settled();
  }

  reloads(): Promise<number[]> {
    return Promise.all(this.cluster.pods.map((_, pod) => this.cluster.reloadsOf(pod)));
  }

  /** From now on the slow pod's next worker does not come beyond reading its configuration. */
  hold(): { started(): Promise<unknown>; release(): void } {
    const [hold, held] = [join(this.cluster.folder, "hold"), join(this.cluster.folder, "held")];
    rmSync(held, { force: true });
    writeFileSync(hold, "");
    return {
      started: () => until("the new worker reads its configuration", () => existsSync(held)),
      release: () => rmSync(hold, { force: true }),
    };
  }
}

/** One stage at a time: that of the part before, while the next one wants the same. */
export class Stages {
  readonly #make: (options: StageOptions) => Stage;
  #current: { readonly stage: Stage; readonly options: StageOptions } | undefined;

  constructor(api: ApiChoice, network: Network) {
    this.#make = (options) => new Stage(api, network, options);
  }

  async of(options: StageOptions): Promise<Stage> {
    if (this.#current?.options === options) return this.#current.stage;
    await this.close();
    const stage = this.#make(options);
    this.#current = { stage, options };
    await stage.start();
    return stage;
  }

  async close(): Promise<void> {
    await this.#current?.stage.close();
    this.#current = undefined;
  }
}
