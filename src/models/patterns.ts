/** Patterns of catalog ids: `*` matches any run of characters, everything else matches itself. */

/** Literal pieces between stars, by pattern. */
const cut = new Map<string, readonly string[]>();

/**
 * Whether an id matches a pattern. Each piece is searched once, after the previous one: the first match is as
 * good as any later one. A regular expression would backtrack.
 */
function matchesPattern(pattern: string, id: string): boolean {
  if (!pattern.includes("*")) return pattern === id;
  let pieces = cut.get(pattern);
  if (!pieces) {
    pieces = pattern.split(/\*+/);
    if (cut.size > 10_000) cut.clear();
    cut.set(pattern, pieces);
  }
  const last = pieces.length - 1;
  if (!id.startsWith(pieces[0])) return false;
  let at = pieces[0].length;
  for (let i = 1; i < last; i++) {
    const found = id.indexOf(pieces[i], at);
    if (found < 0) return false;
    at = found + pieces[i].length;
  }
  return id.length - pieces[last].length >= at && id.endsWith(pieces[last]);
}

/** Whether an id matches one of the patterns. */
export function matchesAny(patterns: readonly string[], id: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, id));
}
