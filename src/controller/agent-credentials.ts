/** Username and password towards agents, in the legacy form without TLS: from a Secret that is followed, so that they may change. */
import { checkBasic, type BasicCredentials, type ClientBasic } from "../agent/client.ts";
import type { KubeClient } from "../kube/types.ts";
import type { KubeObject } from "../stores/types.ts";
import type { Log } from "./ports.ts";

/** Keys of the Secret, as the CRD's `credentialsSecretRef` says. */
const KEYS = { username: "dataplane_username", password: "dataplane_password" } as const;

export interface FollowedCredentials {
  /** What the Secret said last; a Secret that is gone or cannot be used leaves what was. */
  readonly current: ClientBasic;
  close(): void;
}

/** Logs names and what is wrong, never what the Secret holds. */
export function followCredentials(
  kube: Pick<KubeClient, "listWatch">,
  secret: { readonly namespace: string; readonly name: string },
  log: Log,
): FollowedCredentials {
  const named = `Secret ${secret.namespace}/${secret.name}`;
  let current: BasicCredentials | undefined;
  let listed: KubeObject | undefined;
  const take = (object: KubeObject | undefined): void => {
    const read = object === undefined ? `${named} is not there` : readCredentials(object, named);
    if (typeof read !== "string") current = read;
    else if (current === undefined) log.error({ secret: named }, `Agents cannot be asked: ${read}`);
    else log.warn({ secret: named }, `The former username and password towards agents stay in use: ${read}`);
  };
  const subscription = kube
    .listWatch(
      { apiVersion: "v1", resource: "secrets", namespace: secret.namespace },
      { fieldSelector: `metadata.name=${secret.name}` },
    )
    .subscribe({
      next: (signal) => {
        switch (signal.type) {
          case "RELIST":
            listed = undefined;
            return;
          case "PAGE":
            listed = signal.objects.find(({ metadata }) => metadata.name === secret.name) ?? listed;
            return;
          case "SYNCED":
            return take(listed);
          case "ADDED":
          case "MODIFIED":
            return take(signal.object);
          case "DELETED":
            return take(undefined);
          case "FAULT":
            return log.warn(
              { secret: named, err: signal.error },
              "The Secret with the agents' credentials cannot be read",
            );
          case "BOOKMARK":
        }
      },
      error: (error: unknown) => log.error({ secret: named, err: error }, "The Secret is not followed any more"),
    });
  return { current: () => current, close: () => subscription.unsubscribe() };
}

/** The credentials, or what is wrong with them. */
function readCredentials(object: KubeObject, named: string): BasicCredentials | string {
  const data = (object["data"] ?? {}) as Readonly<Record<string, unknown>>;
  const read = (key: string): string => {
    const text = data[key];
    return typeof text === "string" ? Buffer.from(text, "base64").toString("utf8") : "";
  };
  const credentials = { username: read(KEYS.username), password: read(KEYS.password) };
  const lacking = Object.entries(KEYS).flatMap(([field, key]) =>
    credentials[field as keyof typeof KEYS] === "" ? [key] : [],
  );
  if (lacking.length > 0) return `${named} has no ${lacking.join(" and no ")}`;
  return checkBasic(credentials, `${named}: ${KEYS.username}`, `${named}: ${KEYS.password}`) ?? credentials;
}
