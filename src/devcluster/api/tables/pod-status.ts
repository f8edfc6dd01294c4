/** What `kubectl get pods` says of a pod: ready containers, status, restarts. */
import { at, isFields, listAt, stringAt } from "../objects.ts";
import type { ApiObject } from "../objects.ts";
import { age } from "../resources/ages.ts";

export interface PodStatus {
  /** `1/2`. */
  readonly ready: string;
  readonly text: string;
  /** `3`, `3 (10s ago)`. */
  readonly restarts: string;
}

const number = (value: unknown, key: string): number => {
  const found = at(value, key);
  return typeof found === "number" ? found : 0;
};

const isRestartable = (object: ApiObject, name: string): boolean =>
  listAt(object, "spec", "initContainers").some(
    (c) => stringAt(c, "name") === name && stringAt(c, "restartPolicy") === "Always",
  );

function terminatedText(status: unknown, prefix: string): string | undefined {
  const terminated = at(status, "state", "terminated");
  if (!isFields(terminated)) return undefined;
  const reason = stringAt(terminated, "reason");
  if (reason !== "") return `${prefix}${reason}`;
  const signal = number(terminated, "signal");
  return signal !== 0 ? `${prefix}Signal:${signal}` : `${prefix}ExitCode:${number(terminated, "exitCode")}`;
}

/** The text while init containers run; undefined once they are done. */
function initText(object: ApiObject): string | undefined {
  const total = listAt(object, "spec", "initContainers").length;
  for (const [i, status] of listAt(object, "status", "initContainerStatuses").entries()) {
    if (isRestartable(object, stringAt(status, "name")) && at(status, "started") === true) continue;
    const terminated = at(status, "state", "terminated");
    if (isFields(terminated)) {
      if (number(terminated, "exitCode") === 0) continue;
      return terminatedText(status, "Init:");
    }
    const waiting = stringAt(status, "state", "waiting", "reason");
    return waiting !== "" && waiting !== "PodInitializing" ? `Init:${waiting}` : `Init:${i}/${total}`;
  }
  return undefined;
}

function containersText(object: ApiObject, fallback: string): string {
  let text = fallback;
  let running = false;
  for (const status of listAt(object, "status", "containerStatuses").toReversed()) {
    const waiting = stringAt(status, "state", "waiting", "reason");
    const terminated = terminatedText(status, "");
    if (waiting !== "") text = waiting;
    else if (terminated !== undefined) text = terminated;
    else if (at(status, "ready") === true && at(status, "state", "running") !== undefined) running = true;
  }
  if (text !== "Completed" || !running) return text;
  const ready = listAt(object, "status", "conditions").some(
    (c) => stringAt(c, "type") === "Ready" && stringAt(c, "status") === "True",
  );
  return ready ? "Running" : "NotReady";
}

export function podStatus(object: ApiObject, now: number): PodStatus {
  const containers = listAt(object, "spec", "containers");
  const sidecars = listAt(object, "spec", "initContainers").filter((c) => stringAt(c, "restartPolicy") === "Always");
  const statuses = [
    ...listAt(object, "status", "containerStatuses"),
    ...listAt(object, "status", "initContainerStatuses").filter((s) => isRestartable(object, stringAt(s, "name"))),
  ];
  const ready = statuses.filter((status) => at(status, "ready") === true).length;
  const restarts = statuses.reduce<number>((sum, status) => sum + number(status, "restartCount"), 0);
  const last =
    statuses
      .map((status) => stringAt(status, "lastState", "terminated", "finishedAt"))
      .toSorted()
      .at(-1) ?? "";
  const phase = stringAt(object, "status", "reason") || stringAt(object, "status", "phase");
  let text = initText(object) ?? containersText(object, phase);
  if (object.metadata.deletionTimestamp !== undefined)
    text = stringAt(object, "status", "reason") === "NodeLost" ? "Unknown" : "Terminating";
  return {
    ready: `${ready}/${containers.length + sidecars.length}`,
    text,
    restarts: restarts === 0 || last === "" ? String(restarts) : `${restarts} (${age(last, now)} ago)`,
  };
}
