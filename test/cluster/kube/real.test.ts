// runner: limit 300 s
import { test as base } from "uvu";
import { needing } from "../../support/skip.ts";
import { kubeContract } from "./contract.ts";
import { missingRealPlane, startRealPlane } from "./real-plane.ts";

const test = needing(base, missingRealPlane());

kubeContract(test, () => startRealPlane("127.41.0.1"), true);

test.run();
