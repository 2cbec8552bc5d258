/**
 * Decodes `tools` and `tool_choice`.
 *
 * The built-in search is never sent to a provider: in any form it becomes `Prompt.search`. Tools run by the
 * provider are kept unchanged for a provider of this format, except those that fetch pages or run code, which
 * are refused. A namespace is split into its tools, each with the name of the namespace; `encode_tools.ts`
 * merges neighbours of the same namespace.
 */
import { ownExtra } from "../../exchange/prompt.ts";
import { decodeCacheMark } from "../cache_mark.ts";
import { Failure, type Mistake } from "../../exchange/failure.ts";
import { array, isObject, type Loose, object, rest, string } from "../../exchange/json.ts";
import {
  type CustomTool,
  extraOf,
  type FunctionTool,
  type SearchOptions,
  type Tool,
  type ToolChoice,
} from "../../exchange/prompt.ts";
import { decodeSearchOptions, isSearch, isSearchType } from "../decode_search.ts";
import { clientName, clientTool } from "./client_tools.ts";
import {
  checkOptional,
  checkToolCount,
  mistake,
  type Path,
  pathText,
  shown,
  TOOL_WORDS,
  wrongKind,
} from "../validation.ts";

/** Server tools for fetching pages and running code, by their names in this format and others. */
const REFUSED =
  /^(code_interpreter|code_execution|programmatic_tool_calling|web_fetch|url_context|browser)(_\d+)?$/;

const FUNCTION = new Set(["type", "name", "description", "parameters", "strict", "cache_control"]);

const CUSTOM = new Set(["type", "name", "description", "format", "cache_control"]);

const NAMESPACE = new Set(["type", "name", "tools"]);

/** @param at location of the list */
export function decodeTools(
  value: unknown,
  mistakes: Mistake[],
  at: Path = ["tools"],
): { tools: Tool[]; search: SearchOptions | undefined } {
  const tools: Tool[] = [];
  let search: SearchOptions | undefined;
  const list = array(value);
  if (!checkToolCount(list, isSearch, mistakes, at)) return { tools, search };
  for (let i = 0; i < list.length; i++) {
    const tool = list[i];
    const loc = [...at, i];
    if (!isObject(tool)) {
      wrongKind(mistakes, loc, "a tool", "dict_type", tool);
      continue;
    }
    const type = string(tool.type);
    if (type === undefined) wrongKind(mistakes, [...loc, "type"], "a string", "string_type", tool.type);
    else if (isSearchType(type)) search = { ...search, ...decodeSearchOptions(tool, loc, mistakes) };
    else if (runsCode(type, tool)) {
      throw new Failure(
        "feature_not_supported",
        `Cannot use ${pathText(loc)}: ${type} would fetch pages or run code at the provider.`,
        { param: pathText(loc) },
      );
    } else if (type === "namespace") decodeNamespace(tool, loc, mistakes, tools);
    else {
      const asFunction = clientTool(type, tool);
      tools.push(
        decodeTool(type, tool, loc, mistakes) ??
          { kind: "opaque", format: "responses", value: tool, ...(asFunction && { asFunction }) },
      );
    }
  }
  return { tools, search };
}

/** `shell` runs in its environment: in the client, or in a container of the provider. */
function runsCode(type: string, tool: Loose): boolean {
  const place = string(object(tool.environment).type);
  return REFUSED.test(type) || (type === "shell" && place !== undefined && place.startsWith("container"));
}

function decodeNamespace(tool: Loose, loc: Path, mistakes: Mistake[], out: Tool[]): void {
  const name = string(tool.name);
  if (name === undefined) return wrongKind(mistakes, [...loc, "name"], "a string", "string_type", tool.name);
  const space = rest(tool, NAMESPACE) ?? {};
  for (const [i, inner] of array(tool.tools).entries()) {
    const path = [...loc, "tools", i];
    const type = string(object(inner).type);
    const decoded = isObject(inner) && type !== undefined
      ? decodeTool(type, inner, path, mistakes)
      : undefined;
    if (!decoded) {
      mistake(
        mistakes,
        "literal_error",
        [...path, "type"],
        `expected one of function, custom, got ${shown(object(inner).type)}`,
      );
      continue;
    }
    const fields = { ...extraOf(decoded.extra, "responses"), namespace: space };
    out.push({ ...decoded, namespace: name, extra: { format: "responses", fields } });
  }
}

