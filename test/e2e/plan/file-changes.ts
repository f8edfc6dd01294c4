/** Random changes of maps, certificates, crt-lists, CA files, other files and text. */
import { whole } from "../../support/random.ts";
import { chance, type Dice, free, HOSTS, type Kind, numbered, one } from "./dice.ts";
import type { CrtEntry, Model } from "./model.ts";
import { nameOf, SITES } from "./start.ts";

function changeEntries(model: Model, dice: Dice): boolean {
  const entries = model.list.slice(1);
  const entry = one(dice, entries);
  if (entry === undefined) return false;
  const first = entry.names[0] ?? "any.example";
  switch (whole(dice.random, 4)) {
    case 0:
      entry.options = entry.options === undefined ? "alpn h2,http/1.1" : "ssl-min-ver TLSv1.2";
      break;
    case 1:
      entry.names = [first];
      break;
    case 2:
      model.list.push(...model.list.splice(1, 1));
      break;
    default:
      entry.names = [`changed-${whole(dice.random, 1000)}.example`];
  }
  return true;
}

/** A certificate with an entry for its names. Names of different sites differ, so the place in the list does not count. */
function addCertificate(model: Model, dice: Dice): boolean {
  const site = free(
    dice,
    SITES.map((each) => `${each}.pem`),
    model.certs,
  )?.replace(".pem", "");
  if (site === undefined) return false;
  model.certs[`${site}.pem`] = one(dice, dice.material.certs[site]!)!;
  const entry: CrtEntry = { cert: `${site}.pem`, names: chance(dice, 0.8) ? [nameOf(site)] : [] };
  if (chance(dice, 0.2)) entry.options = "alpn h2,http/1.1";
  model.list.splice(1 + whole(dice.random, model.list.length), 0, entry);
  return true;
}

const withoutEntry = (model: Model): string[] =>
  Object.keys(model.certs).filter((cert) => !model.list.some((entry) => entry.cert === cert));

