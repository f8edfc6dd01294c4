/**
 * The switchboard of faults over HTTP, for tests whose API lives in another process. Only there when it was asked for at start;
 * its own requests never go wrong.
 *
 *   GET    /faults            the rules that are on
 *   POST   /faults            a rule, or a list of them, turned on: answers their numbers
 *   DELETE /faults[/NUMBER]   one rule off, or everything
 *   POST   /faults/drop-watches | expire-history | stall-watches | release-watches | seed?value=N
 */
import type { FaultRule, Faults } from "../faults/index.ts";
import { faultMistake } from "../faults/reading.ts";
import { StatusError, badRequest } from "../status.ts";
import { readValue } from "./body.ts";
import type { ApiRequest } from "./request.ts";
import { pageNotFound, sendJson } from "./respond.ts";

async function addRules(faults: Faults, request: ApiRequest): Promise<void> {
  const body = await readValue(request);
  const rules: readonly unknown[] = Array.isArray(body) ? body : [body];
  for (const rule of rules) {
    const mistake = faultMistake(rule);
    if (mistake !== undefined) throw badRequest(mistake);
  }
  sendJson(request, 201, { ids: rules.map((rule) => faults.add(rule as FaultRule)) });
}

function act(faults: Faults, request: ApiRequest, action: string): boolean {
  switch (action) {
    case "drop-watches":
      faults.dropWatches();
      return true;
    case "expire-history":
      faults.expireHistory();
      return true;
    case "stall-watches":
    case "release-watches":
      faults.stallWatches(action === "stall-watches");
      return true;
    case "seed":
      faults.seed(Number(request.query.get("value") ?? "1"));
      return true;
    default:
      return false;
  }
}

/** Answers a request below /faults; false when the path is another. */
export async function serveSwitchboard(faults: Faults, request: ApiRequest): Promise<boolean> {
  const [, root, rest = "", ...more] = request.path.split("/");
  if (root !== "faults" || more.length > 0) return false;
  if (request.method === "GET" && rest === "") sendJson(request, 200, { rules: faults.list() });
  else if (request.method === "POST" && rest === "") await addRules(faults, request);
  else if (request.method === "POST" && act(faults, request, rest)) sendJson(request, 200, {});
  else if (request.method === "DELETE" && rest === "") {
    faults.clear();
    sendJson(request, 200, {});
  } else if (request.method === "DELETE") {
    if (!faults.remove(Number(rest))) throw new StatusError(404, "NotFound", `no fault has the number ${rest}`);
    sendJson(request, 200, {});
  } else pageNotFound(request);
  return true;
}
