/** Shell patterns, matched by trying everything. */

const SET = /\[(?:\^|(?!\^))(?:(?:\\.|[^\]\\-])(?:-(?:\\.|[^\]\\-]))?)+\]/su;

/** Whether a pattern can be read: sets are closed and not empty, nothing ends in a backslash. */
export function globIsValid(pattern: string): boolean {
  return new RegExp(`^(?:\\\\.|[^\\\\[]|${SET.source})*$`, "su").test(pattern);
}

/** Whether a name matches: `*` and `?` do not cross `/`; `[a-c]`, `[^a]`, `\x`. */
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
      const [whole] = SET.exec(p)!;
      const negated = p[1] === "^";
      const inside = [...whole.slice(negated ? 2 : 1, -1).matchAll(/(?:\\(.)|([^\\]))(?:-(?:\\(.)|([^\\])))?/gsu)].some(
        ([, escaped, plain, escapedEnd, plainEnd]) => {
          const low = escaped ?? plain!;
          return low <= s[0]! && s[0]! <= (escapedEnd ?? plainEnd ?? low);
        },
      );
      return inside !== negated && s[0] !== "/" && match(p.slice(whole.length), s.slice(1));
    }
    return c === s[0] && match(p.slice(1), s.slice(1));
  };
  return match(pattern, name);
}
