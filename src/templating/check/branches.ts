/** Loops, switches and the jumps that leave them. */
import { literal, type Code } from "../emit/code.ts";
import type { Case, Expression, Statement } from "../syntax/tree.ts";
import { Output } from "./output.ts";
import type { Value } from "./scope.ts";
import { ANY, INT, isBool, isFloat, isNumber, isString, RUNE, typeKey, typeName, type Type } from "./types.ts";
import { CheckFault, type Steps } from "./unit.ts";

export abstract class Branches extends Output {
  protected abstract list(statements: readonly Statement[]): Steps<Code[]>;
  protected abstract statement(n: Statement): Code;

  /** A condition whose own problem does not hide those of the block. */
  protected guarded(x: Expression): Code {
    try {
      return this.condition(this.borrowed(x), x.at);
    } catch (fault) {
      if (!(fault instanceof CheckFault)) throw fault;
      this.report(fault);
      return "false";
    }
  }

  protected guardedValue(x: Expression): Value {
    try {
      return this.borrowed(x);
    } catch (fault) {
      if (!(fault instanceof CheckFault)) throw fault;
      this.report(fault);
      return { code: "null", type: ANY };
    }
  }

  protected tick(at: number, body: Code): Code {
    const { kind } = this.frame;
    const output = kind === "main" ? "flush" : kind === "macro" || kind === "capture" ? "keep" : "none";
    return [this.site(at), { node: "tick", output, body }];
  }

  protected *inLoop<T>(label: string | undefined, loop: boolean, js: string, steps: Steps<T>): Steps<T> {
    this.jumps.push({ label, js, loop });
    try {
      return yield* steps;
    } finally {
      this.jumps.pop();
    }
  }

  protected jump(n: Statement & { kind: "jump" }): Code {
    const target = this.jumps.findLast((jump) =>
      n.label === undefined ? n.word === "break" || jump.loop : jump.label === n.label,
    );
    if (target === undefined) {
      if (n.label !== undefined) this.fail(n.at, `${n.word} label not defined: ${n.label}`);
      this.fail(n.at, n.word === "break" ? "break is not in a loop or switch" : "continue is not in a loop");
    }
    if (n.word === "continue" && !target.loop) this.fail(n.at, `invalid continue label ${n.label ?? ""}`);
    return `${n.word} ${target.js};\n`;
  }

  protected *forLoop(n: Statement & { kind: "for" }): Steps<Code> {
    const outer = this.enterScope();
    try {
      const js = this.fresh("loop");
      const before = new Set(this.scope.names.keys());
      const init = n.init === undefined ? "" : this.statement(n.init);
      const variables = [...this.scope.names.values()].filter(
        (symbol) => !before.has(symbol.name) && symbol.kind === "var",
      );
      const condition = n.condition === undefined ? undefined : this.guarded(n.condition);
      const post = n.post === undefined ? undefined : this.statement(n.post);
      const body = yield* this.inLoop(n.label, true, js, this.block(n.body));
      // Loop variables are fresh in each turn: JavaScript copies those of the `let` in the loop's head.
      const again = this.fresh("again");
      const copies = variables.map((symbol): Code => [
        `, ${symbol.js} = ${symbol.js}$0`,
        () => (symbol.appended ? `, ${symbol.js}$o = false` : ""),
      ]);
      return [
        "{\n",
        init,
        variables.map((symbol) => `const ${symbol.js}$0 = ${symbol.js};\n`),
        `${js}: for (let ${again} = false`,
        copies,
        "; ; ) {\n",
        post === undefined ? "" : [`if (${again}) {\n`, post, `} else ${again} = true;\n`],
        condition === undefined ? "" : ["if (!(", condition, ")) break;\n"],
        this.tick(n.at, body),
        body,
        "}\n}\n",
      ];
    } finally {
      this.scope = outer;
    }
  }

