/** Which tools a round of a search loop offers to the model, and which of them it must call. */
import type { FunctionTool, Prompt, ToolChoice } from "../../exchange/prompt.ts";

/** After this many rounds without an executed search, the model may not call tools any more. */
const IDLE_ROUNDS_WITH_TOOLS = 2;
/** After this many, the search is not even offered: some models call whatever tool they are told of. */
const IDLE_ROUNDS_WITH_OFFER = 6;

/** Stated expressly: without it, a provider of the caller's format would get the caller's own choice again. */
const FREE: ToolChoice = { type: "auto" };

/** The tools of a round, and the choice among them. @param idle rounds in which the model only made calls that it was told not to make */
export function offerSearch(
  prompt: Prompt,
  tool: FunctionTool,
  round: number,
  idle: number,
): Pick<Prompt, "tools" | "toolChoice" | "searchWithdrawn"> {
  const { tools, toolChoice: choice } = prompt;
  const offered = [...tools, tool];
  const forced = choice?.type === "required" && tools.length > 0;
  if (idle > IDLE_ROUNDS_WITH_TOOLS && forced) return { tools, toolChoice: choice };
  if (idle > IDLE_ROUNDS_WITH_OFFER) {
    return { tools, toolChoice: tools.length > 0 ? { type: "none" } : undefined, searchWithdrawn: true };
  }
  if (idle > IDLE_ROUNDS_WITH_TOOLS) return { tools: offered, toolChoice: { type: "none" } };
  if (prompt.search?.first) {
    const first = { type: "tool", kind: "function", name: tool.name } as const;
    return { tools: offered, toolChoice: round === 0 ? first : FREE };
  }
  if (choice?.type === "required") {
    return { tools: offered, toolChoice: round === 0 || forced ? choice : FREE };
  }
  if (choice?.type === "allowed") {
    const required = choice.required && (round === 0 || choice.names.length > 0);
    return { tools: offered, toolChoice: { ...choice, required, names: [...choice.names, tool.name] } };
  }
  return { tools: offered, toolChoice: choice };
}
