/**
 * Tools declared or removed within a conversation: `additional_tools` and `tool_search_output` of the
 * responses format, `tool_addition` and `tool_removal` of the messages format.
 *
 * They are treated like listed tools: forbidden ones are refused, and web search is run by the gateway. A
 * provider of the same format gets them at their positions, any other gets the final list.
 */
import type { Tool } from "../exchange/prompt.ts";

/**
 * In the order of the turns. `add`: declares a tool. `back`, `remove`: re-adds or removes the tool of this
 * name.
 */
export type ToolChange = { add: Tool } | { back: string } | { remove: string };

/** @param listed the tools in the request's list */
export function changedTools(listed: Tool[], changes: readonly ToolChange[]): Tool[] {
  if (changes.length === 0) return listed;
  const tools = [...listed];
  /** Index of the last tool of each name. */
  const last = new Map<string, number>();
  tools.forEach((tool, i) => last.set(keyOf(tool), i));
  /** Removed for other formats; in its own format the turn removes it. */
  const withdraw = (at: number | undefined) => {
    if (at !== undefined && tools[at].declared !== "list") tools[at] = { ...tools[at], declared: "list" };
  };
  const inTurns = (at: number) => at >= listed.length;
  const restore = (at: number) => {
    const { declared: _, ...tool } = tools[at];
    tools[at] = (inTurns(at) ? { ...tool, declared: "history" } : tool) as Tool;
  };
  for (const change of changes) {
    if ("add" in change) {
      const key = keyOf(change.add);
      const before = last.get(key);
      if (before !== undefined && sameTool(tools[before], change.add)) {
        restore(before);
        continue;
      }
      withdraw(before);
      last.set(key, tools.length);
      tools.push({ ...change.add, declared: "history" });
    } else if ("remove" in change) withdraw(last.get(nameKey(change.remove)));
    else {
      const at = last.get(nameKey(change.back));
      if (at !== undefined) restore(at);
    }
  }
  // Tools declared and removed by turns are in no list.
  return tools.filter((tool, i) => tool.declared !== "list" || !inTurns(i));
}

function keyOf(tool: Tool): string {
  if (tool.kind === "opaque") return nameKey(String(tool.value.name ?? JSON.stringify(tool.value)));
  return `${tool.namespace ?? ""}\n${tool.name}`;
}

function nameKey(name: string): string {
  return `\n${name}`;
}

function sameTool(a: Tool, b: Tool): boolean {
  return JSON.stringify(wordsOf(a)) === JSON.stringify(wordsOf(b));
}

/** The part of a tool that the model sees. */
function wordsOf(tool: Tool): unknown {
  if (tool.kind === "opaque") return tool.value;
  const { kind, name, description } = tool;
  return [kind, name, description, tool.kind === "function" ? [tool.parameters, tool.strict] : tool.format];
}
