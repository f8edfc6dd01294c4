#!/usr/bin/env node
// Starts HAPTIC under Node 24 or newer, whichever Node started this file. Plain JavaScript that Node 12 parses: this and
// node-flags.mjs are all that an old Node ever reads, and it must be able to say what is missing.
import { spawn, spawnSync } from "child_process";
import { existsSync } from "fs";
import { createRequire } from "module";
import os from "os";
import { delimiter, dirname, join } from "path";
import { fileURLToPath } from "url";
import { nodeFlags, withMallocSettings } from "./node-flags.mjs";

const { homedir } = os;
const NEEDED_MAJOR = 24;
const home = dirname(dirname(fileURLToPath(import.meta.url)));

/** Major version of a Node binary, 0 when it cannot be run. */
function majorOf(binary) {
  const answer = spawnSync(binary, ["-p", "process.versions.node"], { encoding: "utf8", timeout: 10000 });
  return answer.status === 0 ? parseInt(answer.stdout, 10) || 0 : 0;
}

/** The binary that the npm package node-linux-ARCH ships, if npm installed it. */
function packagedNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve("node-linux-" + process.arch + "/package.json");
    const binary = join(dirname(manifest), "bin", "node");
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}

function nodesOnPath() {
  const found = [];
  (process.env.PATH || "").split(delimiter).forEach(function (folder) {
    ["node", "node" + NEEDED_MAJOR, "nodejs"].forEach(function (name) {
      const binary = join(folder || ".", name);
      if (existsSync(binary) && binary !== process.execPath) found.push(binary);
    });
  });
  return found;
}

/** Chooses the Node to run with; what was looked at goes into `seen` for the message. */
function chooseNode(seen) {
  const wished = process.env.HAPTIC_NODE;
  if (wished) {
    const major = majorOf(wished);
    seen.push("HAPTIC_NODE=" + wished + " (" + (major ? "Node " + major : "cannot be run") + ")");
    return major >= NEEDED_MAJOR ? wished : undefined;
  }
  const own = parseInt(process.versions.node, 10);
  if (own >= NEEDED_MAJOR) return process.execPath;
  seen.push(process.execPath + " (Node " + own + ")");
  const packaged = packagedNode();
  if (packaged && majorOf(packaged) >= NEEDED_MAJOR) return packaged;
  seen.push("npm package node-linux-" + process.arch + " (" + (packaged ? "cannot be run" : "not installed") + ")");
  return nodesOnPath().find(function (binary) {
    const major = majorOf(binary);
    seen.push(binary + " (" + (major ? "Node " + major : "cannot be run") + ")");
    return major >= NEEDED_MAJOR;
  });
}

function fail(lines) {
  process.stderr.write(lines.join("\n") + "\n");
  process.exit(1);
}

const seen = [];
const node = chooseNode(seen);
if (!node) {
  fail(
    ["haptic: needs Node " + NEEDED_MAJOR + " or newer, and found none. Looked at:"]
      .concat(seen.map((line) => "  " + line))
      .concat([
        "What to do: run `npm ci` in " + home + " (it brings Node " + NEEDED_MAJOR + " as a package on Linux amd64 and",
        "arm64), or set HAPTIC_NODE to a Node " + NEEDED_MAJOR + " binary.",
      ]),
  );
}

// In the repository the sources run as they are; the npm package and the image hold the bundle (Node refuses to strip
// types under node_modules).
const source = join(home, "src", "main.ts");
const bundle = join(home, "dist", "main.mjs");
const fromSource = existsSync(source) && process.env.HAPTIC_BUNDLE !== "1";
if (!fromSource && !existsSync(bundle))
  fail(["haptic: neither " + source + " nor " + bundle + " is there: the installation is incomplete."]);
if (fromSource && !existsSync(join(home, "node_modules"))) {
  fail(["haptic: the packages are not installed. Run `npm ci` in " + home + " first."]);
}

const flags = nodeFlags(process.argv[2]);
const environment = withMallocSettings(process.env);
if (!environment.NODE_COMPILE_CACHE) {
  environment.NODE_COMPILE_CACHE = join(
    environment.XDG_CACHE_HOME || join(homedir(), ".cache"),
    "haptic",
    "compile-cache",
  );
}
const args = flags.concat([fromSource ? source : bundle], process.argv.slice(2));
// In a container the program takes this process over: it hears the signals, and nothing stays in memory beside it.
if (process.env.HAPTIC_EXEC === "1" && node === process.execPath && process.execve)
  process.execve(node, [node].concat(args), environment);
const child = spawn(node, args, {
  // The channel carries no messages: its closing tells the child that this process is gone, however it went.
  stdio: ["inherit", "inherit", "inherit", "ipc"],
  env: environment,
});

["SIGINT", "SIGTERM", "SIGUSR1", "SIGHUP", "SIGQUIT", "SIGUSR2"].forEach(function (name) {
  process.on(name, function () {
    child.kill(name);
  });
});

// `haptic dev` is a tree of processes that belongs to whoever started it: when that one is gone, the tree ends too.
if (process.argv[2] === "dev") {
  const parent = process.ppid;
  setInterval(function () {
    if (process.ppid !== parent) child.kill("SIGTERM");
  }, 500).unref();
}

child.on("error", function (error) {
  fail(["haptic: cannot start " + node + ": " + error.message]);
});
child.on("exit", function (code, signal) {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // A signal that does not end this process (blocked, or ignored by who started it) still ends in a failure.
    setTimeout(function () {
      process.exit(1);
    }, 200);
    return;
  }
  process.exit(code === null ? 1 : code);
});
