import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ingress, service, slice, tlsSecret } from "./objects.ts";
import { closeCheckers, Example, installedVersions, objectsOf, verdict } from "./rendering.ts";

const CONFIG = "ingress/config.yaml";
const example = (): Example => new Example(CONFIG);

/** Certificate and key of the Secret of that name in the demonstration. */
function pair(name: string): readonly [crt: string, key: string] {
  const secret = objectsOf("ingress/demo.yaml").find(
    (object) => object.kind === "Secret" && object.metadata.name === name,
  );
  const data = secret!["data"] as Record<string, string>;
  const read = (key: string): string => Buffer.from(data[key]!, "base64").toString();
  return [read("tls.crt"), read("tls.key")];
}
const demo = pair("demo-tls");
const standard = (): object => tlsSecret("default-certificate", ...pair("default-certificate"));
const withTls = (name: string, secret: string, host = "demo.localhost"): object =>
  ingress(name, host, [{}], { tls: [{ hosts: [host], secretName: secret }] });

const test = suite("ingress example");
test.after(closeCheckers);

for (const version of installedVersions) {
  test(`HAProxy ${version} accepts it empty, with its demonstration, and with every kind of fault`, async () => {
    const empty = example();
    assert.match(await verdict(await empty.render(), version), /^(\[WARNING\].*no SSL certificate specified.*)?$/s);
    const whole = example().put(
      ...objectsOf("ingress/demo.yaml"),
      slice("web", [{ address: "127.0.0.9", pod: "web-1" }], [{ name: "http", port: 8080 }]),
    );
    assert.is(await verdict(await whole.render(), version), "");
    const faulty = example().put(
      standard(),
      ingress("missing", "a.example", [{ service: "nope" }]),
      ingress("injected", 'x"\n  bind :1', [{ path: "/\nuse_backend evil" }]),
      withTls("broken", "broken"),
      tlsSecret("broken", "not a certificate", "nor a key"),
    );
    assert.is(await verdict(await faulty.render(), version), "");
  });
}

test("an exact path comes before a prefix of the same text, whichever Ingress is first", async () => {
  for (const [prefix, exact] of [
    ["a", "b"],
    ["b", "a"],
  ] as const) {
    const rendered = await example()
      .put(ingress(prefix, "example.tld", [{ path: "/foo", service: "five" }]))
      .put(ingress(exact, "example.tld", [{ path: "/foo", type: "Exact", service: "ten" }]))
      .render();
    assert.equal(rendered.map("path-exact.map"), ["example.tld/foo default_ten_80"]);
    assert.equal(rendered.map("path-prefix.map"), ["example.tld/foo/ default_five_80"]);
    const order = [...rendered.cfg.matchAll(/var\(txn\.key\),(map_str|concat)/g)].map(([, how]) => how);
    assert.equal(order.slice(0, 2), ["map_str", "concat"]);
  }
});

test("the order of the paths in an Ingress does not matter: prefixes are found by length", async () => {
  const rendered = await example()
    .put(
      ingress("a", "h.example", [
        { path: "/", service: "root" },
        { path: "/api", service: "api" },
      ]),
    )
    .render();
  assert.equal(rendered.map("path-prefix.map").sort(), ["h.example/ default_root_80", "h.example/api/ default_api_80"]);
  assert.match(rendered.cfg, /concat\(\/\),map_beg\(maps\/path-prefix\.map\)/);
});

test("without a host, an exact / and a prefix / are kept apart and both found last", async () => {
  const rendered = await example()
    .put(
      ingress("a", "", [
        { path: "/", type: "Exact", service: "be-1" },
        { path: "/", service: "be-2" },
      ]),
    )
    .render();
  assert.equal(rendered.map("path-exact.map"), ["/ default_be-1_80"]);
  assert.equal(rendered.map("path-prefix.map"), ["/ default_be-2_80"]);
});

test("a trailing slash of a prefix means nothing, and a path that an Ingress repeats is written once", async () => {
  const rendered = await example()
    .put(
      ingress("a", "h.example", [
        { path: "/bar/", service: "one" },
        { path: "/bar", service: "two" },
        { path: "/bar", type: "ImplementationSpecific" },
      ]),
    )
    .render();
  assert.equal(rendered.map("path-prefix.map"), ["h.example/bar/ default_one_80"]);
});

test("a wildcard host is one key, found by the request's host without its first label only", async () => {
  const rendered = await example()
    .put(ingress("a", "*.foo.com", [{}]))
    .render();
  assert.equal(rendered.map("path-prefix.map"), ["*.foo.com/ default_web_80"]);
  assert.match(rendered.cfg, /set-var\(txn\.wildcard\) var\(txn\.host\),regsub\(\^\[\^\.\]\+,\*\)/);
});

