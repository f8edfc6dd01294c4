/** Makes a folder below argv[2] and waits to be killed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { claimScratch } from "../../../src/haproxy/scratch.ts";

const { directory } = await claimScratch(process.argv[2]!, "part-");
writeFileSync(join(directory, "key.pem"), "secret");
process.send?.(directory);
setInterval(() => undefined, 1_000);
