/** Shell patterns, matched by trying everything. */

/** Whether a name matches: `*` and `?` do not cross `/`; `[a-c]`, `[^a]`, `\x`. Undefined = a bad pattern. */
export function globMatches(pattern: string, name: string): boolean {
  const match = (p: string, s: string): boolean => {
    if (p === "") return s === "";
    const c = p[0]!;
    if (c === "*") {
      for (let i = 0; i <= s.length; i++) {
        if (match(p.slice(1), s.slice(i))) return true;
        if (s[i] === "/") return false;
      }
      return false;
    }
    if (s === "") return false;
    if (c === "?") return s[0] !== "/" && match(p.slice(1), s.slice(1));
    if (c === "\\") return p[1] === s[0] && match(p.slice(2), s.slice(1));
    if (c === "[") {
      const end = p.indexOf("]", 2);
      const negated = p[1] === "^";
      const set = p.slice(negated ? 2 : 1, end);
      let inside = false;
      for (let i = 0; i < set.length; i++) {
        if (set[i + 1] === "-" && i + 2 < set.length) {
          inside ||= set[i]! <= s[0]! && s[0]! <= set[i + 2]!;
          i += 2;
        } else inside ||= set[i] === s[0];
      }
      return inside !== negated && s[0] !== "/" && match(p.slice(end + 1), s.slice(1));
    }
    return c === s[0] && match(p.slice(1), s.slice(1));
  };
  return match(pattern, name);
}