test("a Service that does not exist means an empty backend and an Event on the Ingress", async () => {
  const rendered = await example()
    .put(ingress("a", "h.example", [{ service: "ghost" }]))
    .render();
  assert.equal(rendered.backend("default_ghost_80"), ["guid be:default:ghost:80"]);
  assert.equal(rendered.events, ["ServiceNotFound Ingress default/a: there is no Service ghost; its paths answer 503"]);
  const mended = await example()
    .put(ingress("a", "h.example", [{ service: "ghost" }]), service("ghost"))
    .render();
  assert.equal(mended.events, []);
});

test("the Service appears later: the same warm service clears the Event and fills the backend", async () => {
  const live = example().put(ingress("a", "h.example", [{}]));
  assert.is((await live.render()).events.length, 1);
  live.put(service("web"), slice("web", [{ address: "10.0.0.1", pod: "web-1" }]));
  const after = await live.render();
  assert.equal(after.events, []);
  assert.equal(after.backend("default_web_80"), ["guid be:default:web:80", "server web-1 10.0.0.1:8080"]);
});

test("servers listen on the pods' port, whether the Ingress names the Service's port or gives its number", async () => {
  const ports = [
    { name: "http", port: 80, targetPort: "http" },
    { name: "admin", port: 81, targetPort: 9090 },
  ];
  const slicePorts = [
    { name: "admin", port: 9090 },
    { name: "http", port: 8080 },
  ];
  const rendered = await example()
    .put(service("web", ports), slice("web", [{ address: "10.0.0.1", pod: "web-1" }], slicePorts))
    .put(
      ingress("a", "h.example", [
        { path: "/n", port: "http" },
        { path: "/m", port: 80 },
        { path: "/a", port: 81 },
      ]),
    )
    .render();
  for (const [name, port] of [
    ["default_web_http", 8080],
    ["default_web_80", 8080],
    ["default_web_81", 9090],
  ] as const) {
    assert.equal(rendered.backend(name)?.at(-1), `server web-1 10.0.0.1:${port}`);
  }
});

test("the only port of a Service need not have a name", async () => {
  for (const slicePorts of [[{ port: 8080 }], [{ name: "", port: 8080 }]]) {
    const rendered = await example()
      .put(
        service("web"),
        slice("web", [{ address: "10.0.0.1", pod: "p" }], slicePorts),
        ingress("a", "h.example", [{}]),
      )
      .render();
    assert.equal(rendered.backend("default_web_80")?.at(-1), "server p 10.0.0.1:8080");
    assert.equal(rendered.events, []);
  }
});

test("a headless Service is served like any other, and a port that it lacks is named", async () => {
  const rendered = await example()
    .put(
      service("web", [{ port: 80, targetPort: 8080 }], { clusterIP: "None" }),
      slice("web", [{ address: "10.0.0.1", pod: "p" }]),
    )
    .put(ingress("a", "h.example", [{ path: "/ok" }, { path: "/no", port: 81 }]))
    .render();
  assert.equal(rendered.backend("default_web_80")?.at(-1), "server p 10.0.0.1:8080");
  assert.equal(rendered.events, [
    "ServicePortNotFound Ingress default/a: Service web has no port 81; its paths answer 503",
  ]);
});

test("an endpoint without a pod is a server named by its address", async () => {
  const v6 = {
    ...slice("web", [{ address: "fd00::1" }]),
    addressType: "IPv6",
    metadata: { name: "web-6", namespace: "default", labels: { "kubernetes.io/service-name": "web" } },
  };
  const rendered = await example()
    .put(service("web"), slice("web", [{ address: "10.0.0.7" }]), v6, ingress("a", "h.example", [{}]))
    .render();
  assert.equal(rendered.backend("default_web_80")?.slice(1), [
    "server 10.0.0.7 10.0.0.7:8080",
    "server fd00__1 [fd00::1]:8080",
  ]);
});

