// runner: limit 900 s
import { test } from "uvu";
import { isolated } from "../harness/isolation.ts";
import { apiServers } from "../harness/planes.ts";
import { apiFaultsProof } from "./api.ts";

apiFaultsProof(test, await isolated(import.meta.filename), apiServers.embedded);

test.run();
