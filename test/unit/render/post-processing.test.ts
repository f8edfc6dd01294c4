import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { RE2JS } from "re2js";
import { diffPlans, joinBlocks, type OpKind, type RenderPlan } from "../../../src/plan/index.ts";
import { createRenderService, type RenderServiceOptions } from "../../../src/render/index.ts";
import { lineProcessor, replaceLines } from "../../../src/render/post-processing-lines.ts";
import { cutSections } from "../../../src/render/post-processing-sections.ts";
import type { ProcessorSpec } from "../../../src/render/post-processing.ts";
import {
  context,
  never,
  options,
  planOf,
  render,
  route,
  service,
  slice,
  target,
  text,
  texts,
  world,
} from "./fixture.ts";

const regex = (pattern: string, replace: string): ProcessorSpec => ({
  type: "regex_replace",
  params: { pattern, replace },
});
const source = (text: string): ProcessorSpec => ({ type: "template", params: { source: text } });
const OPS = new Set<OpKind>(["server_add", "server_enable", "server_set_addr", "backend_add", "backend_publish"]);

const one = (pattern: string, replace: string, line: string): string =>
  replaceLines(line, [lineProcessor(pattern, replace).rule]);

/** The fixture's configuration with processors, by template. */
function processed(
  of: Readonly<Record<string, readonly ProcessorSpec[]>>,
  templates?: Readonly<Record<string, string>>,
): Partial<RenderServiceOptions> {
  const { spec } = options(templates);
  const entries = <T extends object>(prefix: string, all: Readonly<Record<string, T>> = {}): Record<string, T> =>
    Object.fromEntries(
      Object.entries(all).map(([name, entry]) => {
        const list = of[`${prefix}${name}`];
        return [name, list === undefined ? entry : { ...entry, postProcessing: list }];
      }),
    );
  return {
    spec: {
      ...spec,
      ...(of["haproxy.cfg"] !== undefined && { haproxyConfig: { postProcessing: of["haproxy.cfg"] } }),
      maps: entries("map:", spec.maps),
      files: entries("file:", spec.files),
    },
  };
}

test("replacements are expanded as Go expands them", () => {
  assert.is(one("(a)(b)", "$2$1", "xaby"), "xbay");
  assert.is(one("(?P<first>a)", "<${first}$first>", "a"), "<aa>");
  assert.is(one("(a)", "$1x", "a"), "", "the longest name counts");
  assert.is(one("(a)", "${1}x$$1", "a"), "ax$1");
  assert.is(one("(a)|(b)", "[$2]", "ab"), "[][b]", "a group that took no part is empty");
  assert.is(one("a", "$", "a"), "$");
  assert.is(one("a", "${x", "a"), "${x");
  assert.is(one("(a)", "$01", "a"), "", "a number with a leading zero is a name");
  assert.is(one("(a)", "$9", "a"), "");
  assert.is(one("a", "$0$0", "a"), "aa");
});

test("all matches of a line are replaced, and an empty one beside another does not count", () => {
  assert.is(one("a*", "-", "baac"), "-b-c-");
  assert.is(one("a|b", "x", "abc"), "xxc");
  assert.is(one("", "-", "ab"), "-a-b-");
  assert.is(one("x*", "-", "é😀"), "-é-😀-");
  assert.is(one("^", "> ", "a"), "> a");
  assert.is(one("$", ";", "a"), "a;");
});

test("lines are what stands between line ends, without a carriage return; the final line end stays", () => {
  assert.is(replaceLines("a \r\nb\r\n\nc", [lineProcessor(" +$", "").rule]), "a\nb\n\nc");
  assert.is(replaceLines("a\n", [lineProcessor("a", "b").rule]), "b\n");
  assert.is(replaceLines("a\n\n", [lineProcessor("^$", "#").rule]), "a\n#\n");
  assert.is(replaceLines("", [lineProcessor("^$", "#").rule]), "");
  assert.is(replaceLines("ab\nba\n", [lineProcessor("^a", "b").rule, lineProcessor("^bb$", "c").rule]), "c\nba\n");
});

