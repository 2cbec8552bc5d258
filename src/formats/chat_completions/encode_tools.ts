/** `tools` and `tool_choice` of a request to a provider. */
import { encodeStrictness } from "../schemas/strict_schema.ts";
import { encodeCacheMark } from "../cache_mark.ts";
import { type Loose, object } from "../../exchange/json.ts";
import {
  type CustomTool,
  extraOf,
  type FunctionTool,
  type Prompt,
  type Tool,
  type ToolChoice,
} from "../../exchange/prompt.ts";

/** @param own the caller uses this format, so unknown fields are sent too */
export function encodeTool(tool: FunctionTool | CustomTool, own: boolean): Loose {
  const { custom, ...fields } = own ? extraOf(tool.extra, "chat_completions") ?? {} : {} as Loose;
  const cache = own && tool.cache ? encodeCacheMark(tool.cache) : undefined;
  const description = tool.description !== undefined && { description: tool.description };
  if (tool.kind === "custom") {
    return {
      ...fields,
      type: "custom",
      custom: {
        ...object(custom),
        name: tool.name,
        ...description,
        ...(tool.format && { format: tool.format }),
      },
      ...cache,
    };
  }
  // If omitted, the function has no arguments; some providers require the field.
  const { parameters, strict } = own ? tool : encodeStrictness(tool);
  return {
    ...fields,
    type: "function",
    function: {
      ...object(fields.function),
      name: tool.name,
      ...description,
      ...(parameters && { parameters }),
      ...(tool.strict !== undefined && { strict }),
    },
    ...cache,
  };
}

/**
 * The tool choice, and the tools that remain. Only OpenAI supports `allowed_tools`; for others the remaining
 * tools are omitted.
 */
export function encodeToolChoice(
  choice: ToolChoice,
  prompt: Prompt,
  tools: readonly Tool[],
): { choice: unknown; tools: readonly Tool[] } {
  if (choice.type === "tool") {
    const named = { name: choice.name };
    return {
      choice: choice.kind === "custom"
        ? { type: "custom", custom: named }
        : { type: "function", function: named },
      tools,
    };
  }
  if (choice.type !== "allowed") return { choice: choice.type, tools };
  if (prompt.format === "chat_completions") {
    const kinds = new Map(tools.map((t) => [t.kind === "opaque" ? "" : t.name, t.kind]));
    const listed = choice.names.map((name) =>
      kinds.get(name) === "custom"
        ? { type: "custom", custom: { name } }
        : { type: "function", function: { name } }
    );
    const mode = choice.required ? "required" : "auto";
    return { choice: { type: "allowed_tools", allowed_tools: { mode, tools: listed } }, tools };
  }
  const names = new Set(choice.names);
  const left = tools.filter((t) => t.kind !== "opaque" && names.has(t.name));
  return { choice: choice.required && left.length > 0 ? "required" : "auto", tools: left };
}
