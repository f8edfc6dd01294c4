// runner: beside
// runner: limit 240 s
import { test } from "uvu";
import { isolated } from "../harness/isolation.ts";
import { reloadProof } from "./reload.ts";

reloadProof(test, await isolated(import.meta.filename), "3.0");

test.run();
