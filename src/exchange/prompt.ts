/**
 * A request in the common vocabulary of all formats.
 *
 * Turns keep the boundaries and the order of the wire format; an encoder for a format with alternating roles
 * merges neighbours with {@link joinTurns}. Fields without an equivalent are kept in `unknown` and `extra`,
 * with the name of their format: the same format writes them unchanged, another one omits them.
 */
import type { Citation } from "./citation.ts";
import type { Extra } from "./extra.ts";
import type { FormatName } from "./format_name.ts";
import type { Loose } from "./json.ts";
import type { Proof } from "./proof.ts";

export type { Extra, FormatName };

/** A prompt cache breakpoint (`cache_control`). TTL as on the wire: `5m`, `1h`; absent: the default. */
export interface CacheMark {
  ttl?: string;
  /** It was given as `prompt_cache_breakpoint`, as in OpenAI's own APIs. */
  breakpoint?: true;
}

/** Location of an attachment's bytes. `file`: an id issued by the provider. */
export type Source =
  | { kind: "base64"; mediaType: string; data: string }
  | { kind: "url"; url: string; mediaType?: string }
  | { kind: "text"; text: string; mediaType?: string }
  | { kind: "file"; id: string };

interface Marked {
  cache?: CacheMark;
  extra?: Extra;
}

export interface TextContent extends Marked {
  type: "text";
  text: string;
  /** Citations of an earlier answer's text. */
  citations?: Citation[];
}
export interface ImageContent extends Marked {
  type: "image";
  source: Source;
  /** `low`, `high`, `auto`, `original`. */
  detail?: string;
}
export interface DocumentContent extends Marked {
  type: "document";
  source: Source;
  /** File name or title. */
  name?: string;
  /** Text about the document that is not part of it. */
  context?: string;
  /** The caller requests citations. */
  cite?: boolean;
}
export interface AudioContent extends Marked {
  type: "audio";
  source: Source;
}
export interface VideoContent extends Marked {
  type: "video";
  source: Source;
}
/** A search result provided by the caller (`search_result` of messages). */
interface SearchResultContent extends Marked {
  type: "search-result";
  url: string;
  title: string;
  texts: string[];
  cite?: boolean;
}
interface RefusalContent extends Marked {
  type: "refusal";
  text: string;
}
/** Reasoning of an earlier answer. `sections`: summary parts or text pieces; empty if there is only a proof. */
export interface ReasoningContent extends Marked {
  type: "reasoning";
  sections: string[];
  /** `summary`: the text is a summary of the reasoning; `text`: the reasoning itself. */
  kind: "text" | "summary";
  proof?: Proof;
}
export interface CallContent extends Marked {
  type: "call";
  id: string;
  name: string;
  /** The `namespace` tool of the responses format that contains the called tool. */
  namespace?: string;
  /** `custom`: freeform text instead of JSON arguments. */
  kind: "function" | "custom";
  /** JSON text for a function, freeform text for a custom tool. */
  arguments: string;
  proof?: Proof;
  /** The function stands for a typed tool, see {@link FunctionTool.typed}. */
  typed?: string;
}
export interface ResultContent extends Marked {
  type: "result";
  callId: string;
  /** Name of the called tool, if known from the wire format or the history. */
  name?: string;
  kind: "function" | "custom";
  content: Content[];
  isError: boolean;
  /** The content was a plain string, not an array of parts. */
  plain?: boolean;
}
/** A block that exists only in its own format. */
interface OpaqueContent extends Marked {
  type: "opaque";
  format: FormatName;
  value: Loose;
  /** Its information is also in other fields of the vocabulary, so another format loses nothing by omitting it. */
  represented?: boolean;
  /** The same for providers that do not know the tool that it is about. */
  as?: CallContent | ResultContent;
  /** The type of that tool. */
  tool?: string;
}

export type Content =
  | TextContent
  | ImageContent
  | DocumentContent
  | AudioContent
  | VideoContent
  | SearchResultContent
  | RefusalContent
  | ReasoningContent
  | CallContent
  | ResultContent
  | OpaqueContent;

/** Content that is a file or refers to one. */
export type Attachment = ImageContent | DocumentContent | AudioContent | VideoContent;

/** Whether it is an image, document, audio or video. */
export function isAttachment(c: Content): c is Attachment {
  return c.type === "image" || c.type === "document" || c.type === "audio" || c.type === "video";
}

export type Role = "system" | "user" | "assistant";