test("fast paths give what the engine of regular expressions gives", () => {
  const classes = [" ", "[ ]", "\\t", "[ \\t]", "\\s", "[[:space:]]", "[[:blank:]]"];
  const borders = classes.flatMap((set) =>
    ["+", "*"].flatMap((times) => [`^${set}${times}`, `${set}${times}$`, `^${set}${times}$`, `(?m)^${set}${times}$`]),
  );
  const line = fc.string({ unit: fc.constantFrom(" ", "\t", "a", ".", "$", "\v", "\f"), maxLength: 8 });
  fc.assert(
    fc.property(
      fc.constantFrom(...borders, "^$", "a", "a\\.", "\\$"),
      line,
      fc.constantFrom("", "  ", "x"),
      (pattern, subject, to) => {
        // A group around it changes nothing but that no fast path knows the pattern.
        const slow = lineProcessor(`(?:${pattern})`, `${to}\${none}`).rule(subject);
        assert.is(lineProcessor(pattern, to).rule(subject), slow, JSON.stringify({ pattern, subject, to }));
      },
    ),
    { numRuns: 2000 },
  );
  assert.is(lineProcessor("[ \\t]+$", "").blanksOnly, true);
  assert.is(lineProcessor("[ \\t]+$", "x").blanksOnly, false);
  assert.is(lineProcessor("a", "").blanksOnly, false);
  assert.ok(RE2JS.compile("a"));
});

test("text is cut at section headers only", () => {
  const text = "# head\nglobal\n  log x\nbackend a\n  server s 1\nbackends b\n backend c\nlisten d\n";
  const cut = cutSections(text);
  assert.is(cut.head, "# head\n");
  assert.equal(cut.whole(text), ["global\n  log x\n", "backend a\n  server s 1\nbackends b\n backend c\n"]);
  assert.is(cut.last, "listen d\n");
  assert.equal(cutSections("  a\n  b\n").head, "  a\n  b\n");
  assert.equal(cutSections("").head, "");
});

