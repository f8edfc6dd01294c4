import { test } from "uvu";
import * as assert from "uvu/assert";
import { globMatches } from "../../../../src/templating/runtime/glob.ts";
import { render } from "../engine.ts";

const data = { a: 12, b: 10, f: 1.5, s: "x", list: [3, 1, null, 2], deep: { "a.b": [{ c: 1 }, { c: 2 }] } };

const cases: readonly (readonly [expression: string, output: string])[] = [
  ["a & b", "8"],
  ["a | b", "14"],
  ["a ^ b", "6"],
  ["a &^ b", "4"],
  ["a << 3", "96"],
  ["a >> 2", "3"],
  ["-a", "-12"],
  ["^a", "-13"],
  ["a * b", "120"],
  ["f / 2", "0.75"],
  ["f - 1", "0.5"],
  ['sprintf("%5d|%-5d|%+d|%x|%X|%o|%b|%c", a, a, a, a, a, a, a, 65)', "   12|12   |+12|c|C|14|1100|A"],
  ['sprintf("%s %v %t %T %q %%", s, list, true, s, s)', 'x [3 1 <nil> 2] true string "x" %'],
  ['sprintf("%6.2f|%e|%g|%.3s", f, f, f, "abcdef")', "  1.50|1.500000e+00|1.5|abc"],
  ['sprintf("%d %s", s)', "%!d(string=x) %!s(MISSING)"],
  ['sprintf("a", 1)', "a%!(EXTRA int=1)"],
  ['sprintf("%#x", 255)', "0xff"],
  [
    'cidr_partition([]string{"2001:db8::/127", "2001:db8::1"}) | toJSON()',
    '{"2001:db8::/127":["2001:db8::/128","2001:db8::1/128"],"2001:db8::1":["2001:db8::1/128"]}',
  ],
  ['cidr_partition([]string{"::ffff:10.0.0.1"}) | toJSON()', '{"::ffff:10.0.0.1":["::ffff:a00:1/128"]}'],
  [
    'cidr_partition([]string{"10.1.2.3/8", "11.0.0.0/8"}) | toJSON()',
    '{"10.1.2.3/8":["10.0.0.0/8"],"11.0.0.0/8":["11.0.0.0/8"]}',
  ],
  ['sort_by(list, "$") | toJSON()', "[1,2,3,null]"],
  ['sort_by(list, "$:desc") | toJSON()', "[null,3,2,1]"],
  ["sort_by(list, func(x any, y any) any { return toint(x) > toint(y) }) | toJSON()", "[3,2,1,null]"],
  ['jsonpathGet(deep, "$[\'a.b\'][*].c") | join(",")', "1,2"],
  ['jsonpathGet(deep, "{.a\\\\.b[1].c}")', "2"],
  ['jsonpathGet(deep, "x[0].y") | isNil()', "true"],
  ['indent("a\\n \\nb", 2, true, true)', "  a\n   \n  b"],
  ['title("don\'t STOP me")', "Don't Stop Me"],
  ['make_guid("a" , "b") ', "a:b"],
  ['len(make_guid(indent("x", 200, true)))', "127"],
  ['toint("9223372036854775807") > 0', "true"],
  ['toint("9223372036854775808")', "0"],
  ['toint(" 5")', "0"],
  ['toint("+5")', "5"],
  ["toint(list)", "0"],
  ['regex_search("a\\nB", "(?im)^b$")', "true"],
  ['regex_search("abc", "^abc$")', "true"],
  ['regex_search("abc", "bc$")', "true"],
  ['regex_search("a.c", "a\\\\.c")', "true"],
  ['regex_search("é", "^[[:^ascii:]]$")', "true"],
  ['semver_gte("v3.4-dev1", "3.4")', "true"],
  ['semver_gte("", "3.4")', "false"],
  ['replace("aaa", "", "-")', "-a-a-a-"],
  ['split("é1", "") | join("|")', "é|1"],
  ['splitN("a,b", ",", 0) | len()', "0"],
  ['toSlice("x") | len()', "0"],
  ["keys(nil) | len()", "0"],
  ['unique([]any{1, "1", 1, nil, nil, []any{1}, []any{1}}) | toJSON()', '[1,"1",null,[1]]'],
  ['glob_match(nil, "*") | len()', "0"],
  ['selectattr([]any{nil, map[string]any{"a": 1}}, "a", "ne", "2") | len()', "1"],
  ["group_by([]any{1, 2, 3}, x => toint(x) % 2) | toJSON()", '{"0":[2],"1":[1,3]}'],
  ["shard_slice([]any{1,2,3}, 5, 2) | len()", "3"],
  ['parse_yaml("- {a: ~, b: 0x10, c: yes}") | toJSON()', '[{"a":null,"b":16,"c":"yes"}]'],
  ["toJSON(map[int]any{2: 1, 10: nil})", '{"2":1,"10":null}'],
  ["debug(nil)", "# DEBUG:\n# null\n"],
  ["tostring(1e21)", "1000000000000000000000"],
  ['basename("/a/b/")', "b"],
  ['basename("/")', "/"],
  ['abbreviate("abc", 2)', ""],
  ['trim("éaé", "é")', "a"],
  ["min(2, 1.5)", "1.5"],
  ["seq(-1) | len()", "0"],
];
for (const [expression, output] of cases) {
  test(`${expression} is ${JSON.stringify(output)}`, () => {
    assert.is(render(`{{ ${expression} }}`, { data }), output);
  });
}

