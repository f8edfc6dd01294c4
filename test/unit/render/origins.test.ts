/** What a reload's reason says of who made the change: templates, objects, lines, without secrets. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { AGENT_OPS_34 } from "../../../src/agent/capabilities.ts";
import {
  decodePlan,
  diffPlans,
  encodePlan,
  RELOAD_RULES,
  type RenderPlan,
  tellReason,
} from "../../../src/plan/index.ts";
import type { RenderService } from "../../../src/render/index.ts";
import type { KubeObject } from "../../../src/stores/index.ts";
import { options, planOf, route, service, TEMPLATES, world } from "./fixture.ts";

const sourced = (templates: Readonly<Record<string, string>>): RenderService =>
  service(templates, {
    sources: options(templates).sources.map((source) => ({
      ...source,
      origin: {
        object: "HAProxyTemplateConfig default/x",
        field:
          source.name === "haproxy.cfg"
            ? "spec.haproxyConfig.template"
            : `spec.templateSnippets.${source.name}.template`,
      },
    })),
  });

const reasons = (next: RenderPlan, before: RenderPlan): string[] =>
  diffPlans(next, before, { haproxyVersion: "3.4.7", agentOps: new Set(AGENT_OPS_34) }).reloads.map(tellReason);
const object = (alias: string, namespace: string, name: string, spec: object): [string, KubeObject] => [
  alias,
  { apiVersion: "v1", kind: alias === "services" ? "Service" : "Endpoints", metadata: { namespace, name }, spec },
];

const LOOP = `{% for _, each := range resources.services.List() %}`;
const templates = {
  ...TEMPLATES,
  "haproxy.cfg": TEMPLATES["haproxy.cfg"]!.replace(
    "    default_backend none\n",
    `    default_backend none\n{{ render "limits" }}`,
  )
    .replace(
      "backend none from",
      `userlist people\n${LOOP}    user {{ each.metadata.name }} password {{ each.spec.secret }}\n{% end %}backend none from`,
    )
    .replace(
      "{{ planRegistry.Prof",
      `${LOOP}{% fileRegistry.Register("file", tostring(each.metadata.name) + ".http", tostring(each.spec.page)) %}{% end %}{{ planRegistry.Prof`,
    ),
  limits: `${LOOP}{%- if each.metadata.name == "web" %}    maxconn {{ each.spec.limit }}\n{% end -%}{% end %}`,
};

test("text that an object's change makes another one: the object, the template's line, the value; of a password no more than its directive", async () => {
  const objects = world();
  const on = sourced(templates);
  const web = { secret: "open", page: "a", limit: 100 };
  objects.put(...object("services", "shop", "web", web));
  const first = await planOf(on, objects);
  objects.put(...object("services", "shop", "web", { ...web, limit: 200 }));
  const second = await planOf(on, objects);
  const line = (template: string, text: string): number =>
    template.split("\n").findIndex((each) => each.includes(text)) + 1;
  assert.equal(reasons(second, first), [
    `frontend http from base changed: maxconn 100 → 200 (from Service shop/web, templateSnippets.limits.template line ${line(templates.limits, "maxconn")}); to avoid it: ${RELOAD_RULES.section.hint}`,
  ]);
  objects.put(...object("services", "shop", "web", { ...web, limit: 200, secret: "sesame" }));
  const third = await planOf(on, objects);
  const [told = ""] = reasons(third, second);
  const at = line(templates["haproxy.cfg"], "password");
  assert.is(
    told,
    `userlist people changed: user (from Service shop/web, haproxyConfig.template line ${at}); ${RELOAD_RULES["section-fixed"].hint}`,
  );
});

test("a line that goes on behind a backslash is one: what stands there is no directive's name", async () => {
  const objects = world();
  const on = sourced({
    ...TEMPLATES,
    "haproxy.cfg": TEMPLATES["haproxy.cfg"]!.replace(
      "    default_backend none\n",
      `    default_backend none\n${LOOP}    http-request set-header authorization \\\\\n      {{ each.spec.token }}\n    "{{ each.spec.token }}" odd\n{% end %}`,
    ),
  });
  objects.put(...object("services", "shop", "web", { token: "open-sesame" }));
  const before = await planOf(on, objects);
  objects.put(...object("services", "shop", "web", { token: "tell-nobody" }));
  const [told = ""] = reasons(await planOf(on, objects), before);
  assert.match(told, /^frontend http from base changed: http-request set-header, a line \(from Service shop\/web, /);
  assert.not.match(told, /sesame|nobody/);
});

test("files, profiles and backends of haproxy.cfg's own template: who changed, who came, who went", async () => {
  const objects = world();
  const on = sourced({
    ...templates,
    "haproxy.cfg": templates["haproxy.cfg"].replace(
      "{{ planRegistry.Prof",
      `${LOOP}{% planRegistry.Profile(map[string]any{"mode": "http", "body": "timeout server " + tostring(each.spec.limit) + "s"}) %}{% end %}{{ planRegistry.Prof`,
    ),
  });
  const of = (name: string, more: object = {}): [string, KubeObject] =>
    object("services", "shop", name, { secret: "a", page: "a", limit: 1, ...more });
  objects.put(...of("web"));
  objects.put(...of("api", { page: "b" }));
  const first = await planOf(on, objects);
  objects.put(...of("api", { page: "cc" }));
  const second = await planOf(on, objects);
  assert.match(
    reasons(second, first)[0]!,
    /^file general\/api\.http changed: 2 bytes → 3 \(from Service shop\/api, content\); /,
  );
  objects.drop("services", "shop", "api");
  const third = await planOf(on, objects);
  assert.match(
    reasons(third, second).join("\n"),
    /^file general\/api\.http is gone \(from Service shop\/api, reloadOnPush\); /m,
  );
  objects.put(...of("web", { limit: 9 }));
  assert.match(
    reasons(await planOf(on, objects), third).join("\n"),
    /^profile haptic-be-\w+ is new \(from Service shop\/web, planRegistry\.Profile\); /m,
  );
});

test("another configuration is named, with the object that a backend was rendered for", async () => {
  const objects = world();
  objects.put("routes", route("shop", "web", "web.example", "web"));
  const before = await planOf(sourced(TEMPLATES), objects);
  const changed = {
    ...TEMPLATES,
    "haproxy.cfg": TEMPLATES["haproxy.cfg"]!.replace("timeout client 10s", "timeout client 61s"),
    backends: TEMPLATES["backends"]!.replace('"mode": "http"', '"mode": "tcp"'),
  };
  const next = await planOf(sourced(changed), objects);
  const told = reasons(next, before).join("\n");
  const from = String.raw`from HAProxyTemplateConfig default\/x`;
  assert.match(
    told,
    new RegExp(
      String.raw`^defaults base changed: timeout client 10s → 61s \(${from}, haproxyConfig\.template line 6\); `,
      "m",
    ),
  );
  assert.match(
    told,
    new RegExp(String.raw`^backend shop_web changed its profile: .* \(${from} for Route shop\/web, profile\); `, "m"),
  );
  const pause = async (): Promise<void> => {};
  const stored = await decodePlan((await encodePlan(before, pause))!, pause);
  // Of a plan that was read back from a pod nobody knows the configuration: nothing is claimed of it.
  assert.match(reasons(next, stored).join("\n"), /^defaults base changed \(haproxyConfig\.template line 3\); /m);
});

test("what many objects changed at once names the first and how many more", async () => {
  const objects = world();
  const on = sourced(templates);
  const put = (page: string): void => {
    for (const name of ["a", "b", "c", "d"])
      objects.put(...object("services", "shop", name, { secret: "s", page, limit: 1 }));
  };
  put("1");
  const before = await planOf(on, objects);
  put("2");
  const told = reasons(await planOf(on, objects), before);
  assert.is(told.length, 4);
  for (const each of told) assert.match(each, /\(from Service shop\/a and 3 more, content\)/);
});

test.run();
