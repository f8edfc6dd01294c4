/** The model that the proofs begin with, and what it is made of. */
import { createAuthority } from "../../../src/devcluster/certificates.ts";
import type { Model, ModelProfile, ModelServer } from "./model.ts";

export interface Targets {
  /** Servers listen here. */
  readonly addresses: readonly string[];
  readonly ports: readonly number[];
  /** Nothing listens here. */
  readonly dead: string;
}

/** Certificates by site, several of each; the last version of a site has one name more. */
export interface Material {
  readonly certs: Readonly<Record<string, readonly string[]>>;
  readonly cas: readonly string[];
}

export const SITES = Array.from({ length: 10 }, (_, i) => `site-${i}`);
export const nameOf = (site: string): string => `${site}.example`;

export async function makeMaterial(): Promise<Material> {
  const authority = await createAuthority("sites", new Date());
  const pem = async (names: string[]): Promise<string> => {
    const { certificate, key } = await authority.issue(names, "server");
    return `${certificate}\n${key}\n`;
  };
  const certs: Record<string, string[]> = {};
  for (const site of ["base", ...SITES]) {
    const name = nameOf(site);
    certs[site] = [await pem([name]), await pem([name]), await pem([name, `also-${name}`])];
  }
  const authorities = await Promise.all(
    ["one", "two", "three", "four"].map((name) => createAuthority(name, new Date())),
  );
  const [one, two, three, four] = authorities.map(({ certificate }) => `${certificate}\n`) as [
    string,
    string,
    string,
    string,
  ];
  return { certs, cas: [one, two, one + two, three + four, four] };
}

export const PROFILES = {
  plain: { mode: "http", balance: "roundrobin" },
  checked: {
    mode: "http",
    balance: "leastconn",
    defaultServer: "check inter 150ms fastinter 100ms downinter 150ms rise 1 fall 1 weight 20 maxconn 40",
    body: "timeout server 20s\nhttp-request set-header x-profile checked",
  },
  consistent: { mode: "http", balance: "uri", hashType: "consistent", body: "option httpchk GET /ready" },
  cookies: { mode: "http", balance: "random", body: "cookie SRV insert indirect nocache" },
  settled: {
    mode: "http",
    balance: "roundrobin",
    settings: { "timeout server": "", frames: "http-response set-header X-Frame-Options %[$value]" },
  },
  // Takes no server at run time.
  source: { mode: "http", balance: "source" },
  first: { mode: "http", balance: "first", body: "timeout server 3s" },
  late: { mode: "http", balance: "roundrobin", body: "timeout server 31s" },
} satisfies Record<string, ModelProfile>;

export function startModel(material: Material, targets: Targets): Model {
  const server = (i: number, more: Partial<ModelServer> = {}): ModelServer => ({
    address: targets.addresses[i % targets.addresses.length]!,
    port: targets.ports[0]!,
    ...more,
  });
  return {
    profiles: { ...PROFILES },
    declared: ["plain", "checked", "consistent", "cookies", "settled", "source"],
    backends: {
      web: {
        profile: "plain",
        guid: "be:web",
        servers: { a: server(0, { guid: "be:web:a" }), b: server(1, { weight: 7 }) },
      },
      api: { profile: "checked", servers: { a: server(2) } },
      tuned: { profile: "settled", settings: { "timeout server": "7s" }, servers: { a: server(1) } },
      pinned: { profile: "source", servers: { a: server(0), b: server(1) } },
      special: {
        profile: "plain",
        body: "http-request set-header x-special yes",
        servers: { a: server(3, { extra: "check inter 150ms rise 1 fall 1" }) },
      },
    },
    routes: {
      web: { host: "web.example", backend: "web" },
      api: { host: "api.example", backend: "api" },
      special: { host: "special.example", backend: "special" },
    },
    rules: [
      { pattern: "^a.*\\.example$", backend: "api" },
      { pattern: "^.*\\.example$", backend: "web" },
    ],
    notes: { "web.example": "a note  with blanks", "api.example": "short" },
    certs: { "base.pem": material.certs["base"]![0]!, "site-0.pem": material.certs["site-0"]![0]! },
    list: [
      { cert: "base.pem", names: [] },
      { cert: "site-0.pem", names: [nameOf("site-0")] },
    ],
    cas: { "clients.pem": material.cas[0]!, "upstream.pem": material.cas[1]! },
    files: {
      "503.http": { text: "HTTP/1.0 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n", reload: true },
      "readme.txt": { text: "nobody reads this", reload: false },
    },
    lines: {},
    sections: {},
  };
}
