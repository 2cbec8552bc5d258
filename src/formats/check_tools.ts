/**
 * What tools and a choice among them must be in every format: names that differ, and a choice of what is there. Providers
 * refuse the rest, each in words of its own, and a model could not tell two tools of one name apart.
 */
import type { Mistake } from "../exchange/failure.ts";
import { string } from "../exchange/json.ts";
import type { Tool, ToolChoice } from "../exchange/prompt.ts";
import { mistake, type Path, shown } from "./validation.ts";

/** Takes out tools that are declared twice with the same words; notes those that differ under one name. */
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

/** @param loc of the choice */
export function checkChoice(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  mistakes: Mistake[],
  loc: Path,
): void {
  if (choice?.type !== "tool" && choice?.type !== "allowed") return;
  const declared = new Set(tools.map((tool) => tool.kind === "opaque" ? string(tool.value.name) : tool.name));
  const names = choice.type === "tool" ? [choice.name] : choice.names;
  for (const name of names) {
    if (declared.has(name)) continue;
    mistake(mistakes, "value_error", loc, `expected the name of one of the tools, got ${shown(name)}`);
  }
}
