/**
 * The `response` object of an answer. Clients of the official types read most of its fields without checking,
 * so all are present, and those about the request repeat it.
 */
import { type Loose, number, object, string } from "../../exchange/json.ts";
import { type Extra, extraOf, type Prompt } from "../../exchange/prompt.ts";
import type { EncodeAnswer } from "../format.ts";
import { encodeToolChoice, encodeTools } from "./encode_tools.ts";

interface ResponseState {
  status: "in_progress" | "completed" | "incomplete" | "failed";
  output: readonly Loose[];
  usage: Loose | null;
  incomplete?: string;
  error?: Loose;
}

/** The states of a response, with their common fields. */
export class ResponseObject {
  readonly #context: EncodeAnswer;
  readonly #echo: Loose;
  /** The tier of service that the provider gave, in its own word. */
  served: string | undefined;
  /** Fields reported by a provider of this format. */
  #reported: Loose = {};

  constructor(context: EncodeAnswer) {
    this.#context = context;
    this.#echo = echo(context.prompt);
  }

  report(extra: Extra | undefined): void {
    this.#reported = { ...this.#reported, ...extraOf(extra, "responses") };
  }

  object(state: ResponseState): Loose {
    // DLP findings are added while the answer is streamed.
    return { ...this.#head(state), ...this.#echo, ...dlpDetails(this.#context), ...this.#effective() };
  }

  #head(state: ResponseState): Loose {
    const { id, created, now, prompt } = this.#context;
    return {
      id: `resp_${suffixOf(id)}`,
      object: "response",
      created_at: created,
      completed_at: state.status === "completed" ? now?.() ?? null : null,
      status: state.status,
      background: false,
      error: state.error ?? null,
      incomplete_details: state.incomplete === undefined
        ? null
        : { reason: string(object(this.#reported.incomplete_details).reason) || state.incomplete },
      model: this.#context.model(),
      output: state.output,
      service_tier: string(this.#reported.service_tier) ?? tierOf(this.served) ?? prompt.serviceTier ??
        "default",
      usage: state.usage,
    };
  }

  /** Effective settings: as reported by the provider, or else as requested. Clients' types require both numbers. */
  #effective(): Loose {
    const { prompt } = this.#context;
    const { service_tier: _, incomplete_details: __, ...reported } = this.#reported;
    const { temperature, top_p, reasoning, text, ...beside } = reported;
    const verbosity = string(object(text).verbosity);
    return {
      reasoning: {
        effort: prompt.reasoning?.effort ?? null,
        summary: prompt.reasoning?.summary ?? null,
        ...object(reasoning),
      },
      temperature: prompt.temperature ?? number(temperature) ?? 1,
      text: { ...textOf(prompt), ...(verbosity !== undefined && { verbosity }) },
      top_p: prompt.topP ?? number(top_p) ?? 1,
      ...beside,
    };
  }
}

/** Another API's tier under the name that it has here. */
function tierOf(served: string | undefined): string | undefined {
  return served === undefined || TIERS.has(served) ? served : "default";
}

const TIERS: ReadonlySet<string> = new Set(["default", "flex", "scale", "priority", "fast"]);

/** The part of a generation's id after its prefix. */
export function suffixOf(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}

function echo(prompt: Prompt): Loose {
  const { verbatim, unknown } = prompt;
  const top = prompt.turns.filter((t) => t.top).flatMap((t) => t.content);
  const text = top.map((c) => c.type === "text" ? c.text : "").join("\n\n");
  const tools = encodeTools(prompt).map((t): Loose =>
    t.type === "function" ? { description: null, parameters: null, strict: null, ...t } : t
  );
  if (prompt.search) {
    tools.push({ type: "web_search", search_context_size: prompt.search.contextSize ?? "medium" });
  }
  return {
    access_programs: null,
    frequency_penalty: 0,
    instructions: top.length > 0 ? text : null,
    max_output_tokens: prompt.maxOutput ?? null,
    max_tool_calls: unknown.max_tool_calls ?? verbatim.max_tool_calls ?? null,
    metadata: prompt.metadata ?? {},
    moderation: null,
    parallel_tool_calls: prompt.parallelCalls ?? true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: prompt.cacheKey ?? null,
    prompt_cache_retention: unknown.prompt_cache_retention ?? null,
    safety_identifier: verbatim.safety_identifier ?? null,
    store: false,
    tool_choice: verbatim.tool_choice ?? encodeToolChoice(prompt) ?? "auto",
    tools,
    top_logprobs: prompt.topLogprobs ?? 0,
    truncation: unknown.truncation ?? "disabled",
    user: verbatim.user ?? null,
  };
}

/** The text format, normalized: all fields present, not nested. */
function textOf({ verbatim, output }: Prompt): Loose {
  const text = object(verbatim.text);
  if (output?.type !== "schema") return { format: { type: "text" }, ...text };
  const { name = "answer", description = null, strict = false, schema } = output;
  return { ...text, format: { type: "json_schema", description, name, schema, strict } };
}

function dlpDetails(context: EncodeAnswer): Loose {
  const { dlp } = context;
  return dlp ? { details: { dlp: dlp.findings, findings_count: dlp.count } } : {};
}
