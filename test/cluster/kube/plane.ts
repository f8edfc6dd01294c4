/** An API server under test, real or embedded, as the contract of src/kube needs it. */
export interface Plane {
  readonly name: string;
  /** Address that the relay forwards to. */
  readonly host: string;
  readonly port: number;
  readonly scheme: "http" | "https";
  /** PEM of the CA; undefined over plain HTTP. */
  readonly ca: string | undefined;
  /** A kubeconfig file with an administrator's client certificate (or none over plain HTTP). */
  readonly kubeconfig: string;
  /** Bearer tokens of an administrator and of a user who may do nothing; undefined where the server takes none. */
  readonly adminToken: string | undefined;
  readonly powerlessToken: string | undefined;
  /** Makes every resourceVersion up to now too old for a watch of ConfigMaps. */
  expire(): Promise<void>;
  /** Stops the server and starts it again with its data. */
  restart(): Promise<void>;
  close(): Promise<void>;
}