test("pods that shut down or are not ready are disabled servers; while none is ready, those that still serve are used", async () => {
  const going = { ready: false, serving: true, terminating: true };
  const starting = { ready: false, serving: false, terminating: false };
  const some = await example()
    .put(service("web"), ingress("a", "h.example", [{}]))
    .put(
      slice("web", [
        { address: "10.0.0.1", pod: "a" },
        { address: "10.0.0.2", pod: "b", conditions: going },
        { address: "10.0.0.3", pod: "c", conditions: starting },
      ]),
    )
    .render();
  assert.equal(some.backend("default_web_80")?.slice(1), [
    "server a 10.0.0.1:8080",
    "server b 10.0.0.2:8080 disabled",
    "server c 10.0.0.3:8080 disabled",
  ]);
  const none = await example()
    .put(service("web"), ingress("a", "h.example", [{}]))
    .put(
      slice("web", [
        { address: "10.0.0.2", pod: "b", conditions: going },
        { address: "10.0.0.3", pod: "c", conditions: starting },
      ]),
    )
    .render();
  assert.equal(none.backend("default_web_80")?.slice(1), ["server b 10.0.0.2:8080", "server c 10.0.0.3:8080 disabled"]);
});

test("what a backend's record declares is what its text says", async () => {
  const rendered = await example()
    .put(
      service("web"),
      ingress("a", "h.example", [{}]),
      slice("web", [
        { address: "10.0.0.1", pod: "a" },
        { address: "10.0.0.2", conditions: { ready: false } },
      ]),
    )
    .render();
  const { record } = rendered.outcome.result!.plan.backends.get("default_web_80")!;
  assert.is(record.shape, "dynamic", record.shapeReason);
  const text = [
    `guid ${record.guid}`,
    ...record.servers.map(
      ({ name, address, port, disabled }) => `server ${name} ${address}:${port}${disabled === true ? " disabled" : ""}`,
    ),
  ];
  assert.equal(rendered.backend("default_web_80"), text);
  assert.match(rendered.cfg, new RegExp(`^defaults ${record.profile}$`, "m"));
});

test("two Ingresses may use one Service: one backend, which stays when the first of them goes", async () => {
  const [one, two] = [ingress("one", "a.example", [{}]), ingress("two", "b.example", [{}])];
  const live = example().put(service("web"), one, two);
  assert.is((await live.render()).cfg.match(/^backend default_web_80 /gm)?.length, 1);
  live.remove(one);
  const after = await live.render();
  assert.is(after.cfg.match(/^backend default_web_80 /gm)?.length, 1);
  assert.equal(after.map("path-prefix.map"), ["b.example/ default_web_80"]);
});

test("a certificate is listed for its hosts once its Secret is there; until then the Ingress has an Event", async () => {
  const live = example().put(standard(), withTls("a", "demo-tls"));
  const before = await live.render();
  assert.is(before.files.get("general/certificates.list")?.trim(), "certs/default.pem");
  assert.match(before.events.join("\n"), /^CertificateNotFound Ingress default\/a: there is no Secret "demo-tls"/m);
  live.put(tlsSecret("demo-tls", ...demo));
  const after = await live.render();
  assert.is(
    after.files.get("general/certificates.list"),
    "certs/default.pem\ncerts/default_demo-tls.pem [alpn h2,http/1.1] demo.localhost\n",
  );
  assert.not.match(after.events.join("\n"), /Certificate/);
  assert.is(after.files.get("certs/default_demo-tls.pem"), `${demo[0].trim()}\n${demo[1].trim()}\n`);
  const file = after.outcome.result!.plan.files.get("certs/default_demo-tls.pem");
  assert.is(file?.kind, "cert");
  assert.is(file?.secret, true);
});

test("a renewed certificate changes its own file alone", async () => {
  const live = example().put(standard(), withTls("a", "demo-tls"), tlsSecret("demo-tls", ...demo));
  const before = await live.render();
  live.put(tlsSecret("demo-tls", ...pair("default-certificate")));
  const after = await live.render();
  const changed = [...after.files].filter(([path, text]) => before.files.get(path) !== text).map(([path]) => path);
  assert.equal(changed, ["certs/default_demo-tls.pem"]);
});

test("a broken certificate is named on its Secret and the others are served", async () => {
  const rendered = await example()
    .put(standard(), withTls("a", "good"), tlsSecret("good", ...demo))
    .put(withTls("b", "broken", "b.example"), tlsSecret("broken", demo[0], pair("default-certificate")[1]))
    .render();
  assert.is(
    rendered.files.get("general/certificates.list"),
    "certs/default.pem\ncerts/default_good.pem [alpn h2,http/1.1] demo.localhost\n",
  );
  assert.is(
    rendered.events.filter((event) => event.startsWith("InvalidCertificate Secret default/broken: ")).length,
    1,
    rendered.events.join("\n"),
  );
});

