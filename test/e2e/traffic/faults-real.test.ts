// runner: beside
// runner: limit 240 s
import { test } from "uvu";
import { isolated } from "../harness/isolation.ts";
import { apiServers } from "../harness/planes.ts";
import { faultProof } from "./faults.ts";

faultProof(test, await isolated(import.meta.filename), apiServers.real);

test.run();
