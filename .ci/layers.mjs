// dependency-cruiser reads TypeScript through the compiler's JavaScript API, which TypeScript 7 no longer has. This gives
// it (and nobody else) the one that @ts-morph/common carries, then runs its command line.
import { createRequire, registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const api = pathToFileURL(require.resolve("@ts-morph/common/dist/typescript.js")).href;
const manifest = "haptic:typescript/package.json";

registerHooks({
  resolve(specifier, context, next) {
    if (context.parentURL?.includes("/dependency-cruiser/")) {
      if (specifier === "typescript") return { url: api, format: "commonjs", shortCircuit: true };
      if (specifier === "typescript/package.json") return { url: manifest, format: "json", shortCircuit: true };
    }
    return next(specifier, context);
  },
  load(url, context, next) {
    if (url !== manifest) return next(url, context);
    const { version } = require("@ts-morph/common/dist/typescript.js");
    return { format: "json", source: JSON.stringify({ version }), shortCircuit: true };
  },
});

process.argv.push("--config", ".dependency-cruiser.cjs", "src", "machines", "test", ".ci");
await import("../node_modules/dependency-cruiser/bin/dependency-cruiser.mjs");
