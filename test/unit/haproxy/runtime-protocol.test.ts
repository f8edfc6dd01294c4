import * as fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  isFailure,
  joinCommands,
  LINE_LIMIT,
  ReplyFramer,
  safePayloadKey,
  safePayloadText,
  safeWord,
  tooLong,
} from "../../../src/haproxy/runtime-protocol.ts";

function frames(stream: string, cuts: readonly number[] = []): string[] {
  const framer = new ReplyFramer();
  const texts: string[] = [];
  let from = 0;
  for (const cut of [...cuts.map((cut) => cut % (stream.length + 1)).toSorted((a, b) => a - b), stream.length]) {
    for (const reply of framer.push(stream.slice(from, cut))) texts.push(reply.text);
    from = cut;
  }
  return texts;
}

// As HAProxy 3.4 and 3.0 answered `get map; add map; add map; del map` on one line.
const silent = 'type=str, found=yes, key="a", value="b"\n\n\n\n[3]: Key not found.\n\n';
const prompted = '\n> type=str, found=yes, key="a", value="b"\n\n> \n> \n> [3]: Key not found.\n\n> ';

test("answers are the lines up to the first empty line; an empty answer is a lone line feed", () => {
  assert.equal(frames(silent), ['type=str, found=yes, key="a", value="b"', "", "", "Key not found."]);
});

test("on 3.0 the prompt before an answer and the pluses of a payload are not part of it", () => {
  assert.equal(frames(prompted), ["", 'type=str, found=yes, key="a", value="b"', "", "", "Key not found."]);
  assert.equal(frames("\n> + + + \n> [6]: New server registered.\n\n> "), ["", "", "New server registered."]);
});

test("wherever the stream is cut into chunks, the answers are the same", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(silent, prompted, "\n> + + + \n> x\ny\n\n> "),
      fc.array(fc.nat(200), { maxLength: 8 }),
      (stream, cuts) => {
        assert.equal(frames(stream, cuts), frames(stream));
      },
    ),
  );
});

test("the severity tag is read and taken off", () => {
  const [reply] = new ReplyFramer().push("[3]: No such server.\n\n");
  assert.equal(reply, { severity: 3, text: "No such server." });
});

test("a word that would end the word, the command or begin a payload is refused", () => {
  for (const word of ["a b", "a;b", "a\\b", "<<", "a<<b", "a\nb", "a\tb", "a\u0000", "", "\u00a0"])
    assert.throws(() => safeWord("name", word), undefined, JSON.stringify(word));
  for (const word of ["be1", "*.example.com/path", "a<b", "näme"]) assert.is(safeWord("name", word), word);
});

test("a key of a payload may hold what would end a command line, but no blank", () => {
  for (const key of ["^.*\\.example$", "a;b", "a<<b", '"q"']) assert.is(safePayloadKey(key), key);
  for (const key of ["", "a b", "a\tb", "a\nb", "a\u0000", undefined]) assert.throws(() => safePayloadKey(key));
});

test("a payload line may hold blanks and semicolons, but no line break", () => {
  assert.is(safePayloadText("value", "a b; c"), "a b; c");
  assert.throws(() => safePayloadText("value", "a\nb"));
  assert.throws(() => safePayloadText("value", "a\rb"));
});

test("joined lines stay below the limit, keep the order and lose nothing", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: LINE_LIMIT - 1 }), { maxLength: 30 }), (sizes) => {
      const commands = sizes.map((size, i) => String.fromCodePoint(97 + (i % 26)).repeat(size));
      const lines = joinCommands(commands);
      assert.equal(
        lines.flatMap(({ line }) => line.split(";")),
        commands,
      );
      assert.ok(lines.every(({ line }) => Buffer.byteLength(line) < LINE_LIMIT));
      assert.is(
        lines.reduce((sum, { count }) => sum + count, 0),
        commands.length,
      );
    }),
  );
});

test("what HAProxy would not take whole is answered in its place, by its size in bytes", () => {
  for (const text of ["", "a".repeat(LINE_LIMIT - 1), "é".repeat(LINE_LIMIT / 2 - 1)])
    assert.is(tooLong(text), undefined);
  for (const text of ["a".repeat(LINE_LIMIT), "é".repeat(LINE_LIMIT / 2), "€".repeat(LINE_LIMIT)]) {
    const refusal = tooLong(text)!;
    assert.ok(isFailure(refusal));
    assert.match(refusal.text, `${Buffer.byteLength(text)} bytes`);
  }
});

test.run();
