// How Node runs HAPTIC: for bin/haptic.mjs and for whatever starts a part of the program itself. Plain JavaScript that an
// old Node reads, too.
import os from "os";

function processors() {
  return os.availableParallelism === undefined ? os.cpus().length : os.availableParallelism();
}

/**
 * No maps of the bundle's sources: of each module with one Node keeps it whole, 18 MiB, and sources without types have the
 * same lines and columns.
 *
 * @param {string | undefined} command The first argument: `run`, `agent`, …
 * @returns {string[]}
 */
export function nodeFlags(command) {
  // The agent stands beside every HAProxy and has little to do: it is kept small, at 10 MiB less.
  const isAgent = command === "agent";
  const flags = [
    // Templates are compiled with vm.compileFunction into a closed realm; nothing else may turn text into code.
    "--disallow-code-generation-from-strings",
    "--disable-proto=throw",
    // Scavenge pauses of 4 ms instead of 13 ms.
    "--max-semi-space-size=" + (isAgent ? 1 : 4),
    // Node starts four helpers for the garbage collector and the compiler wherever it runs. On two processors they keep
    // main thread and HAProxy from both of them while the heap is marked (30 ms).
    "--v8-pool-size=" + Math.max(1, Math.min(4, processors() - 1)),
  ];
  // Its heap of 12 MiB would grow to 40 under many changes before V8 collects it; a collection takes 5 ms. It collects its young
  // generation itself while nobody waits for it.
  if (isAgent) flags.push("--no-turbofan", "--heap-growing-percent=20", "--expose-gc");
  // V8 would mark the whole heap again whenever it has grown by a tenth: at 10,000 routes every tenth change, step by step between
  // the work of others. And where little happens for some seconds it would move all that lives together, which stops a change that
  // comes just then for up to 130 ms.
  else flags.push("--heap-growing-percent=40", "--no-memory-reducer");
  return flags;
}

/**
 * What glibc is told of memory. It gives each thread a heap of its own, which it seldom gives back: Node's helpers need none.
 * And what lies in a heap between two things that stay is not given back either: buffers that come and go by the thousand (a
 * read's, a block's, a compiler's) left the controller of 10,000 routes with 70 MiB of holes, the agent with 20. From 8 KiB on
 * each has pages of its own, unless there are very many, as the kernel bounds them.
 *
 * @param {Record<string, string | undefined>} environment
 * @returns {Record<string, string | undefined>} the same with what is not set yet
 */
export function withMallocSettings(environment) {
  return Object.assign(
    { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "8192", MALLOC_MMAP_MAX_: "16384" },
    environment,
  );
}
