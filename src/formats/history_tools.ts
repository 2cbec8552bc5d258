/**
 * Tools that a conversation declares or takes away on its way: `additional_tools` and `tool_search_output` of the responses
 * format, `tool_addition` and `tool_removal` of the messages format.
 *
 * They count as if they were listed: what may not be used is refused there, too, and the search is the gateway's own. A
 * provider of the same format gets them in their places, any other the list as it is at the end.
 */
import type { Tool } from "../exchange/prompt.ts";

/** In the order of the turns. `add`: from here on there is this tool. `back`, `remove`: the tool of this name. */
export type ToolChange = { add: Tool } | { back: string } | { remove: string };

/** @param listed the tools of the request's own list */
export function changedTools(listed: Tool[], changes: readonly ToolChange[]): Tool[] {
  if (changes.length === 0) return listed;
  const tools = [...listed];
  /** Where the last tool of each name stands. */
  const last = new Map<string, number>();
  tools.forEach((tool, i) => last.set(keyOf(tool), i));
  /** It is not there any more, for other formats; in its own format it is, until the turn that says so. */
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
  // What the turns declared and took away again is in no list.
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

/** What a model is told of a tool. */
function wordsOf(tool: Tool): unknown {
  if (tool.kind === "opaque") return tool.value;
  const { kind, name, description } = tool;
  return [kind, name, description, tool.kind === "function" ? [tool.parameters, tool.strict] : tool.format];
}