export interface Turn {
  role: Role;
  content: Content[];
  /** System text outside the message list: `system` of messages, `instructions` of responses. */
  top?: boolean;
  /** The role was `developer`, which is equivalent to system. */
  developer?: boolean;
  /** The `name` field of a message. */
  name?: string;
  /** The content was a plain string, not an array of parts. */
  plain?: boolean;
  extra?: Extra;
}

/**
 * Where a tool is declared, since a conversation may change its tools. `history`: in the turns; formats
 * without such turns list it. `list`: in the initial list, and replaced or removed in the turns: only its own
 * format gets it.
 */
interface Declared {
  declared?: "history" | "list";
}

export interface FunctionTool extends Declared {
  kind: "function";
  name: string;
  namespace?: string;
  description?: string;
  /** JSON Schema of the arguments; absent: not declared. */
  parameters?: Loose;
  strict?: boolean;
  /** It stands for a typed tool that the client runs, whose calls have another form than calls of functions. */
  typed?: string;
  /** A tool of the gateway, not of the caller. */
  made?: true;
  cache?: CacheMark;
  extra?: Extra;
}
export interface CustomTool extends Declared {
  kind: "custom";
  name: string;
  namespace?: string;
  description?: string;
  /** `{type: "text"}` or a grammar, as on the wire. */
  format?: Loose;
  cache?: CacheMark;
  extra?: Extra;
}
/** A tool that exists only in its own format. */
interface OpaqueTool extends Declared {
  kind: "opaque";
  format: FormatName;
  value: Loose;
  /** The same tool for other formats, if the client runs it. */
  asFunction?: FunctionTool;
}
export type Tool = FunctionTool | CustomTool | OpaqueTool;

export type ToolChoice =
  | { type: "auto" | "none" | "required" }
  | { type: "tool"; name: string; namespace?: string; kind: "function" | "custom"; typed?: string }
  /** Only these tools may be called; `required`: one of them must be. */
  | { type: "allowed"; required: boolean; names: string[] };

/** Options of the built-in web search. `maxUses` as sent by the caller. */
export interface SearchOptions {
  maxUses?: number;
  /** Maximum calls of all tools except the caller's. */
  maxCalls?: number;
  /** Only these hosts, or all except these. */
  allowedDomains?: string[];
  blockedDomains?: string[];
  /** `low`, `medium`, `high`. */
  contextSize?: string;
  /** Approximate location of the user. */
  location?: SearchPlace;
  /** `tool_choice` names the search: the model must call it first. */
  first?: boolean;
  /** A cache breakpoint on the tool. */
  cache?: CacheMark;
  /** Names of fields that the gateway's search does not support. */
  unread?: string[];
}

/** Two-letter country code, names of region and city, IANA time zone; as sent by the caller. */
export interface SearchPlace {
  country?: string;
  region?: string;
  city?: string;
  timezone?: string;
}

export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

export interface ReasoningOptions {
  /** `off`: no reasoning. `adaptive`: the model decides. Absent: the model's default. */
  mode?: "on" | "off" | "adaptive";
  effort?: Effort;
  /** Token budget for reasoning. */
  budget?: number;
  /** Which text to return: `auto`, `concise`, `detailed`, `omitted`. */
  summary?: string;
}

export type OutputShape =
  | { type: "text" }
  /** Valid JSON, without a schema. */
  | { type: "json" }
  | { type: "schema"; name?: string; description?: string; strict?: boolean; schema: Loose };

