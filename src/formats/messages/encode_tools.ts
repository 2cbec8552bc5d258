/** `tools` and `tool_choice` of a request to a provider. */
import { encodeCacheMark } from "../cache_mark.ts";
import { type Loose } from "../../exchange/json.ts";
import { extraOf, type FunctionTool, type Prompt } from "../../exchange/prompt.ts";
import { objectSchema } from "../schemas/object_schema.ts";

/**
 * The format has no list of allowed tools: the others are omitted.
 * @param inTurns turns declare and remove tools themselves
 */
export function encodeTools(prompt: Prompt, inTurns: boolean): Loose[] {
  const allowed = prompt.toolChoice?.type === "allowed" ? new Set(prompt.toolChoice.names) : undefined;
  const tools: Loose[] = [];
  const own = prompt.format === "messages";
  for (const tool of prompt.tools) {
    if (tool.declared === (inTurns ? "history" : "list")) continue;
    if (tool.kind === "opaque") {
      if (tool.format === "messages") tools.push(tool.value);
    } else if (!allowed || allowed.has(tool.name)) {
      tools.push(
        tool.kind === "function" ? encodeTool(tool, own) : {
          name: tool.name,
          ...(tool.description !== undefined && { description: tool.description }),
          input_schema: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
          ...encodeCacheMark(tool.cache),
        },
      );
    }
  }
  return tools;
}

/**
 * `strict` of another format is dropped: here it allows a smaller schema language and few tools, and
 * arguments follow the schema without it.
 */
function encodeTool(tool: FunctionTool, own: boolean): Loose {
  return {
    name: tool.name,
    ...(tool.description !== undefined && { description: tool.description }),
    input_schema: own && tool.parameters ? tool.parameters : objectSchema(tool.parameters),
    ...(own && tool.strict !== undefined && { strict: tool.strict }),
    ...encodeCacheMark(tool.cache),
    ...extraOf(tool.extra, "messages"),
  };
}

/** Undefined without tools, listed or in turns: the API rejects a choice then. */
export function encodeToolChoice(prompt: Prompt, tools: readonly Loose[]): Loose | undefined {
  const { toolChoice: choice, parallelCalls } = prompt;
  const some = tools.length > 0 || prompt.tools.some((tool) => tool.declared === "history");
  if (!some || (choice === undefined && parallelCalls === undefined)) return undefined;
  if (choice?.type === "none") return { type: "none" };
  const single = parallelCalls === undefined ? {} : { disable_parallel_tool_use: !parallelCalls };
  if (choice?.type === "tool") return { type: "tool", name: choice.name, ...single };
  const forced = choice?.type === "required" || (choice?.type === "allowed" && choice.required);
  return { type: forced ? "any" : "auto", ...single };
}
