import { generateKeyPairSync } from "node:crypto";
import { gzipSync } from "node:zlib";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { bytesOfText, textOfBytes } from "../../../../src/templating/runtime/bytes.ts";
import { compile, problems, render, run } from "../engine.ts";

const environment = { now: Date.UTC(2026, 10, 30, 7, 55, 1, 250) };
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = (
  key: { export(options: { type: "spki" | "pkcs1"; format: "pem" }): string | Buffer },
  type: "spki" | "pkcs1" = "spki",
): string => String(key.export({ type, format: "pem" }));

interface Entry {
  readonly name: string;
  readonly body?: string;
  readonly type?: string;
}

/** A tar archive, packed. */
function archive(entries: readonly Entry[], end = true): string {
  const blocks: Buffer[] = [];
  for (const { name, body = "", type = "0" } of entries) {
    const header = Buffer.alloc(512);
    header.write(name, 0, 100);
    header.write("0000644\0", 100);
    header.write(`${Buffer.byteLength(body).toString(8).padStart(11, "0")}\0`, 124);
    header.write("        ", 148);
    header.write(type, 156);
    header.write("ustar\0", 257);
    header.write(
      `${header
        .reduce((a, b) => a + b, 0)
        .toString(8)
        .padStart(6, "0")}\0 `,
      148,
    );
    const content = Buffer.alloc(Math.ceil(Buffer.byteLength(body) / 512) * 512);
    content.write(body);
    blocks.push(header, content);
  }
  if (end) blocks.push(Buffer.alloc(1024));
  return textOfBytes(gzipSync(Buffer.concat(blocks)));
}

const record = (key: string, value: string): string => {
  const rest = ` ${key}=${value}\n`;
  const length = rest.length + String(rest.length + 2).length;
  return `${length}${rest}`;
};