export const FILE_KINDS: readonly Kind[] = [
  {
    name: "host added",
    group: "maps",
    since: 3.0,
    weight: 6,
    make(model, dice) {
      const route = free(dice, numbered("r", 40), model.routes);
      const backend = one(dice, Object.keys(model.backends));
      if (route === undefined || backend === undefined) return false;
      // Some hosts are there already: two entries of one key.
      model.routes[route] = { host: one(dice, HOSTS)!, backend };
      return true;
    },
  },
  {
    name: "host removed",
    group: "maps",
    since: 3.0,
    weight: 5,
    make(model, dice) {
      const route = one(dice, Object.keys(model.routes));
      if (route === undefined) return false;
      delete model.routes[route];
      return true;
    },
  },
  {
    name: "host leads elsewhere",
    group: "maps",
    since: 3.0,
    weight: 5,
    make(model, dice) {
      const route = one(dice, Object.values(model.routes));
      const backend = one(dice, Object.keys(model.backends));
      if (route === undefined || backend === undefined) return false;
      route.backend = backend;
      return true;
    },
  },
  {
    name: "many hosts at once",
    group: "maps",
    since: 3.0,
    weight: 0.7,
    make(model, dice) {
      const many = Object.keys(model.routes).filter((route) => route.startsWith("many-"));
      if (many.length > 0) for (const route of many) delete model.routes[route];
      else {
        const backend = one(dice, Object.keys(model.backends)) ?? "none";
        for (let i = 0; i < 700; i++) model.routes[`many-${i}`] = { host: `m${i}.example`, backend };
      }
      return true;
    },
  },
  {
    name: "ordered rule added, removed, moved or turned",
    group: "maps",
    since: 3.0,
    weight: 8,
    make(model, dice) {
      const backend = one(dice, Object.keys(model.backends)) ?? "none";
      const at = whole(dice.random, model.rules.length + 1);
      const rule = model.rules[at];
      switch (whole(dice.random, 4)) {
        case 0:
          if (model.rules.length > 20) model.rules.length = 5;
          model.rules.splice(at, 0, { pattern: `^x${whole(dice.random, 30)}[a-z]*\\.example$`, backend });
          return true;
        case 1:
          return model.rules.splice(at, 1).length > 0;
        case 2:
          if (model.rules.length < 2 || rule === undefined) return false;
          model.rules.splice(at, 1);
          model.rules.splice(whole(dice.random, model.rules.length + 1), 0, rule);
          return true;
        default:
          if (rule === undefined) return false;
          rule.backend = backend;
          return true;
      }
    },
  },
  {
    name: "value of a map with blanks",
    group: "maps",
    since: 3.0,
    weight: 4,
    make(model, dice) {
      const host = one(dice, HOSTS)!;
      if (host in model.notes && chance(dice, 0.4)) delete model.notes[host];
      else
        model.notes[host] = one(dice, [
          "plain",
          "two words",
          "a  b   c",
          "semi;colon",
          'quo"ted',
          "back\\slash",
          "ünï",
        ])!;
      return true;
    },
  },
  { name: "certificate new, with its entry", group: "certs", since: 3.0, weight: 6, make: addCertificate },
  {
    name: "certificate replaced",
    group: "certs",
    since: 3.0,
    weight: 6,
    make(model, dice) {
      const cert = one(dice, Object.keys(model.certs))!;
      model.certs[cert] = one(dice, dice.material.certs[cert.replace(".pem", "")]!)!;
      return true;
    },
  },
  {
    name: "certificate removed with its entry",
    group: "certs",
    since: 3.0,
    weight: 4,
    make(model, dice) {
      const entry = one(dice, model.list.slice(1));
      if (entry === undefined) return false;
      model.list = model.list.filter((each) => each.cert !== entry.cert);
      delete model.certs[entry.cert];
      return true;
    },
  },
  {
    name: "crt-list entry removed, its file stays",
    group: "crt-lists",
    since: 3.0,
    weight: 3,
    make(model, dice) {
      const entry = one(dice, model.list.slice(1));
      if (entry === undefined) return false;
      model.list = model.list.filter((each) => each !== entry);
      return true;
    },
  },
  {
    name: "crt-list entry added for a file that is there",
    group: "crt-lists",
    since: 3.0,
    weight: 4,
    make(model, dice) {
      const cert = one(dice, withoutEntry(model));
      if (cert === undefined) return false;
      model.list.splice(1 + whole(dice.random, model.list.length), 0, {
        cert,
        names: [nameOf(cert.replace(".pem", ""))],
      });
      return true;
    },
  },
  {
    name: "certificate without entry added or removed",
    group: "certs",
    since: 3.0,
    weight: 3,
    make(model, dice) {
      const cert = one(dice, withoutEntry(model));
      if (cert !== undefined && chance(dice, 0.5)) {
        delete model.certs[cert];
        return true;
      }
      const list = [...model.list];
      const added = addCertificate(model, dice);
      model.list = list;
      return added;
    },
  },
  {
    name: "crt-list entry with more names",
    group: "crt-lists",
    since: 3.0,
    weight: 3,
    make(model, dice) {
      const entry = one(
        dice,
        model.list.slice(1).filter(({ names }) => names.length > 0 && names.length < 4),
      );
      if (entry === undefined) return false;
      entry.names = [
        ...entry.names,
        `${one(dice, ["www", "m", "img", "cdn"])!}-${whole(dice.random, 1e6)}.${nameOf(entry.cert.replace(".pem", ""))}`,
      ];
      return true;
    },
  },
  { name: "crt-list entry changed or moved", group: "crt-lists", since: 3.0, weight: 1, make: changeEntries },
  {
    name: "CA file of clients replaced",
    group: "ca-files",
    since: 3.2,
    weight: 3,
    make(model, dice) {
      model.cas["clients.pem"] = one(dice, dice.material.cas)!;
      return true;
    },
  },
  {
    name: "CA file of servers replaced",
    group: "ca-files",
    since: undefined,
    weight: 1,
    make(model, dice) {
      model.cas["upstream.pem"] = one(dice, dice.material.cas)!;
      return true;
    },
  },
  {
    name: "CA file new or removed",
    group: "ca-files",
    since: 3.0,
    weight: 2,
    make(model, dice) {
      const names = Object.keys(model.cas).filter((name) => name.startsWith("new-"));
      const name = one(dice, names);
      if (name !== undefined && chance(dice, 0.5)) {
        delete model.cas[name];
        return true;
      }
      const fresh = free(dice, ["new-0.pem", "new-1.pem", "new-2.pem"], model.cas);
      if (fresh !== undefined) model.cas[fresh] = one(dice, dice.material.cas)!;
      return fresh !== undefined;
    },
  },
  {
    name: "file that needs no reload",
    group: "files",
    since: 3.0,
    weight: 3,
    make(model, dice) {
      const name = `page-${whole(dice.random, 4)}.txt`;
      if (name in model.files && chance(dice, 0.4)) delete model.files[name];
      else model.files[name] = { text: `page ${whole(dice.random, 1e6)}\n`, reload: false };
      return true;
    },
  },
  {
    name: "file that needs a reload",
    group: "files",
    since: undefined,
    weight: 1,
    make(model, dice) {
      model.files["503.http"] = {
        text: `HTTP/1.0 503 Service Unavailable\r\nx-n: ${whole(dice.random, 1e6)}\r\ncontent-length: 0\r\n\r\n`,
        reload: true,
      };
      return true;
    },
  },
  {
    name: "text of a section",
    group: "text",
    since: undefined,
    weight: 2,
    make(model, dice) {
      const line = `line-${whole(dice.random, 4)}`;
      const section = `users-${whole(dice.random, 3)}`;
      if (chance(dice, 0.7)) {
        if (line in model.lines && chance(dice, 0.5)) delete model.lines[line];
        else model.lines[line] = `http-response set-header x-${line} v${whole(dice.random, 1e6)}`;
      } else if (section in model.sections) delete model.sections[section];
      else model.sections[section] = `userlist ${section}\n    user u insecure-password p${whole(dice.random, 1e6)}`;
      return true;
    },
  },
];
