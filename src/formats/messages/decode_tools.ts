/**
 * Decodes `tools` and `tool_choice`.
 *
 * A tool may be in the format's own form (`{name, input_schema}`) or in that of chat-completions (`{type:
 * "function", function: {…}}`). `web_search_<version>` becomes the gateway's search. Tools run by the
 * provider that fetch pages or run code are refused; every other typed tool is kept unchanged for a provider
 * of this format. Other formats get those that the client runs as functions (`client_tools.ts`).
 */
import { Failure } from "../../exchange/failure.ts";
import { boolean, isObject, type Loose, object, string } from "../../exchange/json.ts";
import type { SearchOptions, Tool, ToolChoice } from "../../exchange/prompt.ts";
import { decodeSearchOptions, isSearchType } from "../decode_search.ts";
import { checkOptional, mistake, type Path, pathText, shown, TOOL_WORDS, wrongKind } from "../validation.ts";
import { clientTool } from "./client_tools.ts";
import { type DecodeState, marks } from "./marks.ts";

const OWN = new Set(["type", "cache_control", "name", "description", "input_schema", "strict"]);

const WRAPPED = new Set(["type", "cache_control", "function"]);

const FLAT = new Set(["type", "cache_control", "name", "description", "parameters", "strict"]);

/** The caller's tools, and options of a web search. */
export function decodeTools(
  tools: readonly unknown[],
  state: DecodeState,
): { tools: Tool[]; search?: SearchOptions } {
  const decoded: Tool[] = [];
  let search: SearchOptions | undefined;
  tools.forEach((tool, i) => {
    search = decodeTool(tool, ["tools", i], state, decoded) ?? search;
  });
  return { tools: decoded, ...(search && { search }) };
}

/**
 * Decodes a block that changes tools; adds to `changes` and `search`. Undefined: the block must be removed,
 * since it declares the search, which the gateway runs. Otherwise whether other formats can represent the
 * change.
 */
export function readToolChange(
  block: Loose,
  loc: Path,
  state: DecodeState,
): boolean | undefined {
  const tool = object(block.tool);
  if (tool.type === "tool_definition") {
    const tools: Tool[] = [];
    const search = decodeTool(tool.definition, [...loc, "tool", "definition"], state, tools);
    for (const add of tools) state.changes.push({ add });
    if (search === undefined) return tools.length > 0;
    state.search = { ...state.search, ...search };
    return undefined;
  }
  const name = string(tool.name);
  if (tool.type !== "tool_reference" || name === undefined) return false;
  state.changes.push(block.type === "tool_removal" ? { remove: name } : { back: name });
  return true;
}

/** Adds a tool to `out`, or returns the options of the search. */
function decodeTool(tool: unknown, loc: Path, state: DecodeState, out: Tool[]): SearchOptions | undefined {
  if (!isObject(tool)) return void wrongKind(state.mistakes, loc, "an object", "dict_type", tool);
  const type = tool.type ?? undefined;
  if (type === undefined || type === "custom") {
    pushTool(tool, tool.input_schema, OWN, loc, state, out);
  } else if (typeof type !== "string") {
    wrongKind(state.mistakes, [...loc, "type"], "a string", "string_type", type);
  } else if (type === "function") {
    if (tool.function === undefined) pushTool(tool, tool.parameters, FLAT, loc, state, out);
    else if (!isObject(tool.function)) {
      wrongKind(state.mistakes, [...loc, "function"], "an object", "dict_type", tool.function);
    } else {
      const wrapped = { ...tool.function, cache_control: tool.cache_control };
      pushTool(wrapped, tool.function.parameters, FLAT, [...loc, "function"], state, out, tool);
    }
  } else if (type.startsWith("web_search_") || isSearchType(type)) {
    return decodeSearchOptions(tool, loc, state.mistakes);
  } else if (/^(?:web_fetch|code_execution)(?:_|$)/.test(type)) {
    throw new Failure(
      "feature_not_supported",
      `Cannot use the tool ${
        shown(type)
      }: page fetching and code execution at the provider are not supported.`,
      { param: pathText(loc) },
    );
  } else {
    const asFunction = clientTool(type, tool);
    out.push({ kind: "opaque", format: "messages", value: tool, ...(asFunction && { asFunction }) });
  }
}

function pushTool(
  tool: Loose,
  parameters: unknown,
  fields: ReadonlySet<string>,
  loc: Path,
  state: DecodeState,
  out: Tool[],
  wrapper?: Loose,
): void {
  const name = string(tool.name);
  if (name === undefined || name === "") {
    return wrongKind(
      state.mistakes,
      [...loc, "name"],
      "a string that is not empty",
      "string_type",
      tool.name,
    );
  }
  if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
    const field = fields === OWN ? "input_schema" : "parameters";
    return wrongKind(state.mistakes, [...loc, field], "an object", "dict_type", parameters);
  }
  checkOptional(tool, TOOL_WORDS, state.mistakes, loc);
  const description = string(tool.description);
  const strict = boolean(tool.strict);
  const { cache, extra } = marks(tool, fields);
  const outside = wrapper && marks(wrapper, WRAPPED).extra;
  const unknown = extra || outside
    ? { format: "messages" as const, fields: { ...outside?.fields, ...extra?.fields } }
    : undefined;
  out.push({
    kind: "function",
    name,
    ...(description !== undefined && { description }),
    ...(isObject(parameters) && { parameters }),
    ...(strict !== undefined && { strict }),
    ...(cache && { cache }),
    ...(unknown && { extra: unknown }),
  });
}

/** A string is the form of chat-completions, whose tools are accepted here too. */
export function decodeToolChoice(
  value: unknown,
  state: DecodeState,
): { toolChoice?: ToolChoice; parallelCalls?: boolean } {
  if (value === undefined || value === null) return {};
  const choice = typeof value === "string" ? { type: value } : value;
  if (!isObject(choice)) {
    wrongKind(state.mistakes, ["tool_choice"], "an object", "dict_type", value);
    return {};
  }
  const single = boolean(choice.disable_parallel_tool_use);
  const parallel = single === undefined ? {} : { parallelCalls: !single };
  switch (choice.type) {
    case "auto":
    case "none":
      return { toolChoice: { type: choice.type }, ...parallel };
    case "any":
    case "required":
      return { toolChoice: { type: "required" }, ...parallel };
    case "tool":
    case "function": {
      const name = string(choice.name) ??
        (isObject(choice.function) ? string(choice.function.name) : undefined);
      if (name === undefined) {
        wrongKind(state.mistakes, ["tool_choice", "name"], "a string", "string_type", choice.name);
        return {};
      }
      return { toolChoice: { type: "tool", kind: "function", name }, ...parallel };
    }
  }
  mistake(
    state.mistakes,
    "literal_error",
    ["tool_choice", "type"],
    `expected one of "auto", "any", "tool", "none", got ${shown(choice.type)}`,
  );
  return {};
}
