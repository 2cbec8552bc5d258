/**
 * Checks tools and tool choice for all formats: names must be unique, and the choice must refer to existing
 * tools. Providers reject other requests with various messages, and a model could not distinguish tools with
 * the same name.
 */
import type { Mistake } from "../exchange/failure.ts";
import { string } from "../exchange/json.ts";
import type { Tool, ToolChoice } from "../exchange/prompt.ts";
import { mistake, type Path, shown } from "./validation.ts";

/** Removes exact duplicates of tools; reports different tools with the same name. */
export function withoutRepeats(tools: Tool[], mistakes: Mistake[]): Tool[] {
  const seen = new Map<string, Tool>();
  return tools.filter((tool) => {
    if (tool.kind === "opaque") return true;
    const key = `${tool.namespace ?? ""}\n${tool.name}`;
    const first = seen.get(key);
    if (first === undefined) {
      seen.set(key, tool);
      return true;
    }
    if (JSON.stringify(first) !== JSON.stringify(tool)) {
      mistake(
        mistakes,
        "value_error",
        ["tools"],
        `expected names that differ, got two different tools named ${shown(tool.name)}`,
      );
    }
    return false;
  });
}

/** @param loc location of the choice */
export function checkChoice(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  mistakes: Mistake[],
  loc: Path,
): void {
  if (choice?.type !== "tool" && choice?.type !== "allowed") return;
  const declared = new Set(
    tools.map((tool) =>
      tool.kind === "opaque" ? tool.asFunction?.name ?? string(tool.value.name) : tool.name
    ),
  );
  const names = choice.type === "tool" ? [choice.name] : choice.names;
  for (const name of names) {
    if (declared.has(name)) continue;
    mistake(mistakes, "value_error", loc, `expected the name of one of the tools, got ${shown(name)}`);
  }
}