export interface Prompt {
  /** The caller's format, which determines whose `extra` fields are written. */
  format: FormatName;
  /** As sent by the caller. */
  model: string;
  stream: boolean;
  turns: Turn[];
  tools: Tool[];
  toolChoice?: ToolChoice;
  /** False: at most one tool call per turn. */
  parallelCalls?: boolean;
  search?: SearchOptions;
  /** Limit for all output, including reasoning. */
  maxOutput?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  stop?: string[];
  seed?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  logitBias?: Loose;
  /** Number of requested choices. */
  n?: number;
  logprobs?: boolean;
  topLogprobs?: number;
  reasoning?: ReasoningOptions;
  output?: OutputShape;
  /** Settings changed by turns, in their final state, for formats without such turns. */
  atEnd?: { reasoning?: ReasoningOptions; output?: OutputShape };
  /** Length of the answer: `low`, `medium`, `high`. */
  verbosity?: string;
  /** Id of the end user, for the provider's abuse detection. */
  user?: string;
  metadata?: Loose;
  serviceTier?: string;
  /** Groups requests that share a cached prefix. */
  cacheKey?: string;
  /** A cache breakpoint on the request as a whole. */
  cache?: CacheMark;
  /** Requested output modalities other than text: `audio`, `image`. */
  modalities?: string[];
  /** `audio` of chat-completions: voice and format of spoken output. */
  audio?: Loose;
  /**
   * Fields that are represented above, but must be sent unchanged to the same format (`thinking`,
   * `output_config`, `response_format`).
   */
  verbatim: Loose;
  /** Fields without an equivalent. Sent to the same format; dropped for others, and reported as dropped. */
  unknown: Loose;
  /** Types of history entries that were ignored. */
  passedOver?: string[];
  /** The caller's output limit is below its reasoning budget. A provider of the same format gets both unchanged. */
  budgetAboveCap?: boolean;
  /** Searches made by the gateway were removed from the history, so it differs from what the model has seen. */
  searchesLeftOut?: boolean;
  /** The gateway has withdrawn its search, although the history has calls of it. */
  searchWithdrawn?: boolean;
  /** Headers to pass to a provider of the same format: `anthropic-beta`. Lower-case names. */
  headers?: Record<string, string>;
}

/** Merges adjacent turns of the same role, for formats with alternating roles. The contents stay separate. */
export function joinTurns(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  for (let i = 0; i < turns.length;) {
    const first = turns[i];
    let end = i + 1;
    while (end < turns.length && turns[end].role === first.role && turns[end].name === first.name) end++;
    const run = turns.slice(i, end);
    joined.push(
      run.length === 1 ? first : { ...first, content: run.flatMap((t) => t.content), plain: false },
    );
    i = end;
  }
  return joined;
}

/** Splits off the system turns before the first other turn. */
export function splitSystem(turns: readonly Turn[]): { system: Turn[]; rest: Turn[] } {
  let i = 0;
  while (i < turns.length && turns[i].role === "system") i++;
  return { system: turns.slice(0, i), rest: turns.slice(i) };
}

/**
 * Whether there is a cache breakpoint, as far as visible.
 * @param counts which breakpoints count
 */
export function marksCache(prompt: Prompt, counts: (mark: CacheMark) => boolean = () => true): boolean {
  const counted = (mark: CacheMark | undefined) => mark !== undefined && counts(mark);
  const marked = (content: readonly Content[]): boolean =>
    content.some((c) => counted(c.cache) || (c.type === "result" && marked(c.content)));
  return counted(prompt.cache) || counted(prompt.search?.cache) ||
    prompt.tools.some((t) => t.kind !== "opaque" && counted(t.cache)) ||
    prompt.turns.some((turn) => marked(turn.content));
}

/** Tools by name; of several with the same name the first. */
export function toolsByName(tools: readonly Tool[]): Map<string, Exclude<Tool, { kind: "opaque" }>> {
  const found = new Map<string, Exclude<Tool, { kind: "opaque" }>>();
  for (const tool of tools) if (tool.kind !== "opaque" && !found.has(tool.name)) found.set(tool.name, tool);
  return found;
}

/**
 * Whether something may be written to a prompt cache with a TTL of one hour: a breakpoint requests it, or
 * there is a block or field that only its own format understands.
 */
export function marksHour(prompt: Prompt): boolean {
  const isHour = (mark: CacheMark | undefined) => mark?.ttl !== undefined && mark.ttl !== "5m";
  const marked = (content: readonly Content[]): boolean =>
    content.some((c) =>
      c.type === "opaque" || c.extra !== undefined || isHour(c.cache) ||
      (c.type === "result" && marked(c.content))
    );
  return isHour(prompt.cache) ||
    prompt.tools.some((t) => t.kind === "opaque" || t.extra !== undefined || isHour(t.cache)) ||
    prompt.turns.some((turn) => marked(turn.content));
}

/** The text of contents without separators: a text split into blocks by citations is one text. */
export function plainText(content: readonly Content[]): string {
  let text = "";
  for (const c of content) if (c.type === "text" || c.type === "refusal") text += c.text;
  return text;
}

/** Fields as an Extra of their format; undefined if there are none. */
export function ownExtra(format: FormatName, fields: Loose | undefined): Extra | undefined {
  return fields && { format, fields };
}

/** The fields, if they are from this format. */
export function extraOf(extra: Extra | undefined, format: FormatName): Loose | undefined {
  return extra && extra.format === format ? extra.fields : undefined;
}
