// The project's own lint rules (an ESLint-compatible plugin that oxlint loads; see .oxlintrc.json for where each holds).
// An exception is a comment `oxlint-disable-next-line haptic/RULE -- why`.

/** Behaviour in time belongs to statecharts, or to the RxJS stream that a provided actor wraps. */
const noTimers = {
  meta: {
    type: "problem",
    messages: { timer: "`{{name}}`: a timer belongs into a statechart (`after`) or an RxJS stream." },
  },
  create(context) {
    const refuse = (node, name) => context.report({ node, messageId: "timer", data: { name } });
    return {
      CallExpression(node) {
        if (node.callee.type === "Identifier" && ["setTimeout", "setInterval"].includes(node.callee.name)) {
          refuse(node, node.callee.name);
        }
      },
      ImportDeclaration(node) {
        if (/^(node:)?timers(\/promises)?$/.test(node.source.value)) refuse(node, node.source.value);
      },
    };
  },
};

/** Time, randomness and identity come in as parameters. Handing the function on (`now = Date.now`) is how they come in. */
const noAmbientTime = {
  meta: {
    type: "problem",
    messages: { ambient: "`{{name}}` makes behaviour depend on the machine: take it as a parameter." },
  },
  create(context) {
    const ambient = new Set(["Date.now", "Math.random", "performance.now", "crypto.randomUUID"]);
    return {
      CallExpression(node) {
        const { callee } = node;
        if (
          callee.type === "MemberExpression" &&
          callee.object.type === "Identifier" &&
          callee.property.type === "Identifier"
        ) {
          const name = `${callee.object.name}.${callee.property.name}`;
          if (ambient.has(name)) context.report({ node, messageId: "ambient", data: { name: `${name}()` } });
        }
        if (callee.type === "Identifier" && callee.name === "randomUUID") {
          context.report({ node, messageId: "ambient", data: { name: "randomUUID()" } });
        }
      },
      NewExpression(node) {
        if (node.callee.type === "Identifier" && node.callee.name === "Date" && node.arguments.length === 0) {
          context.report({ node, messageId: "ambient", data: { name: "new Date()" } });
        }
      },
    };
  },
};

/** An Observable's error without a handler is thrown later, from a timer, where nobody can catch it. */
const subscribeHandlesErrors = {
  meta: { type: "problem", messages: { missing: "Give `subscribe` an error handler: `subscribe({ next, error })`." } },
  create(context) {
    const nameOf = (node) =>
      node.type === "Identifier"
        ? node.name
        : node.type === "MemberExpression" && !node.computed
          ? node.property.name
          : "";
    return {
      CallExpression(node) {
        const { callee } = node;
        if (callee.type !== "MemberExpression" || callee.computed || callee.property.name !== "subscribe") return;
        // The bus and the actors have a `subscribe` of their own, which is no Observable's.
        if (/(bus|actor|actorRef)$/i.test(nameOf(callee.object))) return;
        const [observer, onError] = node.arguments;
        const handles =
          observer !== undefined &&
          (observer.type === "ObjectExpression"
            ? observer.properties.some((one) => one.type === "SpreadElement" || (one.key && one.key.name === "error"))
            : onError !== undefined || !/Function/.test(observer.type));
        if (!handles) context.report({ node, messageId: "missing" });
      },
    };
  },
};

/** A test that is left out must say why, through test/support/skip.ts. */
const noLeftOutTests = {
  meta: {
    type: "problem",
    messages: { left: "`{{name}}`: every test runs; what this machine lacks is said with needing()." },
  },
  create(context) {
    return {
      CallExpression(node) {
        const { callee } = node;
        if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier" || callee.computed) return;
        const name = `${callee.object.name}.${callee.property.name}`;
        if (/^(test|suite|it|describe)\.(only|skip|todo)$/.test(name))
          context.report({ node, messageId: "left", data: { name } });
      },
    };
  },
};

export default {
  meta: { name: "haptic" },
  rules: {
    "no-timers": noTimers,
    "no-ambient-time": noAmbientTime,
    "subscribe-handles-errors": subscribeHandlesErrors,
    "no-left-out-tests": noLeftOutTests,
  },
};
