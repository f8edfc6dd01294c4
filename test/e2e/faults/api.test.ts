// runner: beside
// runner: limit 600 s
import { test } from "uvu";
import { isolated } from "../harness/isolation.ts";
import { apiServers } from "../harness/planes.ts";
import { apiFaultsProof } from "./api.ts";

const network = await isolated(import.meta.filename);
const { real, embedded } = apiServers;
/** A real API server, where one can be had; HAPTIC_FAULTS_API=embedded asks for the other one. */
const api = real.missing !== undefined || process.env["HAPTIC_FAULTS_API"] === "embedded" ? embedded : real;
apiFaultsProof(test, network, api);

test.run();
