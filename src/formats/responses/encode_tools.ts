/** Encodes `tools` and `tool_choice` for a provider, and for the echo of the request in an answer. */
import { array, isObject, type Loose, object, string } from "../../exchange/json.ts";
import {
  type CustomTool,
  extraOf,
  type FunctionTool,
  type Prompt,
  toolsByName,
} from "../../exchange/prompt.ts";
import { encodeStrictness } from "../schemas/strict_schema.ts";
import { isSearchType } from "../decode_search.ts";

/** Tools for a provider, or for the echo in an answer. */
export function encodeTools(prompt: Prompt): Loose[] {
  const own = prompt.format === "responses";
  const wire: Loose[] = [];
  let space: { name: string; tools: Loose[] } | undefined;
  for (const tool of prompt.tools) {
    if (own && tool.declared === "history") continue;
    if (tool.kind === "opaque") {
      if (tool.format === "responses") wire.push(tool.value);
      space = undefined;
      continue;
    }
    const { namespace, ...extra } = extraOf(tool.extra, "responses") ?? {};
    const encoded = tool.kind === "function" ? encodeFunction(tool, extra, own) : encodeCustom(tool, extra);
    if (tool.namespace === undefined) {
      wire.push(encoded);
      space = undefined;
    } else if (space?.name === tool.namespace) space.tools.push(encoded);
    else {
      space = { name: tool.namespace, tools: [encoded] };
      const description = string(object(namespace).description) ?? "";
      wire.push({
        ...object(namespace),
        type: "namespace",
        name: space.name,
        description,
        tools: space.tools,
      });
    }
  }
  return wire;
}

/**
 * `strict` is always sent for tools of other formats and of the gateway: an API of this format takes its
 * absence for `true` and then rejects, or rewrites, schemas written without it.
 */
function encodeFunction(tool: FunctionTool, extra: Loose, own: boolean): Loose {
  const wire: Loose = { ...extra, type: "function", name: tool.name };
  if (tool.description !== undefined) wire.description = tool.description;
  const { parameters, strict } = own ? tool : encodeStrictness(tool);
  wire.parameters = parameters ?? null;
  if (strict !== undefined) wire.strict = strict;
  else if (tool.made) wire.strict = false;
  return wire;
}

function encodeCustom(tool: CustomTool, extra: Loose): Loose {
  const wire: Loose = { ...extra, type: "custom", name: tool.name };
  if (tool.description !== undefined) wire.description = tool.description;
  if (tool.format !== undefined) {
    // chat-completions nests the grammar, this format does not.
    const { grammar, ...format } = tool.format;
    wire.format = isObject(grammar) ? { ...format, ...grammar } : tool.format;
  }
  return wire;
}

/** The choice for a provider; undefined without tools or choice. */
export function encodeToolChoice(prompt: Prompt): unknown {
  const choice = prompt.toolChoice;
  const own = prompt.format === "responses" ? prompt.verbatim.tool_choice : undefined;
  if (prompt.tools.length === 0) return undefined;
  if (choice === undefined) return isObject(own) && !isSearchType(string(own.type) ?? "") ? own : undefined;
  if (choice.type === "tool") {
    const { name, namespace, kind, typed } = choice;
    if (typed !== undefined) return { type: typed };
    return { type: kind, name, ...(namespace !== undefined && { namespace }) };
  }
  if (choice.type !== "allowed") return choice.type;
  const tools: Loose[] = [];
  const known = toolsByName(prompt.tools);
  for (const name of choice.names) {
    const tool = known.get(name);
    if (tool) tools.push({ type: tool.kind, name });
  }
  // Entries such as {type: "mcp", server_label} are not represented in the vocabulary.
  for (const entry of array(object(own).tools)) {
    const type = object(entry).type;
    const named = type === "function" || type === "custom";
    if (isObject(entry) && typeof type === "string" && !named && !isSearchType(type)) {
      tools.push(entry);
    }
  }
  if (tools.length === 0) return "auto";
  return { type: "allowed_tools", mode: choice.required ? "required" : "auto", tools };
}