  protected *rangeLoop(n: Statement & { kind: "range" }): Steps<Code> {
    const subject = this.structOf(this.guardedValue(n.subject), n.subject.at);
    const { type } = subject;
    if (
      isNumber(type) ||
      isBool(type) ||
      type.kind === "func" ||
      type.kind === "host" ||
      type.kind === "struct" ||
      type.kind === "object" ||
      (type.kind === "untyped" && type.name === "nil") ||
      type.kind === "void"
    ) {
      this.fail(
        n.subject.at,
        `cannot range over a value of type ${typeName(type)}`,
        isNumber(type) ? "range over seq(n)" : undefined,
      );
    }
    const js = this.fresh("loop");
    const list = this.fresh("a");
    const i = this.fresh("i");
    let keyType: Type = INT;
    let valueType: Type = ANY;
    let source: Code;
    let checked: Code = "";
    let key: Code = i;
    let value: Code = `${list}[${i}]`;
    const named = (x: Expression | undefined): boolean => x !== undefined && !(x.kind === "name" && x.name === "_");
    if (type.kind === "map" || isString(type) || (type.kind === "any" && named(n.key))) {
      // Both lists come from one helper: sorted keys of a map, byte offsets and runes of a string.
      [keyType, valueType] = type.kind === "map" ? [type.key, type.element] : isString(type) ? [INT, RUNE] : [ANY, ANY];
      source = [this.site(n.subject.at), "$.pairs(", subject.code, ")"];
      key = `$.keyAt(${list}, ${i})`;
      value = `${list}.values[${i}]`;
    } else {
      if (type.kind === "slice" || type.kind === "array") valueType = type.element;
      // The range of an array goes over a copy.
      const copied: Code = type.kind === "array" && named(n.value) ? ["$.copy(", subject.code, ")"] : subject.code;
      source = copied;
      checked = [`if (!R_isArray(${list})) `, this.site(n.subject.at), `${list} = $.list(${list});\n`];
    }
    const length = key === i ? `${list}.length` : `${list}.values.length`;
    // The variables of the loop are not those of its else.
    const otherwise = n.otherwise === undefined ? undefined : yield* this.block(n.otherwise);
    const outer = this.enterScope();
    try {
      const bind = (x: Expression | undefined, code: Code, as: Type): Code => {
        if (x === undefined || !named(x)) return "";
        if (!n.define) return this.store(x, { code, type: as }, x.at);
        if (x.kind !== "name") this.fail(x.at, "non-name on left side of :=");
        return this.bind(this.addName(x.name, as, x.at), this.settled({ code, type: as }, x.at).code);
      };
      const open = this.host.piece === undefined ? undefined : this.fresh("depth");
      const bindings = [bind(n.key, key, keyType), bind(n.value, value, valueType)];
      const body = yield* this.inLoop(n.label, true, js, this.block(n.body));
      return [
        "{\n",
        `let ${list} = `,
        source,
        ";\n",
        checked,
        open === undefined ? "" : `const ${open} = $.loops();\n`,
        `${js}: for (let ${i} = 0, ${i}$n = ${length}; ${i} < ${i}$n; ${i}++) {\n`,
        this.tick(n.at, body),
        open === undefined ? "" : `$.turn(${open}, ${value});\n`,
        bindings,
        body,
        "}\n",
        open === undefined ? "" : `$.leave(${open});\n`,
        otherwise === undefined ? "" : [`if (${length} === 0) {\n`, otherwise, "}\n"],
        "}\n",
      ];
    } finally {
      this.scope = outer;
    }
  }

  protected *switchStatement(n: Statement & { kind: "switch" }): Steps<Code> {
    const outer = this.enterScope();
    try {
      const init = n.init === undefined ? "" : this.statement(n.init);
      const js = this.fresh("switch");
      const subject = this.fresh("t");
      const tag = n.tag === undefined ? undefined : this.settled(this.expression(n.tag), n.tag.at);
      if (n.ofType && tag!.type.kind !== "any")
        this.fail(n.at, `cannot type switch on a value of type ${typeName(tag!.type)}`);
      const last = n.cases.at(-1);
      for (const c of n.cases) {
        if (c.fallthrough && n.ofType) this.fail(c.at, "cannot fallthrough in a type switch");
        if (c.fallthrough && c === last) this.fail(c.at, "cannot fallthrough final case in switch");
      }
      const defaults = n.cases.filter((c) => c.values === undefined && c.types === undefined);
      if (defaults.length > 1) this.fail(defaults[1]!.at, "multiple defaults in switch");
      // The case is chosen first, so that fallthrough is JavaScript's own.
      const choice: Code[] = [];
      const bodies: Code[] = [];
      for (const [index, c] of n.cases.entries()) {
        const test = this.caseTest(c, n.ofType, tag, subject);
        if (test !== undefined) choice.push(test, ` ? ${index} : `);
        const body = yield* this.inLoop(n.label, false, js, this.caseBody(c, n, tag, subject));
        bodies.push(`case ${index}: {\n`, body, c.fallthrough ? "}\n" : `break ${js};\n}\n`);
      }
      const otherwise = defaults.length === 0 ? -1 : n.cases.indexOf(defaults[0]!);
      return [
        "{\n",
        init,
        tag === undefined ? "" : [`const ${subject} = `, tag.code, ";\n"],
        `${js}: switch (`,
        choice,
        `${otherwise}) {\n`,
        bodies,
        "}\n}\n",
      ];
    } finally {
      this.scope = outer;
    }
  }

  protected caseTest(c: Case, ofType: boolean, tag: Value | undefined, subject: string): Code | undefined {
    if (ofType && c.types !== undefined) {
      const tests = c.types.map((type) =>
        type.kind === "named" && type.name === "nil"
          ? `${subject} === null`
          : `$.is(${subject}, ${literal(typeKey(this.type(type)))})`,
      );
      return `(${tests.join(" || ")})`;
    }
    if (c.values === undefined) return undefined;
    const tests = c.values.map((x): Code => {
      const value = this.guardedValue(x);
      if (tag === undefined) return this.condition(value, x.at);
      return this.comparison("==", { code: subject, type: tag.type }, value, x.at).code;
    });
    return ["(", tests.flatMap((test, i) => (i === 0 ? [test] : [" || ", test])), ")"];
  }

  protected *caseBody(
    c: Case,
    n: Statement & { kind: "switch" },
    tag: Value | undefined,
    subject: string,
  ): Steps<Code> {
    if (n.binding === undefined || tag === undefined) return yield* this.block(c.body);
    const outer = this.enterScope();
    try {
      const only =
        c.types?.length === 1 && !(c.types[0]!.kind === "named" && c.types[0]!.name === "nil")
          ? this.type(c.types[0]!)
          : ANY;
      const value: Code = isFloat(only) ? `$.asFloat(${subject})` : subject;
      const bound = this.bind(this.addName(n.binding, only, n.at), value);
      return [bound, yield* this.list(c.body)];
    } finally {
      this.scope = outer;
    }
  }
}