test("without any certificate the HTTPS bind is there, and refuses names that it does not know", async () => {
  const rendered = await example().render();
  assert.is(rendered.files.get("general/certificates.list")?.trim(), "");
  assert.match(rendered.cfg, /:8443" ssl crt-list general\/certificates\.list strict-sni alpn h2,http\/1\.1$/m);
  const withDefault = await example().put(standard()).render();
  assert.match(withDefault.cfg, /:8443" ssl crt-list general\/certificates\.list alpn h2,http\/1\.1$/m);
});

test("a broken default certificate is named, the others are served, and unknown names are refused", async () => {
  const rendered = await example()
    .put(
      tlsSecret("default-certificate", "rubbish", "rubbish"),
      withTls("a", "demo-tls"),
      tlsSecret("demo-tls", ...demo),
    )
    .render();
  assert.match(rendered.events.join("\n"), /^InvalidCertificate Secret default\/default-certificate: .*are refused$/m);
  assert.is(
    rendered.files.get("general/certificates.list"),
    "certs/default_demo-tls.pem [alpn h2,http/1.1] demo.localhost\n",
  );
  assert.match(rendered.cfg, /certificates\.list strict-sni /);
});

test("a rule-less Ingress serves everything that no rule matches", async () => {
  const only = {
    ...ingress("d", "", []),
    spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } },
  };
  const rendered = await example().put(only, service("web")).render();
  assert.equal(rendered.map("path-prefix.map"), ["/ default_web_80"]);
  assert.ok(rendered.backend("default_web_80"));
});

test("only Ingresses without a class, or of a class that names this controller, are served", async () => {
  const classOf = (name: string, controller: string): object => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name },
    spec: { controller },
  });
  const rendered = await example()
    .put(classOf("mine", "haproxy-haptic.org/ingress"), classOf("other", "example.com/other"))
    .put(
      ...["none", "mine", "other", "absent"].map((name) =>
        ingress(name, `${name}.example`, [{}], name === "none" ? {} : { ingressClassName: name }),
      ),
    )
    .render();
  assert.equal(
    rendered.map("path-prefix.map").map((line) => line.split("/")[0]),
    ["mine.example", "none.example"],
  );
});

test("another controller's name in extraContext divides the classes of two configurations", async () => {
  const classOf = (name: string, controller: string): object => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name },
    spec: { controller },
  });
  const rendered = await new Example(CONFIG, { ingressController: "example.com/second" })
    .put(classOf("first", "haproxy-haptic.org/ingress"), classOf("second", "example.com/second"))
    .put(...["first", "second"].map((name) => ingress(name, `${name}.example`, [{}], { ingressClassName: name })))
    .render();
  assert.equal(
    rendered.map("path-prefix.map").map((line) => line.split("/")[0]),
    ["second.example"],
  );
});

/** Texts that must not leave their token, wherever a user may write them. */
const HOSTILE = [
  "a b",
  "a\nbind :1",
  "a\tb",
  'a"b',
  "a'b",
  "a\\b",
  "a#b",
  "a;b",
  "a%[src]b",
  "${HOME}",
  "a\u0000b",
  "a\rb",
  "é",
  "\u2028",
  "<<",
  "a}b",
  "-",
  "",
  "!x",
  "*",
  "*.*.x",
];

/** An Ingress of that namespace with the text at every place that a user fills; backends are good where `whole`. */
function hostileIngress(text: string, namespace: string, whole: boolean): object {
  const good = { service: { name: "web", port: { number: 80 } } };
  const backend = whole ? good : { service: { name: text, port: { name: text } } };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "h", namespace, uid: "u", annotations: { [text]: text } },
    spec: {
      tls: [{ hosts: [text, "ok.example"], secretName: text }],
      defaultBackend: whole ? { service: { name: text, port: { number: text } } } : good,
      rules: [
        { host: text, http: { paths: [{ path: text, pathType: text, backend }] } },
        { host: text, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } },
        { host: "ok.example", http: { paths: [{ path: `/${text}`, pathType: "Exact", backend: good }] } },
        { host: "ok.example", http: { paths: [{ path: `/${text}`, pathType: text, backend: good }] } },
      ],
    },
  };
}

