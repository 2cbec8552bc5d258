/**
 * Names of fields within messages, tools and options that a provider of another format does not support, for
 * `x-svc-dropped`: `messages.name`, `tools.defer_loading`, `reasoning.mode`. Array indices are omitted.
 *
 * Not reported: fields of answers that clients return, and fields without effect: `null`, `false`, an empty
 * array, disabled options.
 */
import { array, isObject, type Loose, object } from "../../exchange/json.ts";
import type { Content, Extra, FormatName, Prompt, Turn } from "../../exchange/prompt.ts";
import { INSIDE, MARKED, WHOLE_BLOCK } from "../whole_blocks.ts";

/** Fields of answers, and markers of this project. */
const ECHOED: ReadonlySet<string> = new Set([
  "id",
  "type",
  "status",
  "index",
  "annotations",
  "logprobs",
  // Beside a text: why a filter cut the answer.
  "refusal",
  "made",
  // Streaming of arguments, which works differently in each API.
  "eager_input_streaming",
  // Represented in the vocabulary as far as possible.
  "cache_control",
  "prompt_cache_breakpoint",
  "source",
  "content",
  "summary",
  INSIDE,
  MARKED,
  WHOLE_BLOCK,
]);

/** Objects that contain the fields of a part or tool. */
const WRAPPERS: ReadonlySet<string> = new Set([
  "function",
  "custom",
  "image_url",
  "input_audio",
  "file",
  "video_url",
]);

/** Items of the responses format that are contents in the vocabulary. */
const ITEMS: ReadonlySet<Content["type"]> = new Set(["call", "result", "reasoning"]);

/** Whether they cite, or are cited, depends on the model, not on the format alone. */
const MODEL_CITES: ReadonlySet<Content["type"]> = new Set(["search-result", "text"]);

/**
 * @param format the provider's format, different from the caller's
 * @param cites whether the model supports citations of search results, if that depends on the model
 */
export function lostInside(prompt: Prompt, format: FormatName, cites: boolean): string[] {
  const lost = new Set<string>();
  const root = prompt.format === "responses" ? "input" : "messages";
  const inside = prompt.format === "responses" ? root : `${root}.content`;
  const visit = (content: readonly Content[]) => {
    for (const c of content) {
      if (c.type === "opaque") continue;
      if (c.extra) add(lost, ITEMS.has(c.type) ? inside : `${root}.content`, c.extra);
      if (c.extra && marksInside(c.extra)) lost.add("cache_control");
      if (c.type === "result") visit(c.content);
      else addWords(lost, c, `${root}.content`, cites || !MODEL_CITES.has(c.type) ? format : "gemini");
    }
  };
  for (const turn of prompt.turns) {
    if (turn.name !== undefined && !tellsName(turn, format)) lost.add(`${root}.name`);
    if (turn.extra) addTurn(lost, root, turn.extra);
    visit(turn.content);
  }
  for (const tool of prompt.tools) if (tool.kind !== "opaque" && tool.extra) add(lost, "tools", tool.extra);
  addOptions(lost, prompt);
  return [...lost];
}

/** Cache breakpoints on texts within a document or search result, which is a single text in other formats. */
function marksInside({ fields }: Extra): boolean {
  return array(fields[MARKED] ?? object(fields.source).content).some((inner) =>
    isObject(object(inner).cache_control)
  );
}

/** The name of a result is that of its call. */
function tellsName({ role, content }: Turn, format: FormatName): boolean {
  return (format === "chat_completions" && role === "user") || content.some((c) => c.type === "result");
}

function addTurn(lost: Set<string>, root: string, extra: Extra): void {
  const { audio: _, output_config: settings, ...fields } = extra.fields;
  add(lost, root, { ...extra, fields });
  // The effort is applied in its final state.
  const { effort: __, ...others } = object(settings);
  if (Object.keys(others).length > 0) lost.add(`${root}.output_config`);
}

function add(lost: Set<string>, at: string, extra: Extra): void {
  const { fields } = extra;
  // A generated image is sent as an image.
  if (fields.type === "image_generation_call") return;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const wrapper = isObject(value) && (name === "namespace" ? `${at}.namespace` : WRAPPERS.has(name) && at);
    if (wrapper) add(lost, wrapper, { ...extra, fields: value as Loose });
    else if (!ECHOED.has(name) && says(value)) lost.add(`${at}.${name}`);
  }
}

function says(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "" || value === true) {
    return value === true;
  }
  if (Array.isArray(value)) return value.length > 0;
  if (!isObject(value)) return true;
  return Object.keys(value).length > 0 && value.type !== "direct" && value.enabled !== false;
}

/** Properties of the vocabulary that not every API supports. */
function addWords(lost: Set<string>, c: Content, at: string, format: FormatName): void {
  switch (c.type) {
    case "image":
      if (c.detail !== undefined && c.detail !== "auto" && !KNOW_DETAIL.has(format)) lost.add(`${at}.detail`);
      return;
    case "document":
    case "search-result":
      if (c.cite && format !== "messages" && format !== "converse") lost.add(`${at}.citations`);
      return;
    case "text":
      if (
        c.citations?.some(({ kind, place }) => kind === "document" && !(place && format === "converse"))
      ) lost.add(`${at}.citations`);
  }
}

const KNOW_DETAIL: ReadonlySet<FormatName> = new Set(["chat_completions", "responses"]);

/** For partially represented options, the represented fields. */
const HELD: Readonly<Record<string, ReadonlySet<string>>> = {
  reasoning: new Set(["effort", "summary", "generate_summary", "max_tokens", "enabled", "exclude"]),
  text: new Set(["format", "verbosity"]),
  output_config: new Set(["effort", "format"]),
  thinking: new Set(["type", "budget_tokens", "display"]),
};

function addOptions(lost: Set<string>, { verbatim, output, toolChoice, search }: Prompt): void {
  for (const field of Object.keys(HELD)) {
    const value = verbatim[field];
    if (!isObject(value)) continue;
    for (const name of Object.keys(value)) {
      if (!HELD[field].has(name) && says(value[name]) && !USUAL.has(value[name])) {
        lost.add(`${field}.${name}`);
      }
    }
  }
  if (output === undefined && isObject(object(verbatim.text).format)) lost.add("text.format");
  if (output === undefined && object(verbatim.response_format).type !== undefined) {
    lost.add("response_format");
  }
  if (Array.isArray(verbatim.include) && verbatim.include.some(isUnheard)) lost.add("include");
  if (toolChoice === undefined && !search?.first && isObject(verbatim.tool_choice)) lost.add("tool_choice");
}

/** Default values. */
const USUAL: ReadonlySet<unknown> = new Set(["auto", "standard"]);

/** Reasoning and log probabilities are requested differently in each API, and search is run by the gateway. */
function isUnheard(entry: unknown): boolean {
  return typeof entry === "string" && entry !== "reasoning.encrypted_content" &&
    entry !== "message.output_text.logprobs" && !entry.startsWith("web_search_call.");
}
