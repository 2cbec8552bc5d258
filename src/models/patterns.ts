/** Patterns over catalog ids: `*` stands for any run of characters, everything else for itself. */

/** Pieces between the stars, by pattern. */
const cut = new Map<string, readonly string[]>();

/**
 * Whether an id fits a pattern. Each piece is looked for once, behind the one before it: the first place is as good as any
 * later one. A regular expression would try all places of all pieces.
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

/** Whether an id is meant by one of the patterns. */
export function matchesAny(patterns: readonly string[], id: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, id));
}