test("processors run one after another, on haproxy.cfg a template section by section, on other files whole", async () => {
  const on = world();
  on.put("services", target("n", "s"));
  on.put("endpoints", slice("n", "e", "s", ["10.0.0.1"]));
  on.put("routes", route("n", "r", "a.example", "s"));
  const more = processed({
    "haproxy.cfg": [
      regex("timeout (\\w+) 10s", "timeout $1 20s"),
      source('{% if hasPrefix(input, "backend ") %}# {{ len(split(input, "\\n")) - 1 }} lines\n{% end %}{{ input }}'),
      regex("^    ", "\t"),
    ],
    "map:names.map": [source("{{ toUpper(input) }}")],
    "file:error.http": [regex("sorry", "later")],
  });
  const plan = await planOf(service(undefined, more), on);
  const cfg = text(plan, "haproxy.cfg")!;
  assert.match(cfg, "\ttimeout client 20s\n");
  assert.match(cfg, /# \d lines\nbackend none from base\n\thttp-request/);
  assert.match(cfg, /# 2 lines\nbackend n_s from haptic-be-\w+\n\tserver e-0 10\.0\.0\.1:8080\n/);
  assert.is(text(plan, "maps/names.map"), "R S\n");
  assert.is(text(plan, "general/error.http"), "HTTP/1.0 503 Unavailable\n\nlater\n");
});

test("a backend that comes out with another meaning is changed by reloads only; changed blanks leave it dynamic", async () => {
  const on = world();
  on.put("services", target("n", "s"));
  on.put("endpoints", slice("n", "e", "s", ["10.0.0.1"]));
  on.put("routes", route("n", "r", "a.example", "s"));
  const verdict = async (...list: ProcessorSpec[]): Promise<string> => {
    const rendering = service(undefined, processed({ "haproxy.cfg": list }));
    on.put("endpoints", slice("n", "e", "s", ["10.0.0.1"]));
    const before = await planOf(rendering, on);
    on.put("endpoints", slice("n", "e", "s", ["10.0.0.2"]));
    return diffPlans(await planOf(rendering, on), before, { haproxyVersion: "3.4.7", agentOps: OPS }).verdict;
  };
  assert.is(await verdict(), "runtime");
  assert.is(await verdict(regex("^ +", "\t")), "runtime");
  assert.is(
    await verdict(regex("timeout client 10s", "timeout client 11s")),
    "runtime",
    "another section is processed",
  );
  assert.is(await verdict(regex("(server .*)$", "$1 check")), "reload");
  assert.is(await verdict(source('{{ replace(input, ":8080", ":8081") }}')), "reload");
});

test("other processors are a reason to reload, other rules for blanks only other files", async () => {
  const on = world();
  on.put("routes", route("n", "r", "a.example", "s"));
  const plan = (...list: ProcessorSpec[]): Promise<RenderPlan> =>
    planOf(service(undefined, processed({ "haproxy.cfg": list })), on);
  const between = async (after: ProcessorSpec, before: ProcessorSpec) =>
    diffPlans(await plan(after), await plan(before), { haproxyVersion: "3.4.7", agentOps: OPS });
  assert.is((await between(regex("^ +", "\t"), regex("^ +", "  "))).verdict, "file_only");
  const { verdict, reasons } = await between(regex("10s", "11s"), regex("10s", "12s"));
  assert.is(verdict, "reload");
  assert.match(reasons.join(), "postProcessing of haproxy.cfg");
});

test("what cannot be compiled is told by object, field, index and place", () => {
  const more = processed({
    "haproxy.cfg": [
      regex("a(?=b)", ""),
      { type: "regex_replace", params: { pattern: "a" } },
      source("{{ inptu }}"),
      { type: "sed", params: { script: "s/a/b/" } },
      source("{% for %}"),
    ],
  });
  const all = { ...options(undefined, more) };
  const origin = {
    object: "HAProxyTemplateConfig ns/c",
    field: "spec.haproxyConfig.template",
    file: "c.yaml",
    line: 9,
  };
  const { problems } = createRenderService({
    ...all,
    sources: all.sources.map((each) =>
      each.name === "haproxy.cfg"
        ? {
            ...each,
            origin,
            processors: [{ pattern: { file: "c.yaml", line: 70 } }, {}, { source: { file: "c.yaml", line: 75 } }],
          }
        : each,
    ),
  });
  const found = problems.map((problem) => problem.text).join("\n");
  for (const part of [
    "c.yaml:70: HAProxyTemplateConfig ns/c: spec.haproxyConfig.postProcessing[0].params.pattern: invalid regular expression",
    "postProcessing[1]: regex_replace has no replace",
    "undefined: inptu",
    "postProcessing[2].params.source",
    "c.yaml:75",
    'postProcessing[3]: "sed" is no processor',
    "postProcessing[4].params.source",
  ])
    assert.ok(found.includes(part), `${part}\n${found}`);
});

test("a template that fails on the text is a problem with its place, and the next good text a result", async () => {
  const on = world();
  on.put("routes", route("n", "bad", "a.example", "s"));
  const rendering = service(
    undefined,
    processed({
      "map:names.map": [source('{% if input contains "bad" %}{% fail("bad is there") %}{% end %}{{ input }}')],
    }),
  );
  const { result, problems } = await render(rendering, on);
  assert.is(result, undefined);
  assert.is(problems.length, 1);
  assert.is(problems[0]!.template, "map:names.map postProcessing[0]");
  assert.match(problems[0]!.message, "bad is there");
  on.put("routes", route("n", "other", "b.example", "s"));
  assert.is((await render(rendering, on)).problems.length, 1, "still");
  on.drop("routes", "n", "bad");
  assert.is(text(await planOf(rendering, on), "maps/names.map"), "other s\n");
});

test("a change of one object processes its own block anew, and no other", async () => {
  const on = world();
  for (let i = 0; i < 600; i++) {
    on.put("services", target("n", `s${i}`));
    on.put("routes", route("n", `r${i}`, `h${i}.example`, `s${i}`));
  }
  const rendering = service(
    undefined,
    processed({ "haproxy.cfg": [regex("route", "Route"), source('{{ replace(input, "Route", "The route") }}')] }),
  );
  const before = (await planOf(rendering, on)).files.get("haproxy.cfg")!;
  on.put("services", target("n", "s300", "leastconn"));
  const after = (await planOf(rendering, on)).files.get("haproxy.cfg")!;
  const kept = after.blocks.filter((block) => before.blocks.includes(block));
  assert.ok(before.blocks.length >= 4, `${before.blocks.length} blocks`);
  assert.ok(
    kept.length >= after.blocks.length - 4,
    `${kept.length} of ${after.blocks.length} blocks stay the same object`,
  );
  assert.match(joinBlocks(after.blocks).toString(), "# The route r300\n");
});

test("incremental equals full with processors, after any sequence of changes", async () => {
  const namespace = fc.constantFrom("n1", "n2");
  const small = (prefix: string) => fc.integer({ min: 0, max: 3 }).map((i) => `${prefix}${i}`);
  const change = fc.oneof(
    fc.record({ what: fc.constant("route" as const), namespace, name: small("r"), to: small("s"), gone: fc.boolean() }),
    fc.record({
      what: fc.constant("endpoint" as const),
      namespace,
      name: small("e"),
      to: small("s"),
      gone: fc.boolean(),
    }),
  );
  const rule = fc.constantFrom(
    regex("[ \\t]+$", ""),
    regex("^ +", "\t"),
    regex("server (\\S+)", "server x-$1 # é"),
    regex("^# .*$", "a\nbackend zzz"),
    regex("backend", "\n"),
    source('{{ replace(input, "n1", "n1\\nlisten here\\n") }}'),
    source("{{ len(input) }} {{ trimSpace(input) }}"),
    source('{% if input contains "r1" %}{{ input }}{% end %}'),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(change, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 8 }),
      fc.array(rule, { minLength: 1, maxLength: 3 }),
      fc.array(rule, { maxLength: 2 }),
      fc.constantFrom(1, 300),
      async (steps, config, map, filler) => {
        const on = world();
        // Enough text for several blocks, so that sections reach over borders.
        for (let i = 0; i < filler; i++) on.put("routes", route("n3", `filler-${i}`, `f${i}.example`, `s${i % 7}`));
        const more = processed({ "haproxy.cfg": config, "map:names.map": map, "map:host.map": map });
        const rendering = service(undefined, more);
        for (const changes of steps) {
          for (const each of changes) {
            const alias = each.what === "route" ? "routes" : "endpoints";
            if (each.gone) on.drop(alias, each.namespace, each.name);
            else if (alias === "routes")
              on.put(alias, route(each.namespace, each.name, `${each.name}.example`, each.to));
            else on.put(alias, slice(each.namespace, each.name, each.to, ["10.0.0.1", "10.0.0.2"]));
          }
          const warm = await planOf(rendering, on);
          const fresh = await planOf(service(undefined, more), on);
          assert.equal(texts(warm), texts(fresh));
          assert.is(warm.id, fresh.id);
        }
      },
    ),
    { numRuns: 25 },
  );
});

test("a render that is abandoned while text is processed leaves nothing wrong behind", async () => {
  const on = world();
  for (let i = 0; i < 50; i++) on.put("routes", route("n", `r${i}`, `h${i}.example`, `s${i}`));
  const more = processed({ "haproxy.cfg": [source("{{ input }}# {{ len(input) }}\n")] });
  const stop = new AbortController();
  let pauses = 0;
  const rendering = service(undefined, {
    ...more,
    sliceMs: 0,
    pause: async () => {
      if (++pauses === 120) stop.abort(new Error("given up"));
    },
  });
  await rendering.render(context(on), stop.signal).catch(() => undefined);
  assert.ok(stop.signal.aborted);
  const { result } = await rendering.render(context(on), never);
  assert.equal(texts(result!.plan), texts(await planOf(service(undefined, more), on)));
});

test.run();
