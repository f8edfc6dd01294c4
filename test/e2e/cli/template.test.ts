// runner: beside
import { test } from "uvu";
import * as assert from "uvu/assert";
import { join } from "node:path";
import { Folder } from "./harness.ts";

const folder = new Folder().write({
  "values.yaml": "name: world\nroutes:\n  - {host: a.example, port: 80}\n  - {host: b.example, port: 443}\n",
  "more.json": '{"name": "you"}',
  "t/main.tmpl":
    '{% import "lib.tmpl" for Line %}{% for _, r := range routes %}{{ Line(r) }}\n{% end %}{{ render_glob "part-*" }}',
  "t/lib.tmpl": "{% macro Line(r any) string %}{{ r.host }}:{{ r.port }}{% end %}",
  "t/part-a.tmpl": "part of {{ name }}\n",
  "bad.tmpl": "one\ntwo {{ nmae }}\n{% for %}\n",
  "fails.tmpl": 'a\n{{ name }}\n{% if name == "world" %}{% fail("no " + name) %}{% end %}\n',
  "broken.yaml": "a: [1\nb: 2\n",
  "list.yaml": "- a\n",
  "names.yaml": "a-b: 1\n",
  "routes.yaml":
    "route: &route {apiVersion: demo.example.com/v1, kind: Route, spec: {host: a.example}}\nall: [*route, *route]\n",
});
test.after(() => folder.remove());

test("an expression is printed on a line", async () => {
  assert.equal(await folder.haptic(["template", "-e", "1 + 2 * 3"]), { code: 0, out: "7\n", err: "" });
  const { out } = await folder.haptic(["template", "-e", '"hello " + name | toUpper()', "--values", "values.yaml"]);
  assert.is(out, "HELLO WORLD\n");
});

test("later values win, and constructor is no name of the machine", async () => {
  const { out } = await folder.haptic(["template", "-e", "name", "--values", "values.yaml", "--values", "more.json"]);
  assert.is(out, "you\n");
  const hostile = await folder.haptic(["template", "-e", "constructor"]);
  assert.is(hostile.code, 1);
  assert.match(hostile.err, "undefined: constructor");
});

test("fields of values that are resources are checked by --schema-dir", async () => {
  const crd = join(import.meta.dirname, "../../../examples/custom-resource/crd.yaml");
  const flags = ["--values", "routes.yaml", "--schema-dir", crd];
  const well = await folder.haptic([
    "template",
    "-e",
    "route.Spec.Host + all[1].spec.host + route.spec.path",
    ...flags,
  ]);
  assert.equal(well, { code: 0, out: "a.examplea.example\n", err: "" });
  for (const expression of ["route.spec.hots", "all[0].spec.hots"]) {
    const { code, err } = await folder.haptic(["template", "-e", expression, ...flags]);
    assert.is(code, 1);
    assert.match(err, /has no field hots\n[^]*did you mean "host"\?/);
  }
  assert.is((await folder.haptic(["template", "-e", "route.spec.hots", "--values", "routes.yaml"])).out, "\n");
});

test("a file is rendered as it is, with the others there for render and import", async () => {
  const files = ["t/main.tmpl", "t/lib.tmpl", "t/part-a.tmpl"].flatMap((name) => ["-f", name]);
  const { code, out, err } = await folder.haptic(["template", ...files, "--values", "values.yaml"]);
  assert.is(err, "");
  assert.is(out, "a.example:80\nb.example:443\npart of world\n");
  assert.is(code, 0);
});

test("standard input is a file too", async () => {
  const { out } = await folder.haptic(["template", "-f", "-", "--values", "values.yaml"], "hi {{ name }}");
  assert.is(out, "hi world");
});

test("all errors of a template are told with file, line, column and caret; the exit code is 1", async () => {
  const { code, out, err } = await folder.haptic(["template", "-f", "bad.tmpl", "--values", "values.yaml"]);
  assert.is(code, 1);
  assert.is(out, "");
  assert.match(err, "bad.tmpl:3:");
  assert.match(err, "^");
});

test("errors as JSON name file and line", async () => {
  const { code, out } = await folder.haptic(["template", "-f", "fails.tmpl", "--values", "values.yaml", "-o", "json"]);
  assert.is(code, 1);
  const { ok, problems } = JSON.parse(out) as { ok: boolean; problems: Record<string, unknown>[] };
  assert.is(ok, false);
  assert.is(problems.length, 1);
  const { code: kind, file, fileLine, line, message } = problems[0]!;
  assert.equal(
    { kind, file, fileLine, line, message },
    { kind: "HAPTIC_E_TEMPLATE_RUN", file: "fails.tmpl", fileLine: 3, line: 3, message: "no world" },
  );
});

test("--check finds what is wrong without running anything", async () => {
  assert.equal(await folder.haptic(["template", "-f", "fails.tmpl", "--values", "values.yaml", "--check"]), {
    code: 0,
    out: "",
    err: "",
  });
  assert.is((await folder.haptic(["template", "-f", "bad.tmpl", "--check"])).code, 1);
});

test("--emit shows the JavaScript", async () => {
  const { code, out } = await folder.haptic(["template", "-e", "1 + 1", "--emit"]);
  assert.is(code, 0);
  assert.match(out, "// root:expression\n");
  assert.match(out, "function*");
});

test("values that cannot be used are told by file and line", async () => {
  const broken = await folder.haptic(["template", "-e", "1", "--values", "broken.yaml"]);
  assert.is(broken.code, 1);
  assert.match(broken.err, /^broken\.yaml:2: YAML: /);
  assert.match(
    (await folder.haptic(["template", "-e", "1", "--values", "list.yaml"])).err,
    "list.yaml:1: holds no map",
  );
  assert.match((await folder.haptic(["template", "-e", "1", "--values", "names.yaml"])).err, 'the key "a-b" cannot be');
  const missing = await folder.haptic(["template", "-e", "1", "--values", "none.yaml"]);
  assert.is(missing.code, 1);
  assert.match(missing.err, /^none\.yaml: cannot be read: /);
});

test("a wrong command line has exit code 2 and names the flag", async () => {
  for (const [args, message] of [
    [[], "give either -e EXPRESSION or -f FILE"],
    [["-e", "1", "-f", "bad.tmpl"], "give either"],
    [["-e", "1", "-o", "xml"], "-o"],
    [["-e", "1", "--vaules", "x"], "--vaules"],
  ] as const) {
    const { code, err } = await folder.haptic(["template", ...args]);
    assert.is(code, 2, args.join(" "));
    assert.match(err, message);
    assert.match(err, "HAPTIC_E_USAGE");
  }
});

test("the help names every flag", async () => {
  const { code, out } = await folder.haptic(["help", "template"]);
  assert.is(code, 0);
  for (const flag of ["-e", "-f", "--values", "--check", "--emit", "-o"]) assert.match(out, flag);
});

test.run();