/** A function or custom tool; undefined for any other kind. */
function decodeTool(
  type: string,
  tool: Loose,
  loc: Path,
  mistakes: Mistake[],
): FunctionTool | CustomTool | undefined {
  if (type !== "function" && type !== "custom") return undefined;
  // Nesting under the kind's name is the form of chat-completions, which some clients send by mistake.
  const nested = tool[type];
  const t = tool.name === undefined && isObject(nested) ? { type, ...nested } as Loose : tool;
  const name = string(t.name);
  if (!name) wrongKind(mistakes, [...loc, "name"], "a name", "string_type", t.name ?? undefined);
  checkOptional(t, TOOL_WORDS, mistakes, loc);
  const description = string(t.description);
  const extra = ownExtra("responses", rest(t, type === "function" ? FUNCTION : CUSTOM));
  const cache = decodeCacheMark(t.cache_control);
  const common = {
    name: name ?? "",
    ...(description !== undefined && { description }),
    ...(cache && { cache }),
    ...(extra && { extra }),
  };
  if (type === "custom") {
    return { kind: "custom", ...common, ...(isObject(t.format) && { format: t.format }) };
  }
  const parameters = t.parameters ?? undefined;
  if (parameters !== undefined && !isObject(parameters)) {
    wrongKind(mistakes, [...loc, "parameters"], "a JSON Schema object", "dict_type", parameters);
  }
  return {
    kind: "function",
    ...common,
    ...(isObject(parameters) && { parameters }),
    ...(typeof t.strict === "boolean" && { strict: t.strict }),
  };
}

/** Decodes the choice. Undefined for one that only this format has (`{type: "mcp"}`), which is sent unchanged. */
export function decodeToolChoice(value: unknown, mistakes: Mistake[]): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === "auto" || value === "none" || value === "required") return { type: value };
  if (!isObject(value)) {
    mistake(
      mistakes,
      "literal_error",
      ["tool_choice"],
      `expected one of auto, none, required, or an object, got ${shown(value)}`,
    );
    return undefined;
  }
  const type = string(value.type);
  if (type === undefined) {
    wrongKind(mistakes, ["tool_choice", "type"], "a string", "string_type", value.type);
    return undefined;
  }
  if (type === "auto" || type === "none" || type === "required") return { type };
  if (type === "allowed_tools") {
    const list = array(value.tools ?? object(value.allowed_tools).tools);
    const mode = value.mode ?? object(value.allowed_tools).mode;
    return { type: "allowed", required: mode === "required", names: list.flatMap(nameOf) };
  }
  const client = clientName(type);
  if (client !== undefined) return { type: "tool", name: client, kind: "function", typed: type };
  if (type !== "function" && type !== "custom") return undefined;
  const [name] = nameOf(value);
  if (name === undefined) {
    wrongKind(mistakes, ["tool_choice", "name"], "a string", "string_type", value.name);
    return undefined;
  }
  const namespace = string(value.namespace);
  return { type: "tool", name, kind: type, ...(namespace !== undefined && { namespace }) };
}

/** The name of a tool in a choice, if it is a function or custom tool, or may become a function. */
function nameOf(entry: unknown): string[] {
  const e = object(entry);
  const client = clientName(string(e.type) ?? "");
  if (client !== undefined) return [client];
  if (e.type !== "function" && e.type !== "custom") return [];
  // Within an object as in chat-completions, or as this format has it.
  const name = string(e.name) ?? string(object(e[e.type]).name);
  return name === undefined ? [] : [name];
}
