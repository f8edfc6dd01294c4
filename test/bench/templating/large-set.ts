/** A set of 10,000 lines: hundreds of snippets that use what libraries use, made by number. */
import type { TemplateSource } from "../../../src/templating/index.ts";

const SNIPPETS = 400;

const snippet = (n: number): string => `{%- import "util-${n % 8}" for Annotation, Flag -%}
{#- snippet ${n}: options of a backend -#}
{% for _, route := range resources.routes.List() %}
{% var name${n} = tostring(route.metadata.namespace) + "_" + tostring(route.metadata.name) %}
{% if Annotation(route, "option-${n}") != "" and first_seen("option-${n}", name${n}) %}
{% options := map[string]any{"check": Flag(route, "check") != "", "number": ${n}} %}
{% parts := split(Annotation(route, "option-${n}"), ",") %}
{% for i, part := range parts %}
{% switch trimSpace(part) %}
{% case "on", "true" %}
    option http-server-close # ${n}.{{ i }}
{% case "off" %}
    no option http-server-close
{% default %}
{% key := toLower(part) | replace("_", "-") %}
    http-request set-header X-{{ key | title() }} "{{ part | trim("\\"") }}"
{% end switch %}
{% else %}
    # nothing for {{ name${n} }}
{% end for %}
{% if weight := route | dig("spec", "weights", "w${n}") | fallback(${n % 256}) | toint(); weight > 0 and weight <= 256 %}
    server s${n} 127.0.0.1:{{ 1024 + weight * 2 }} weight {{ weight }}{% if options["check"] == true %} check{% end %}
{% end if %}
{% end if %}
{% end for %}
`;

const util = (
  n: number,
): string => `{% macro Annotation(item any, name string) string %}{{ item | dig("metadata", "annotations", "example.org/" + name) | fallback("") }}{% end %}
{% macro Flag(item any, name string) string -%}
  {%- if regex_search(Annotation(item, name), \`^(true|yes|on|${n})$\`) %}yes{% end -%}
{%- end %}
`;

export function largeSet(): TemplateSource[] {
  const sources: TemplateSource[] = [
    { name: "haproxy.cfg", text: 'global\n    maxconn 1\n{{ render_glob "options-*" }}\n' },
  ];
  for (let n = 0; n < 8; n++) sources.push({ name: `util-${n}`, text: util(n) });
  for (let n = 0; n < SNIPPETS; n++) sources.push({ name: `options-${String(n).padStart(3, "0")}`, text: snippet(n) });
  return sources;
}

/** The bodies of 320 of the snippets in one loop of one template: some 8,000 lines, with all that they import. */
export function longTemplate(): TemplateSource[] {
  const bodies = Array.from({ length: 320 }, (_, n) => snippet(n).replace(/^.*import.*\n/, ""));
  const head = '{%- import "util-0" for Annotation, Flag -%}\n{% for _, outer := range resources.routes.List() %}\n';
  return [
    { name: "haproxy.cfg", text: `${head}${bodies.join("\n")}{% end for %}\n` },
    { name: "util-0", text: util(0) },
  ];
}
