/** Shell patterns over names: `*` (not across `/`), `?`, `[a-z]`, `[^a]`, `\` escapes. In time O(pattern × name). */

type Atom =
  | { readonly kind: "star" | "any" }
  | { readonly kind: "set"; readonly negated: boolean; readonly ranges: readonly (readonly [number, number])[] };

function parsePattern(pattern: string): Atom[] | undefined {
  const points = [...pattern].map((c) => c.codePointAt(0)!);
  const atoms: Atom[] = [];
  for (let i = 0; i < points.length; i++) {
    const c = String.fromCodePoint(points[i]!);
    if (c === "*") atoms.push({ kind: "star" });
    else if (c === "?") atoms.push({ kind: "any" });
    else if (c === "[") {
      let negated = false;
      const ranges: [number, number][] = [];
      i++;
      if (points[i] === 0x5e) {
        negated = true;
        i++;
      }
      const one = (): number | undefined => {
        const escaped = points[i] === 0x5c;
        if (escaped) i++;
        const point = points[i++];
        return !escaped && (point === 0x2d || point === 0x5d) ? undefined : point;
      };
      for (;;) {
        if (points[i] === 0x5d && ranges.length > 0) break;
        const low = one();
        if (low === undefined) return undefined;
        let high: number | undefined = low;
        if (points[i] === 0x2d) {
          i++;
          high = one();
          if (high === undefined) return undefined;
        }
        ranges.push([low, high]);
        if (i >= points.length) return undefined;
      }
      atoms.push({ kind: "set", negated, ranges });
    } else {
      if (c === "\\" && ++i >= points.length) return undefined;
      atoms.push({ kind: "set", negated: false, ranges: [[points[i]!, points[i]!]] });
    }
  }
  return atoms;
}

function fits(atom: Atom, point: number): boolean {
  if (atom.kind !== "set") return point !== 0x2f;
  const inside = atom.ranges.some(([low, high]) => point >= low && point <= high);
  return atom.negated ? !inside && point !== 0x2f : inside;
}

/** A matcher for the pattern; undefined when the pattern is malformed. */
export function globMatcher(pattern: string): ((name: string) => boolean) | undefined {
  const atoms = parsePattern(pattern);
  if (atoms === undefined) return undefined;
  return (name) => {
    const points = [...name].map((c) => c.codePointAt(0)!);
    let a = 0;
    let p = 0;
    let starAtom = -1;
    let starPoint = 0;
    while (p < points.length) {
      const atom = atoms[a];
      if (atom?.kind === "star") {
        starAtom = a++;
        starPoint = p;
      } else if (atom !== undefined && fits(atom, points[p]!)) {
        a++;
        p++;
      } else if (starAtom >= 0 && points[starPoint] !== 0x2f) {
        a = starAtom + 1;
        p = ++starPoint;
      } else return false;
    }
    while (atoms[a]?.kind === "star") a++;
    return a === atoms.length;
  };
}

/** The names that match, in their order; undefined when the pattern is malformed. */
export function globMatches(pattern: string, names: readonly string[]): string[] | undefined {
  const matches = globMatcher(pattern);
  return matches === undefined ? undefined : names.filter(matches);
}
