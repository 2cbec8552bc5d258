/**
 * Deviations of servers of the responses API from OpenAI's. They support functions and some tools of their
 * own, but no freeform tools, namespaces or tool search, which Codex sends with each request, and reject a
 * request with any tool or item that they do not know.
 *
 * Sources: the errors of xAI's API ("unknown variant `namespace`, expected one of `function`, `web_search`,
 * …", "data did not match any variant of untagged enum ModelInput", "A tool_choice was set on the request but
 * no tools were specified") and of llama.cpp's server ("'type' of tool must be 'function'").
 */
import { array, type Loose, object, string } from "../../exchange/json.ts";
import { extraOf, type Tool } from "../../exchange/prompt.ts";
import type { ToolForms } from "../../exchange/tools.ts";
import type { ProviderApi } from "./api.ts";
import { dialectOf, type Served } from "./served.ts";

interface ResponsesDialect extends Served {
  /** Types of tools that it supports. */
  readonly tools: ReadonlySet<unknown>;
}

const FUNCTION_ALONE: ResponsesDialect = { tools: new Set(["function"]) };

/** By preset name. */
const DIALECTS: Readonly<Record<string, ResponsesDialect>> = {
  xai: {
    host: /(?:^|\.)x\.ai$/,
    tools: new Set([
      "function",
      "web_search",
      "x_search",
      "live_search",
      "image_generation",
      "collections_search",
      "file_search",
      "code_execution",
      "code_interpreter",
      "mcp",
      "shell",
    ]),
  },
  vllm: { tools: new Set(["function", "web_search_preview", "code_interpreter", "mcp"]) },
  lmstudio: { tools: new Set(["function", "mcp"]) },
  llamacpp: FUNCTION_ALONE,
  ollama: FUNCTION_ALONE,
};

/** Items of OpenAI's own tools and of Codex, which these servers cannot have written. */
const UNKNOWN_ITEMS: ReadonlySet<unknown> = new Set([
  "additional_tools",
  "apply_patch_call",
  "apply_patch_call_output",
  "compaction",
  "compaction_trigger",
  "computer_call",
  "computer_call_output",
  "local_shell_call",
  "local_shell_call_output",
  "tool_search_call",
  "tool_search_output",
]);

/** One object per dialect, so that APIs can be compared by identity. */
const spoken = new Map<ResponsesDialect, ProviderApi>();

/**
 * The responses API adapted to a provider.
 * @param preset its preset; null: none, and the base URL decides
 */
export function inResponsesDialect(api: ProviderApi, preset: string | null, baseUrl: string): ProviderApi {
  const dialect = dialectOf(DIALECTS, preset, baseUrl);
  if (dialect === undefined) return api;
  const known = spoken.get(dialect);
  if (known !== undefined) return known;
  const forms: ToolForms = { custom: false, namespaces: false, typed: dialect.tools };
  const made: ProviderApi = {
    ...api,
    toolForms: () => forms,
    finish: ({ body, headers, dropped }, _model, prompt) => {
      const lost = new Set(dropped);
      if (prompt.tools.some(isDescribedBySpace)) lost.add("tools.namespace.description");
      fitTools(body, dialect, lost);
      if (Array.isArray(body.input)) {
        const known = body.input.filter((item) => !UNKNOWN_ITEMS.has(object(item).type));
        if (known.length < body.input.length) lost.add("input");
        body.input = known;
      }
      return { body, headers, dropped: [...lost] };
    },
  };
  spoken.set(dialect, made);
  return made;
}

/** Whether a tool was in a namespace with a description. */
function isDescribedBySpace(tool: Tool): boolean {
  const extra = tool.kind === "opaque" ? undefined : extraOf(tool.extra, "responses");
  const description = string(object(extra?.namespace).description);
  return description !== undefined && description !== "";
}

/** Leaves out unknown tools, and the settings for tools if there are none. Modifies the body. */
function fitTools(body: Loose, { tools: known }: ResponsesDialect, lost: Set<string>): void {
  const tools = array(body.tools);
  const kept = tools.map(object).filter(({ type }) => known.has(type));
  if (kept.length < tools.length) lost.add("tools");
  // Setting of the tool search.
  if (kept.some((tool) => tool.defer_loading === true)) lost.add("tools.defer_loading");
  if (kept.length > 0) body.tools = kept.map(({ defer_loading: _, ...tool }) => tool);
  else {
    delete body.tools;
    delete body.tool_choice;
    delete body.parallel_tool_calls;
  }
}
