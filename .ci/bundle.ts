/** Bundles the sources for the npm package and the image (Node refuses to strip types under node_modules). `npm run build`. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const root = resolve(import.meta.dirname, "..");
const dist = join(root, "dist");
rmSync(dist, { recursive: true, force: true });

const result = await build({
  absWorkingDir: root,
  entryPoints: { main: "src/main.ts" },
  outdir: "dist",
  outExtension: { ".js": ".mjs" },
  bundle: true,
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  format: "esm",
  platform: "node",
  target: "node24",
  sourcemap: "linked",
  sourcesContent: false,
  legalComments: "linked",
  metafile: true,
  // CommonJS packages in an ES module bundle still ask for `require`.
  banner: {
    js: 'import { createRequire as requireFor } from "node:module"; const require = requireFor(import.meta.url);',
  },
  logLevel: "warning",
});

// One letter beyond Latin-1, in a comment or a regular expression, makes Node keep the whole text in two bytes a letter.
for (const name of Object.keys(result.metafile.outputs).filter((one) => one.endsWith(".mjs"))) {
  const text = readFileSync(join(root, name), "utf8");
  const escaped = text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (escaped !== text) writeFileSync(join(root, name), escaped);
}

// The live page goes along as it is, with the charts that it colours.
const page = join(root, "src/observe/page");
for (const name of readdirSync(page).filter((one) => /\.(html|css|js)$/.test(one)))
  cpSync(join(page, name), join(dist, "live", name));
const charts = join(root, "machines/diagrams");
for (const name of readdirSync(charts).filter((one) => one.endsWith(".svg")))
  cpSync(join(charts, name), join(dist, "live", "charts", name));

const outputs = Object.entries(result.metafile.outputs).filter(([name]) => name.endsWith(".mjs"));
const bytes = outputs.reduce((sum, [, output]) => sum + output.bytes, 0);
writeFileSync(join(dist, "meta.json"), JSON.stringify(result.metafile));
process.stdout.write(`dist: ${outputs.length} files, ${(bytes / 1e6).toFixed(1)} MB\n`);
