/** JSON patch (RFC 6902). */
import { deepCopy, deepEqual, isFields, setOwn } from "../objects.ts";
import { StatusError, badRequest } from "../status.ts";

/** A `test` that fails, or a path that does not exist. `cause`: which one, for those who are told. */
const rejected = (why?: string): StatusError =>
  Object.assign(new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {}), {
    cause: why,
  });

const tokens = (path: string): string[] => {
  if (path === "") return [];
  if (!path.startsWith("/")) throw rejected();
  return path
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
};

function index(list: readonly unknown[], token: string, insert: boolean): number {
  if (token === "-" && insert) return list.length;
  const at = /^-?\d+$/.test(token) ? Number(token) : Number.NaN;
  const real = at < 0 ? list.length + at : at;
  if (!(real >= 0 && real < list.length + (insert ? 1 : 0))) throw rejected();
  return real;
}

function child(container: unknown, token: string): unknown {
  if (Array.isArray(container)) return container[index(container, token, false)];
  if (isFields(container) && Object.hasOwn(container, token)) return container[token];
  throw rejected();
}

interface Root {
  value: unknown;
}

function parentOf(root: Root, path: readonly string[]): unknown {
  let current = root.value;
  for (const token of path.slice(0, -1)) current = child(current, token);
  return current;
}

const read = (root: Root, path: readonly string[]): unknown => {
  let current = root.value;
  for (const token of path) current = child(current, token);
  return current;
};

function add(root: Root, path: readonly string[], value: unknown): void {
  const last = path.at(-1);
  if (last === undefined) {
    root.value = value;
    return;
  }
  const parent = parentOf(root, path);
  if (Array.isArray(parent)) parent.splice(index(parent, last, true), 0, value);
  else if (isFields(parent)) setOwn(parent, last, value);
  else throw rejected();
}

function remove(root: Root, path: readonly string[]): void {
  const last = path.at(-1);
  if (last === undefined) throw rejected();
  const parent = parentOf(root, path);
  if (Array.isArray(parent)) parent.splice(index(parent, last, false), 1);
  else if (isFields(parent) && Object.hasOwn(parent, last)) delete parent[last];
  else throw rejected();
}

/** The patched value; nothing of `target` is changed. */
export function jsonPatch(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw badRequest("json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  const root: Root = { value: deepCopy(target) };
  for (const operation of patch) {
    if (!isFields(operation) || typeof operation["path"] !== "string") throw rejected();
    const path = tokens(operation["path"]);
    const from = typeof operation["from"] === "string" ? tokens(operation["from"]) : [];
    const value = deepCopy(operation["value"]);
    switch (operation["op"]) {
      case "add":
        add(root, path, value);
        break;
      case "remove":
        remove(root, path);
        break;
      case "replace":
        read(root, path);
        if (path.length === 0) root.value = value;
        else {
          const parent = parentOf(root, path);
          const last = path.at(-1) as string;
          if (Array.isArray(parent)) parent[index(parent, last, false)] = value;
          else setOwn(parent as Record<string, unknown>, last, value);
        }
        break;
      case "move": {
        const moved = read(root, from);
        remove(root, from);
        add(root, path, moved);
        break;
      }
      case "copy":
        add(root, path, deepCopy(read(root, from)));
        break;
      case "test":
        if (!deepEqual(read(root, path), value)) {
          throw rejected(`testing value ${operation["path"]} failed: test failed`);
        }
        break;
      default:
        throw rejected();
    }
  }
  return root.value;
}
