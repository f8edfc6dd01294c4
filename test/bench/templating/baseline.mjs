/**
 * What templating/*.tmpl renders, written by hand in plain JavaScript: the same walk over the same objects, direct property
 * reads, output in Buffers of 16 KiB. The bench compares the engine's render with it.
 *
 * Every lookup, check and default of the templates is here too; nothing is precomputed that the templates do not precompute.
 * It knows nothing of slices, fuel, budgets or who read what: that is what the engine has to offer at little cost.
 */

const FLUSH = 16_384;

/** @param {{ metadata: { namespace: string, name: string } }} item @param {string} service */
function backendName(item, service) {
  return `${item.metadata.namespace}_${item.metadata.name}_${service}`;
}

function annotation(item, name) {
  const value = item.metadata.annotations?.[`example.org/${name}`];
  return value === undefined || value === null ? "" : String(value);
}

function server(endpoint, port, number, options) {
  let line = `    server s${number} ${endpoint.addresses?.[0] ?? ""}:${port}`;
  if (options.check) line += ` check inter ${options.interval}`;
  if (options.weight !== "") line += ` weight ${options.weight}`;
  if (options.maxconn > 0) line += ` maxconn ${options.maxconn}`;
  return `${line}\n`;
}

/**
 * @param {{ routes: object[], services: (namespace: string, name: string) => object | null,
 *   slices: (namespace: string, name: string) => object[], settings: Record<string, any> }} data
 * @returns {Buffer[]}
 */
export function renderBaseline({ routes, services, slices, settings }) {
  const out = [];
  let o = "";
  const flush = () => {
    if (o.length > 0) out.push(Buffer.from(o));
    o = "";
  };

  o += `global\n    maxconn ${settings.maxconn ?? 1000}\n`;
  for (const line of settings.global ?? []) o += `    ${line}\n`;
  o += "defaults base\n    mode http\n    timeout connect 1s\n    timeout client 30s\n    timeout server 30s\n";
  o += "frontend http from base\n    bind *:8080\n    use_backend %[req.hdr(host),lower,map(host.map)]\n";

  const seen = new Set();
  const hosts = [];
  for (const route of routes) {
    const className = route.spec?.ingressClassName ?? "haproxy";
    if (className !== "haproxy") continue;
    for (const rule of route.spec?.rules ?? []) {
      const host = rule.host ?? "";
      for (const path of rule.http?.paths ?? []) {
        const service = path.backend?.service?.name ?? "";
        const name = backendName(route, service);
        if (host !== "") hosts.push({ host, path: path.path ?? "/", backend: name });
        const before = seen.size;
        if (seen.add(name).size === before) continue;

        const object = services(route.metadata.namespace, service);
        const balance = annotation(route, "balance").toLowerCase();
        const options = { check: false, interval: "2s", weight: "", maxconn: 0 };
        o += `# ${route.metadata.namespace}/${route.metadata.name} ${host}${path.path ?? "/"}\n`;
        o += `backend ${name} from base\n`;
        o += `    balance ${balance === "" ? "roundrobin" : balance}\n`;
        // backend-directives-10-timeouts
        const timeout = annotation(route, "timeout-server");
        if (timeout !== "") o += `    timeout server ${timeout}\n`;
        // backend-directives-20-headers
        const headers = annotation(route, "set-headers");
        if (headers !== "") {
          for (const pair of headers.split(",")) {
            const parts = pair.split("=");
            if (parts.length === 2) o += `    http-request set-header ${parts[0].trim()} ${parts[1].trim()}\n`;
          }
        }
        // backend-directives-30-checks
        if (annotation(route, "check") === "true") {
          options.check = true;
          const interval = annotation(route, "check-interval");
          options.interval = interval === "" ? "2s" : interval;
        }
        // backend-directives-40-limits
        const limit = Number.parseInt(annotation(route, "maxconn") || "0", 10);
        if (limit > 0) options.maxconn = limit;

        const wanted = path.backend?.service?.port?.number ?? 80;
        let target = wanted;
        for (const port of object?.spec?.ports ?? []) {
          if (port.port === wanted) target = port.targetPort ?? wanted;
        }
        let number = 0;
        for (const slice of slices(route.metadata.namespace, service)) {
          for (const endpoint of slice.endpoints ?? []) {
            if (endpoint.conditions?.ready === false) continue;
            number++;
            o += server(endpoint, target, number, options);
          }
        }
        if (number === 0) o += "    http-request return status 503\n";
        if (o.length > FLUSH) flush();
      }
    }
  }
  o += "backend none from base\n    http-request return status 404\n";
  o += `# ${hosts.length} hosts\n`;
  for (const { host, path, backend } of hosts) {
    o += `# ${host}${path} ${backend}\n`;
    if (o.length > FLUSH) flush();
  }
  flush();
  return out;
}