const data = {
  nan: NaN,
  binary: textOfBytes(Buffer.from([0xff, 0x00, 0xc3])),
  rsa: pem(rsa.publicKey),
  pkcs1: pem(rsa.publicKey, "pkcs1"),
  ec: pem(ec.publicKey),
  private: String(rsa.privateKey.export({ type: "pkcs8", format: "pem" })),
  conditions: [
    { type: "A", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" },
    { type: "B", status: "True" },
  ],
  long: archive([
    { name: "PaxHeader", type: "x", body: record("path", "a/very/long/name") },
    { name: "short", body: "1" },
  ]),
  gnu: archive([
    { name: "././@LongLink", type: "L", body: "x/from-gnu\0" },
    { name: "short", body: "2" },
    { name: "dir/", type: "5" },
  ]),
  climbing: archive([{ name: "../up", body: "1" }]),
  rooted: archive([{ name: "/etc/passwd", body: "1" }]),
  link: archive([{ name: "l", type: "2" }]),
  many: archive(Array.from({ length: 4097 }, (_, i) => ({ name: `f${i}` }))),
  big: archive([{ name: "big", body: "x".repeat(8 * 1024 * 1024 + 1) }]),
  heavy: archive(Array.from({ length: 5 }, (_, i) => ({ name: `f${i}`, body: "x".repeat(7 * 1024 * 1024) }))),
  bomb: textOfBytes(gzipSync(Buffer.alloc(65 * 1024 * 1024))),
  cut: archive([{ name: "a", body: "1" }], false),
  noise: textOfBytes(gzipSync(Buffer.alloc(1024, 1))),
};

const cases: readonly (readonly [expression: string, output: string])[] = [
  ['date(2026, 14, 1, 0, 0, 0, 0, "UTC").Format("2006-01-02")', "2027-02-01"],
  ['date(2026, 3, 29, 3, 30, 0, 0, "Europe/Rome").UTC().Format("15:04 MST")', "01:30 UTC"],
  [
    'date(2026, 1, 2, 3, 4, 5, 60, "").Format("Monday Jan _2 3:04:05.000000000 PM 06 -0700 Z07:00 002 __2")',
    "Friday Jan  2 3:04:05.000000060 AM 26 +0000 Z 002   2",
  ],
  ['date(2026, 1, 2, 15, 0, 0, 0, "America/New_York").Format("3pm Z07:00 -07 -070000")', "3pm -05:00 -05 -050000"],
  ['parseTime("2006-01-02T15:04:05Z07:00", "2026-02-28T23:59:59.5+02:00")', "2026-02-28 23:59:59.5 +0200 +02:00"],
  ['parseTime("Jan 2, 2006 at 3:04pm (MST)", "Feb 3, 2013 at 7:54pm (PST)").Unix()', "1359921240"],
  ['parseTime("", "2026-01-01").AddDate(0, 1, 30).Format("01-02")', "03-03"],
  ['date(2026, 1, 1, 0, 0, 0, 0, "").Sub(date(2025, 12, 31, 22, 30, 0, 0, "")).String()', "1h30m0s"],
  ['date(2026, 1, 1, 0, 0, 0, 0, "").Add(parseDuration("36h")).Weekday()', "Friday"],
  ['date(2026, 1, 1, 12, 44, 31, 0, "").Truncate(parseDuration("1h")).Format("15:04")', "12:00"],
  ['date(2026, 1, 1, 12, 44, 31, 0, "").Round(parseDuration("1h")).Format("15:04")', "13:00"],
  ["unixTime(0, 0).Before(now())", "true"],
  ["unixTime(5, 7).UnixNano()", "5000000007"],
  ["now().Nanosecond()", "250000000"],
  ['date(1, 1, 1, 0, 0, 0, 0, "").IsZero()', "true"],
  ['parseDuration("-1.5h").String()', "-1h30m0s"],
  ['parseDuration("90s").Round(parseDuration("1m"))', "2m0s"],
  ['parseDuration("1h2m3.5s").Truncate(parseDuration("1m")).Minutes()', "62"],
  ['parseDuration("100us")', "100µs"],
  ['parseDuration("0")', "0s"],
  ['regexp("a*").ReplaceAll("baac", "-")', "-b-c-"],
  ['regexp("(?P<x>b)").ReplaceAll("abc", "[${x}$1$$$y]")', "a[bb$]c"],
  ['regexp("a").Split("banana", -1) | join("|")', "b|n|n|"],
  ['regexp("a").Split("banana", 2) | join("|")', "b|nana"],
  ['regexp("x*").Split("axbxc", -1) | join("|")', "a|b|c"],
  ['regexp("z").FindSubmatch("abc") == nil', "true"],
  ['regexp("(a)(x)?").FindSubmatch("ba") | join("|")', "a|a|"],
  ['len(regexp("a").FindAllSubmatch("aaa", 2))', "2"],
  ['regexp("[a-c]").ReplaceAllFunc("abcd", func(s string) string { return toUpper(s) })', "ABCd"],
  ['regexp("a|b")', "a|b"],
  ['jsonpathSet(nil, "$.a.b", 1) | toJSON()', '{"a":{"b":1}}'],
  ['jsonpathSet([]any{1}, "[1]", 2) | toJSON()', "[1,2]"],
  [
    'jsonpathSet(map[string]any{"a": []any{map[string]any{}, map[string]any{"x": 1}}}, "a[*].x", 5) | toJSON()',
    '{"a":[{"x":5},{"x":5}]}',
  ],
  ['jsonpathSet(map[string]any{"a": 1}, "[\'__proto__\'].x", 5) | toJSON()', '{"__proto__":{"x":5},"a":1}'],
  ['public_key_info(rsa).algorithm + " " + public_key_info(rsa).bits + public_key_info(rsa).curve', "RSA 2048"],
  ["public_key_info(pkcs1).pem == rsa", "true"],
  [
    'public_key_info(ec).algorithm + " " + public_key_info(ec).bits + " " + public_key_info(ec).curve',
    "ECDSA 256 P-256",
  ],
  ["untar_gz(long) | toJSON()", '{"a/very/long/name":"1"}'],
  ["untar_gz(gnu) | toJSON()", '{"x/from-gnu":"2"}'],
  ["b64encode(binary)", "/wDD"],
  ['b64decode("/wDD") == binary', "true"],
  ["hex(binary) + len(binary)", "ff00c33"],
  ['marshalJSON("a<b>&\\u2028")', '"a\\u003cb\\u003e\\u0026\\u2028"'],
  ['marshalJSONIndent(map[string]any{"a": 1}, "  ", "\\t")', '{\n  \t"a": 1\n  }'],
  ['marshalJSONIndent([]any{1}, "", "")', "[\n1\n]"],
  ['marshalYAML("a: b")', '"a: b"\n'],
  ["formatInt(-255, 2)", "-11111111"],
  ['formatFloat(0.000001, "g", -1)', "1e-06"],
  ['formatFloat(123456789.0, "g", 3)', "1.23e+08"],
  ['formatFloat(100, "f", -1)', "100"],
  ['formatFloat(1.0, "e", 2)', "1.00e+00"],
  ['formatFloat(nan, "f", 2)', "NaN"],
  ['parseInt("-9223372036854775808", 10)', "-9223372036854775808"],
  ['parseInt("9007199254740993", 10)', "9007199254740993"],
  ['toint("9007199254740993") + 1', "9007199254740994"],
  ['sort([]any{10, 9, 9007199254740993}, nil) | join(",")', "9,10,9007199254740993"],
  ["max(9007199254740993, 1)", "9007199254740993"],
  [
    'transitionTime(conditions, "A", "True") + " " + transitionTime(conditions, "B", "True") + " " + transitionTime(nil, "A", "True")',
    "2026-01-01T00:00:00Z 2026-11-30T07:55:01Z 2026-11-30T07:55:01Z",
  ],
  [
    'condition("A", "Unknown", "R", "", nil, "") | toJSON()',
    '{"lastTransitionTime":"","message":"","reason":"R","status":"Unknown","type":"A"}',
  ],
  ['on_own_lines("", "  ", "\\n") | len()', "0"],
  ['splitAfterN("a,b,c", ",", -1) | join(" ")', "a, b, c"],
  ["len(randBytes(0))", "0"],
];
for (const [expression, output] of cases) {
  test(`${expression} is ${JSON.stringify(output)}`, () => {
    assert.is(render(`{{ ${expression} }}`, { data, environment }), output);
  });
}

const failures: readonly (readonly [expression: string, message: RegExp])[] = [
  ['date(2026, 1, 1, 0, 0, 0, 0, "Mars/Olympus")', /unknown time zone "Mars\/Olympus"/],
  ['parseTime("2006-01-02", "2026-02-30")', /day out of range/],
  ['parseTime("", "yesterday")', /cannot read "yesterday"/],
  ['parseDuration("1")', /"1" is not a duration/],
  ['regexp("(?=a)")', /invalid regular expression/],
  ['jsonpathSet("x", "a", 1) | toJSON()', /enters string where it wants a map/],
  ['jsonpathSet([]any{}, "[5]", 1) | toJSON()', /index 5 is beyond the end of a list of 0/],
  ['jsonpathSet(nil, "a[", 1) | toJSON()', /jsonpathSet: cannot read path/],
  ["public_key_info(private).algorithm", /holds a private key/],
  ["public_key_info(rsa + ec).algorithm", /more than one PEM block/],
  ['public_key_info(rsa + "x").algorithm', /more than one PEM block/],
  ['public_key_info("-----BEGIN PUBLIC KEY-----\\nAAAA\\n-----END PUBLIC KEY-----").algorithm', /cannot be read/],
  ["untar_gz(climbing) | toJSON()", /"..\/up" would leave its folder/],
  ["untar_gz(rooted) | toJSON()", /would leave its folder/],
  ["untar_gz(link) | toJSON()", /neither a file nor a folder/],
  ["untar_gz(many) | toJSON()", /more than 4096 entries/],
  ["untar_gz(big) | toJSON()", /"big" is larger than 8388608 bytes/],
  ["untar_gz(heavy) | toJSON()", /larger than 33554432 bytes together/],
  ["untar_gz(bomb) | toJSON()", /unpacked stream is larger than 67108864 bytes/],
  ["untar_gz(cut) | toJSON()", /the archive is cut off/],
  ["untar_gz(noise) | toJSON()", /this is no tar archive|cannot be read/],
  ['marshalJSONIndent(1, "", "x")', /blanks and tabs only/],
  ["toJSON(nan)", /unsupported value NaN/],
  ['parseInt("9223372036854775808", 10)', /beyond 64 bits/],
  ['parseInt("", 10)', /is no integer/],
  ["formatInt(1, 1)", /base 1 is not from 2 to 36/],
  ['formatFloat(1, "q", 1)', /the format is "q"/],
  ['condition("A", "true", "R", "", nil, "") | toJSON()', /the status is "true"/],
  ['condition("A", "True", "not one word", "", nil, "") | toJSON()', /the reason is/],
  ['condition("", "True", "R", "", nil, "") | toJSON()', /the type is empty/],
  ["b64encode([]any{256})", /the list is no \[\]byte/],
  ["len(randBytes(100000))", /are too many/],
];
for (const [expression, message] of failures) {
  test(`${expression} fails: ${message.source}`, () => {
    assert.throws(
      () => render(`{{ ${expression} }}`, { data, environment }),
      (error: Error) => message.test(error.message) || assert.unreachable(error.message),
    );
  });
}

test("bytes that are no UTF-8 come back as they were", () => {
  for (const hex of [
    "",
    "ff",
    "c3",
    "c3a9",
    "e282",
    "e282ac",
    "eda080",
    "f09f9880",
    "f0808080",
    "c0af",
    "00ff41c3a9fe",
    "efbfbd",
    "ffefbfbd",
  ]) {
    const bytes = Buffer.from(hex, "hex");
    assert.is(bytesOfText(textOfBytes(bytes)).toString("hex"), hex);
  }
  assert.is(bytesOfText("a\uD800b").toString(), "a\uFFFDb");
});

test("render_glob in on_own_lines gives each snippet lines of its own", () => {
  const files = { "s-b": "two", "s-a": "\n one\n\n", "s-c": " " };
  assert.is(render('{{ on_own_lines(render_glob "s-*") }}end', { files }), " one\ntwo\nend");
  assert.is(render('{{ on_own_lines(render_glob "none-*") }}end', { files }), "end");
});

test("values with methods may be kept, shown and passed on; they are no plain values", () => {
  assert.is(
    render("{% var t = unixTime(0, 0) %}{% u := t.AddDate(1, 0, 0) %}{{ u.Year() }} {{ t }}"),
    "1971 1970-01-01 00:00:00 +0000 UTC",
  );
  assert.equal(problems("{% var t = unixTime(0, 0) %}{% var x any = t %}{{ t + 1 }}").length, 2);
  assert.match(problems("{{ unixTime(0, 0).Yaer() }}")[0] ?? "", "Time has no member Yaer");
});

test("without a clock now() fails, and certificates never expire", () => {
  assert.throws(() => render("{{ now() }}"), /this run has no clock/);
});

test("random bytes come from the environment", () => {
  const random = (n: number): Uint8Array => new Uint8Array(n).fill(7);
  assert.is(render("{{ hex(randBytes(3)) }}", { environment: { random } }), "070707");
});

test("a set with a clock is one program: the instant is that of the run", () => {
  const set = compile('{{ now().Format("05") }}');
  assert.is(run(set, { environment: { now: 5000 } }) + run(set, { environment: { now: 9000 } }), "0509");
});

test("queryEscape gives a part of a character as its byte", () => {
  assert.is(
    render('{{ queryEscape("h\u00e9llo"[:2]) }} {{ queryEscape("\u00e9 \u{1F600}") }}'),
    "h%C3 %C3%A9+%F0%9F%98%80",
  );
});

test.run();
