/** Random changes of a model, each with the first HAProxy version that takes it without a reload. */
import { whole } from "../../support/random.ts";
import { chance, type Dice, type Kind, type Since } from "./dice.ts";
import { FILE_KINDS } from "./file-changes.ts";
import type { CrtEntry, Model } from "./model.ts";
import { SERVER_KINDS } from "./server-changes.ts";

const KINDS: readonly Kind[] = [...SERVER_KINDS, ...FILE_KINDS];

export interface Step {
  readonly names: readonly string[];
  readonly group: string;
  readonly since: Since;
}

function draw(dice: Dice): Kind {
  const total = KINDS.reduce((sum, kind) => sum + kind.weight, 0);
  let left = dice.random() * total;
  return KINDS.find((kind) => (left -= kind.weight) < 0) ?? KINDS[0]!;
}

/** HAProxy refuses two objects of one guid. */
function guidsDiffer({ backends }: Model): boolean {
  const guids = Object.values(backends)
    .flatMap(({ guid, servers }) => [guid, ...Object.values(servers).map((server) => server.guid)])
    .filter((guid) => guid !== undefined);
  return new Set(guids).size === guids.length;
}

function once(model: Model, dice: Dice, wanted: (kind: Kind) => boolean): Kind {
  for (;;) {
    const kind = draw(dice);
    if (!wanted(kind)) continue;
    const before = structuredClone(model);
    if (kind.make(model, dice) && JSON.stringify(before) !== JSON.stringify(model) && guidsDiffer(model)) return kind;
    Object.assign(model, before);
  }
}

/** Something of the same name that is another thing all the same: only a reload replaces it. */
function isReplaced(before: Model, after: Model): boolean {
  const backends = Object.entries(before.backends).some(([name, was]) => {
    const is = after.backends[name];
    if (is === undefined) return false;
    if (was.guid !== is.guid || was.profile !== is.profile || was.body !== is.body) return true;
    return Object.entries(was.servers).some(([server, { extra, guid }]) => {
      const now = is.servers[server];
      return now !== undefined && (now.extra !== extra || now.guid !== guid);
    });
  });
  const certs = (list: readonly CrtEntry[]): string => list.map(({ cert }) => cert).join(" ");
  const kept = (list: readonly CrtEntry[], other: readonly CrtEntry[]): CrtEntry[] =>
    list.filter((entry) => other.some(({ cert }) => cert === entry.cert));
  const [was, is] = [kept(before.list, after.list), kept(after.list, before.list)];
  // Where two entries answer for one name, their order counts.
  const shared = [before.list, after.list].some((list) => {
    const all = list.flatMap((entry) => entry.names);
    return new Set(all).size < all.length;
  });
  return backends || certs(was) !== certs(is) || shared;
}

/** Changes the model once, or in one of eight times in several ways at once. */
export function change(model: Model, dice: Dice): Step {
  const before = structuredClone(model);
  const first = once(model, dice, () => true);
  const kinds = [first];
  if (chance(dice, 0.125)) {
    // What needs no reload stays among its like, else most of the mixtures would say nothing.
    for (let i = 1 + whole(dice.random, 5); i > 0; i--)
      kinds.push(once(model, dice, (kind) => first.since === undefined || kind.since !== undefined));
  }
  const all = new Set(kinds.map(({ since }) => since));
  const since =
    all.has(undefined) || isReplaced(before, model)
      ? undefined
      : (([3.4, 3.2] as const).find((each) => all.has(each)) ?? 3.0);
  return { names: kinds.map(({ name }) => name), group: kinds.length > 1 ? "several at once" : first.group, since };
}
