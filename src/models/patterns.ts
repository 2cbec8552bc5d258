/** Patterns over catalog ids: `*` stands for any run of characters, everything else for itself. */

const compiled = new Map<string, RegExp>();

/** Whether an id fits a pattern. */
function matchesPattern(pattern: string, id: string): boolean {
  if (!pattern.includes("*")) return pattern === id;
  let regex = compiled.get(pattern);
  if (!regex) {
    const escaped = pattern.split(/\*+/).map((piece) => piece.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
    regex = new RegExp(`^${escaped.join(".*")}$`, "s");
    if (compiled.size > 10_000) compiled.clear();
    compiled.set(pattern, regex);
  }
  return regex.test(id);
}

export function matchesAny(patterns: readonly string[], id: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, id));
}