const failures: readonly (readonly [expression: string, message: RegExp])[] = [
  ["a << -1", /negative shift/],
  ["s - 1", /operator - not defined on string and int/],
  ["f % 2", /operator % not defined/],
  ["abs(s)", /abs: string is not a number/],
  ["seq(100000000)", /too many/],
  ['tofloat("x")', /"x" is not a number/],
  ['sort_ints(list) | join("")', /nil is not a number/],
  ['cidr_partition([]string{"x"}) | toJSON()', /not an address/],
  ['cidr_partition([]string{"1.2.3.4/33"}) | toJSON()', /wrong prefix/],
  ['glob_match([]any{1}, "*") | join("")', /neither a string nor a map/],
  ['glob_match([]any{"a"}, "[") | join("")', /syntax error in pattern/],
  ['selectattr(list, "a", "xx", 1) | join("")', /unknown test/],
  ['jsonpathGet(deep, "$.a[")', /cannot read path/],
  ['semver_gte("1", "x")', /not a version/],
  ['toStringSlice([]any{list}) | join("")', /cannot make text/],
  ["merge(list, nil) | toJSON()", /must be maps/],
  ['parse_yaml("a: 1\\n---\\nb: 2") | toJSON()', /more than one document/],
  ['parse_yaml("a: [") | toJSON()', /parse_yaml/],
  ['indent("a", -1)', /negative/],
  ['map(list, toLower) | join("")', /type int as string/],
  ['map(list, hasPrefix) | join("")', /takes 2 arguments/],
  ['map(list, x => toJSON(toLower)) | join("")', /toJSON: unsupported type func/],
  ["int(s)", /cannot convert string to int/],
  ['"é"[9]', /index out of range \[9\] with length 2/],
];
for (const [expression, message] of failures) {
  test(`${expression} fails: ${message.source}`, () => {
    assert.throws(
      () => render(expression.startsWith("seq") ? `{{ len(${expression}) }}` : `{{ ${expression} }}`, { data }),
      (error: Error) => message.test(error.message),
    );
  });
}

const globs: readonly (readonly [pattern: string, names: string, matched: string])[] = [
  ["*", "a b/c", "a"],
  ["a*c", "abc ac a/c abcd", "abc ac"],
  ["?", "a é ab", "a é"],
  ["[a-c]x", "ax cx dx", "ax cx"],
  ["[^a]x", "ax bx", "bx"],
  ["\\*", "* a", "*"],
  ["*a*b", "xaxb xaxbx aab", "xaxb aab"],
  ["a/*", "a/b a/b/c", "a/b"],
  ["[\\]]", "] a", "]"],
];
for (const [pattern, names, matched] of globs) {
  test(`the pattern ${pattern} matches ${matched} of ${names}`, () => {
    assert.equal(globMatches(pattern, names.split(" ")), matched.split(" "));
  });
}
test("malformed patterns are told apart", () => {
  for (const pattern of ["[", "[]", "[a", "[a-", "a\\", "[-a]"])
    assert.is(globMatches(pattern, ["a"]), undefined, pattern);
});

test.run();
