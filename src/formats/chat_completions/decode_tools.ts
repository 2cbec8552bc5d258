/** `tools`, `functions` and `tool_choice` of a caller's request. */
import { ownExtra } from "../../exchange/prompt.ts";
import { decodeCacheMark } from "../cache_mark.ts";
import type { Mistake } from "../../exchange/failure.ts";
import { array, isObject, type Loose, object, rest, string } from "../../exchange/json.ts";
import type { CustomTool, FunctionTool, SearchOptions, Tool, ToolChoice } from "../../exchange/prompt.ts";
import { decodeSearchOptions, isSearchType, kindOfTool } from "../decode_search.ts";
import { checkOptional, type Path, shown, TOOL_WORDS, unsupported, wrongKind } from "../validation.ts";

/** Provider tools for fetching pages and running code, which the service does not offer. */
const REFUSED = /^(?:[a-z]+:)?(?:web_fetch|url_context|code_execution|code_interpreter|browser)(?:_\w+)?$/;

const TOOL_KEYS: ReadonlySet<string> = new Set(["type", "function", "custom", "cache_control"]);

const FLAT_KEYS: ReadonlySet<string> = new Set([
  ...TOOL_KEYS,
  "name",
  "description",
  "parameters",
  "strict",
]);

/** A function as in Anthropic's format, which Cursor sends for models whose name contains `claude`. */
function ofAnthropic(tool: Loose): Loose {
  const { input_schema, type: _, ...fields } = tool;
  return { ...fields, type: "function", parameters: input_schema };
}

function isOfAnthropic({ type, name, function: nested, parameters, input_schema }: Loose): boolean {
  return (type === undefined || type === null || type === "custom" || type === "function") &&
    typeof name === "string" && isObject(input_schema) && nested === undefined && parameters === undefined;
}

const FUNCTION_KEYS: ReadonlySet<string> = new Set(["name", "description", "parameters", "strict"]);

const CUSTOM_KEYS: ReadonlySet<string> = new Set(["name", "description", "format"]);

/** Decodes `tools`; the built-in search becomes {@link Prompt.search} instead of a tool. */
export function decodeTools(
  list: readonly unknown[],
  mistakes: Mistake[],
): { tools: Tool[]; search?: SearchOptions } {
  const tools: Tool[] = [];
  let search: SearchOptions | undefined;
  list.forEach((given, i) => {
    const loc = ["tools", i];
    if (!isObject(given)) return wrongKind(mistakes, loc, "a tool", "dict_type", given);
    const value = isOfAnthropic(given) ? ofAnthropic(given) : given;
    const kind = kindOfTool(value);
    if (kind === "function") {
      const tool = decodeFunction(value, loc, mistakes);
      if (tool) tools.push(tool);
    } else if (kind === "custom") {
      const tool = decodeCustom(value, loc, mistakes);
      if (tool) tools.push(tool);
    } else if (isSearchType(kind)) {
      search = {
        ...search,
        ...decodeSearchOptions(
          { ...object(value.web_search), ...object(value.parameters), ...value },
          loc,
          mistakes,
        ),
      };
    } else if (REFUSED.test(kind)) {
      throw unsupported(
        `Cannot read tools: ${shown(kind)} is a provider tool that is not offered here.`,
        `tools[${i}]`,
      );
    } else tools.push({ kind: "opaque", format: "chat_completions", value });
  });
  return { tools, ...(search && { search }) };
}

/** The definition in `function` and `functions[i]`. Some clients write it flat, as in the responses format. */
function decodeFunction(
  value: Loose,
  loc: Path,
  mistakes: Mistake[],
  older = false,
): FunctionTool | undefined {
  const nested = isObject(value.function);
  const body = nested ? object(value.function) : value;
  const at = nested && !older ? [...loc, "function"] : loc;
  if (typeof body.name !== "string" || body.name === "") {
    return void wrongKind(mistakes, [...at, "name"], "a name", "string_type", body.name);
  }
  if (body.parameters !== undefined && body.parameters !== null && !isObject(body.parameters)) {
    return void wrongKind(
      mistakes,
      [...at, "parameters"],
      "a JSON Schema object",
      "dict_type",
      body.parameters,
    );
  }
  checkOptional(body, TOOL_WORDS, mistakes, at);
  const inside = nested ? rest(body, FUNCTION_KEYS) : undefined;
  const outside = rest(value, nested ? TOOL_KEYS : FLAT_KEYS);
  const cache = decodeCacheMark(value.cache_control);
  const extra = inside ? { ...outside, function: inside } : outside;
  return {
    kind: "function",
    name: body.name,
    ...(typeof body.description === "string" && { description: body.description }),
    ...(isObject(body.parameters) && { parameters: body.parameters }),
    ...(typeof body.strict === "boolean" && { strict: body.strict }),
    ...(cache && { cache }),
    ...(extra && { extra: ownExtra("chat_completions", extra) }),
  };
}

function decodeCustom(value: Loose, loc: Path, mistakes: Mistake[]): CustomTool | undefined {
  const nested = isObject(value.custom);
  const body = nested ? object(value.custom) : value;
  if (typeof body.name !== "string" || body.name === "") {
    return void wrongKind(mistakes, [...loc, "custom", "name"], "a name", "string_type", body.name);
  }
  checkOptional(body, TOOL_WORDS, mistakes, nested ? [...loc, "custom"] : loc);
  const inside = nested ? rest(body, CUSTOM_KEYS) : undefined;
  const cache = decodeCacheMark(value.cache_control);
  return {
    kind: "custom",
    name: body.name,
    ...(typeof body.description === "string" && { description: body.description }),
    ...(isObject(body.format) && { format: body.format }),
    ...(cache && { cache }),
    ...(inside && { extra: ownExtra("chat_completions", { custom: inside }) }),
  };
}

/** The older field `functions`: definitions without a wrapper. */
export function decodeFunctions(list: readonly unknown[], mistakes: Mistake[]): Tool[] {
  const tools: Tool[] = [];
  list.forEach((value, i) => {
    const loc = ["functions", i];
    if (!isObject(value)) return wrongKind(mistakes, loc, "a function", "dict_type", value);
    const tool = decodeFunction({ type: "function", function: value }, loc, mistakes, true);
    if (tool) tools.push(tool);
  });
  return tools;
}

/** Also the older `function_call`: an object with only a name. Undefined: not given or unknown. */
export function decodeToolChoice(value: unknown): ToolChoice | undefined {
  if (value === "auto" || value === "none" || value === "required") return { type: value };
  if (value === "any") return { type: "required" };
  if (!isObject(value)) return undefined;
  if (value.type === "allowed_tools") {
    const allowed = isObject(value.allowed_tools) ? value.allowed_tools : value;
    const names = array(allowed.tools).map((tool) => toolName(object(tool))).filter((name) =>
      name !== undefined
    );
    return { type: "allowed", required: allowed.mode === "required", names };
  }
  const name = toolName(value);
  if (name !== undefined) {
    return {
      type: "tool",
      name,
      kind: isObject(value.custom) || value.type === "custom" ? "custom" : "function",
    };
  }
  const type = value.type;
  if (type === "any") return { type: "required" };
  return type === "auto" || type === "none" || type === "required" ? { type } : undefined;
}

function toolName(value: Loose): string | undefined {
  return string(object(value.function).name) ?? string(object(value.custom).name) ?? string(value.name);
}
