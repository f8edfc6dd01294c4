// runner: beside
// runner: limit 300 s
import { test } from "uvu";
import { isolated } from "../harness/isolation.ts";
import { apiServers } from "../harness/planes.ts";
import { healingProof } from "./healing.ts";

healingProof(test, await isolated(import.meta.filename), apiServers.real);

test.run();