for (const [namespace, whole] of [
  ["", false],
  ["default", true],
  ["default", false],
] as const) {
  test(`no text of a user leaves its token (${namespace === "" ? "hostile" : namespace} namespace, ${whole ? "good" : "hostile"} backends)`, async () => {
    const plain = await example().put(standard()).render();
    const directives = (cfg: string): string[] =>
      cfg.split("\n").filter((line) => !/^(backend default_web_80| {4}(server|guid) )/.test(line) && line !== "");
    for (const text of HOSTILE) {
      const shown = JSON.stringify(text);
      const rendered = await example()
        .put(
          standard(),
          hostileIngress(text, namespace || text, whole),
          ingress("good", "ok.example", [{ path: "/good" }]),
        )
        .put(service("web", [{ name: text, port: 80 }]))
        .put(
          slice(
            "web",
            [
              { address: text, pod: text },
              { address: "10.0.0.1", pod: text },
            ],
            [{ name: text, port: 8080 }],
          ),
        )
        .render();
      assert.equal(
        rendered.outcome.isolated.map((fault) => fault.problem.message),
        [],
        shown,
      );
      assert.equal(directives(rendered.cfg), directives(plain.cfg), shown);
      for (const line of rendered.backend("default_web_80") ?? []) {
        assert.match(line, /^(guid be:default:web:80|server [a-z0-9.-]+ 10\.0\.0\.1:8080)$/, shown);
      }
      for (const map of ["path-exact.map", "path-prefix.map"]) {
        for (const line of rendered.map(map)) assert.match(line, /^(ok\.example)?\/[!-~]* default_web_80$/, shown);
      }
      assert.ok(rendered.map("path-prefix.map").includes("ok.example/good/ default_web_80"), shown);
      assert.is(rendered.files.get("general/certificates.list"), "certs/default.pem\n", shown);
    }
  });
}

/** Certificates and keys that HAProxy would refuse, and with them its whole configuration. */
const [crt, key] = demo;
const BROKEN: Readonly<Record<string, readonly [crt: string, key: string]>> = {
  "both empty": ["", ""],
  "no key": [crt, ""],
  "no certificate": ["", key],
  "no PEM": ["hello", "world"],
  "another key": [crt, pair("default-certificate")[1]],
  "a chain that is cut off": [`${crt}\n-----BEGIN CERTIFICATE-----\nMIIB`, key],
  "rubbish in the chain": [`${crt}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`, key],
  "a certificate after the key that cannot be read": [
    crt,
    `${key}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
  ],
  "a certificate after the key that is cut off": [crt, `${key}\n-----BEGIN CERTIFICATE-----\nMII`],
  "a second key that is rubbish": [crt, `-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n${key}`],
  "rubbish parameters": [`-----BEGIN DH PARAMETERS-----\nAAAA\n-----END DH PARAMETERS-----\n${crt}`, key],
  "a key where the certificate should be": [`${key}${crt}`, key],
};

test("HAProxy accepts the configuration whatever Secrets hold, and each that is left out is named", async () => {
  const live = example().put(standard());
  const names = Object.keys(BROKEN).map((what) => what.replaceAll(" ", "-").toLowerCase());
  for (const [index, [badCrt, badKey]] of Object.values(BROKEN).entries()) {
    const name = names[index]!;
    live.put(withTls(name, name, `h${index}.example`), tlsSecret(name, badCrt, badKey));
  }
  const rendered = await live.render();
  for (const version of installedVersions) assert.is(await verdict(rendered, version), "", version);
  for (const name of names) {
    const refused = rendered.events.some((event) => event.startsWith(`InvalidCertificate Secret default/${name}: `));
    assert.is(refused, !rendered.files.has(`certs/default_${name}.pem`), name);
    assert.ok(refused, name);
  }
});

test("one changed endpoint runs one component of one Ingress", async () => {
  const live = example().put(service("web"), slice("web", [{ address: "10.0.0.1", pod: "a" }]));
  for (let i = 0; i < 20; i++)
    live.put(ingress(`i${i}`, `h${i}.example`, [{ service: i === 7 ? "web" : `other-${i}` }]));
  await live.render();
  live.put(slice("web", [{ address: "10.0.0.2", pod: "b" }]));
  const after = await live.render();
  assert.is(after.outcome.result!.stats.executed, 1);
  assert.equal(after.backend("default_web_80")?.at(-1), "server b 10.0.0.2:8080");
});

test("whatever the order of events, the warm render equals a cold one", async () => {
  const objects = [
    ...objectsOf("ingress/demo.yaml"),
    slice("web", [{ address: "10.0.0.1", pod: "a" }], [{ name: "http", port: 8080 }]),
    ingress("z", "z.example", [{}]),
  ];
  const cold = await example()
    .put(...objects)
    .render();
  const live = example();
  for (const object of objects.toReversed()) {
    live.put(object);
    await live.render();
  }
  live.remove(objects.at(-1)!);
  await live.render();
  live.put(objects.at(-1)!);
  const warm = await live.render();
  assert.equal(Object.fromEntries(warm.files), Object.fromEntries(cold.files));
  assert.is(warm.outcome.result!.plan.id, cold.outcome.result!.plan.id);
});

test.run();
