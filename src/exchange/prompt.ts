/**
 * A caller's request in the one vocabulary that the pipeline speaks.
 *
 * Turns keep the borders and the order of the wire; an encoder whose format wants alternation joins neighbours with
 * {@link joinTurns}. Fields that the vocabulary has no word for travel in `unknown` and `extra`, with the
 * name of the format they came from: the same format puts them back, another one leaves them out.
 */
import type { Citation } from "./citation.ts";
import type { Extra } from "./extra.ts";
import type { FormatName } from "./format_name.ts";
import type { Loose } from "./json.ts";
import type { Proof } from "./proof.ts";

export type { Extra, FormatName };

/** A prompt-cache breakpoint (`cache_control`). Lifetime as the wire has it: `5m`, `1h`; absent: the default. */
export interface CacheMark {
  ttl?: string;
  /** It came as `prompt_cache_breakpoint`, which OpenAI's own APIs have. */
  breakpoint?: true;
}

/** Where the bytes of an attachment are. `file`: an id issued by the provider. */
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
  /** Citations that came with an earlier answer's text. */
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
  /** Words about the document that are not part of it. */
  context?: string;
  /** The caller wants citations into it. */
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
/** A search result that the caller brings (`search_result` of messages). */
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
/** Earlier reasoning, sent back. `sections`: summary parts or text pieces; empty when only the proof exists. */
export interface ReasoningContent extends Marked {
  type: "reasoning";
  sections: string[];
  /** `summary`: the text is about the reasoning; `text`: it is the reasoning. */
  kind: "text" | "summary";
  proof?: Proof;
}
export interface CallContent extends Marked {
  type: "call";
  id: string;
  name: string;
  /** The `namespace` tool of the responses format that holds the called tool. */
  namespace?: string;
  /** `custom`: freeform text instead of JSON arguments. */
  kind: "function" | "custom";
  /** JSON text for a function, freeform text for a custom tool. */
  arguments: string;
  proof?: Proof;
}
export interface ResultContent extends Marked {
  type: "result";
  callId: string;
  /** Name of the called tool, when the wire says it or the history holds the call. */
  name?: string;
  kind: "function" | "custom";
  content: Content[];
  isError: boolean;
  /** The wire had a plain string, not a list of parts. */
  plain?: boolean;
}
/** A block that only its own format understands. */
interface OpaqueContent extends Marked {
  type: "opaque";
  format: FormatName;
  value: Loose;
  /** What it says is in the vocabulary, too: another format loses nothing with it. */
  told?: boolean;
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

/** Content that is a file, or stands for one by its address. */
export type Attachment = ImageContent | DocumentContent | AudioContent | VideoContent;

/** Whether it is a file: an image, a document, a sound or a video. */
export function isAttachment(c: Content): c is Attachment {
  return c.type === "image" || c.type === "document" || c.type === "audio" || c.type === "video";
}

export type Role = "system" | "user" | "assistant";

export interface Turn {
  role: Role;
  content: Content[];
  /** System text outside the message list: `system` of messages, `instructions` of responses. */
  top?: boolean;
  /** `developer` where the wire said so; means the same as system. */
  developer?: boolean;
  /** The `name` field of a message. */
  name?: string;
  /** The wire had a plain string, not a list of parts. */
  plain?: boolean;
  extra?: Extra;
}

/**
 * A conversation may change its tools on the way. `history`: declared in the turns, where its own format gets it; another has
 * no place there, and lists it. `list`: listed at first, and replaced or taken away in the turns: only its own format gets it.
 */
interface Declared {
  declared?: "history" | "list";
}

export interface FunctionTool extends Declared {
  kind: "function";
  name: string;
  namespace?: string;
  description?: string;
  /** JSON Schema of the arguments; absent: none were declared. */
  parameters?: Loose;
  strict?: boolean;
  /** The gateway's own, not the caller's. */
  made?: true;
  cache?: CacheMark;
  extra?: Extra;
}
export interface CustomTool extends Declared {
  kind: "custom";
  name: string;
  namespace?: string;
  description?: string;
  /** `{type: "text"}` or a grammar, as the wire has it. */
  format?: Loose;
  cache?: CacheMark;
  extra?: Extra;
}
/** A tool that only its own format understands. */
interface OpaqueTool extends Declared {
  kind: "opaque";
  format: FormatName;
  value: Loose;
}
export type Tool = FunctionTool | CustomTool | OpaqueTool;

export type ToolChoice =
  | { type: "auto" | "none" | "required" }
  | { type: "tool"; name: string; namespace?: string; kind: "function" | "custom" }
  /** Only these may be called; `required`: one of them must be. */
  | { type: "allowed"; required: boolean; names: string[] };

/** The built-in web search was asked for. `maxUses` as the caller sent it. */
export interface SearchOptions {
  maxUses?: number;
  /** Calls of all tools that are not the caller's. */
  maxCalls?: number;
  /** Only these hosts, or none of these. */
  allowedDomains?: string[];
  blockedDomains?: string[];
  /** `low`, `medium`, `high`. */
  contextSize?: string;
  /** About where the person is who asks. */
  location?: SearchPlace;
  /** The choice among the tools named the search: the model must begin with one. */
  first?: boolean;
  /** A cache mark on the tool. */
  cache?: CacheMark;
  /** Names of fields that the gateway's own search does not have. */
  unread?: string[];
}

/** A country's two letters, names of a region and a city, a timezone of the IANA list; each as the caller wrote it. */
export interface SearchPlace {
  country?: string;
  region?: string;
  city?: string;
  timezone?: string;
}

export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

export interface ReasoningOptions {
  /** `off`: asked not to reason. `adaptive`: the model decides how much. Absent: the model's default. */
  mode?: "on" | "off" | "adaptive";
  effort?: Effort;
  /** Tokens to reason with. */
  budget?: number;
  /** What text to show: `auto`, `concise`, `detailed`, `omitted`. */
  summary?: string;
}

export type OutputShape =
  | { type: "text" }
  /** Valid JSON, no schema. */
  | { type: "json" }
  | { type: "schema"; name?: string; description?: string; strict?: boolean; schema: Loose };

export interface Prompt {
  /** The caller's format; decides whose `extra` fields a provider's encoder puts back. */
  format: FormatName;
  /** As the caller sent it. */
  model: string;
  stream: boolean;
  turns: Turn[];
  tools: Tool[];
  toolChoice?: ToolChoice;
  /** False: at most one call a turn. */
  parallelCalls?: boolean;
  search?: SearchOptions;
  /** Cap on all output of the request, reasoning included. */
  maxOutput?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  stop?: string[];
  seed?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  logitBias?: Loose;
  /** Number of answers wanted. */
  n?: number;
  logprobs?: boolean;
  topLogprobs?: number;
  reasoning?: ReasoningOptions;
  output?: OutputShape;
  /** What the turns change of it on the way, as it is at the end, for formats whose turns change nothing. */
  atEnd?: { reasoning?: ReasoningOptions; output?: OutputShape };
  /** `low`, `medium`, `high`: length of the answer. */
  verbosity?: string;
  /** A name of the end user, for the provider's abuse tracking. */
  user?: string;
  metadata?: Loose;
  serviceTier?: string;
  /** Groups requests that share a cached prefix. */
  cacheKey?: string;
  /** A cache mark on the request as a whole. */
  cache?: CacheMark;
  /** Kinds of output asked for beside text: `audio`, `image`. */
  modalities?: string[];
  /** `audio` of chat-completions: voice and format of spoken output. */
  audio?: Loose;
  /**
   * Fields whose meaning is in the vocabulary above, but which the same format must get back exactly as they came
   * (`thinking`, `output_config`, `response_format`).
   */
  verbatim: Loose;
  /** Fields without a word here. The same format gets them back; for another they are dropped, and said to be. */
  unknown: Loose;
  /** Kinds of entries of the history that mean nothing here and were passed over. */
  passedOver?: string[];
  /** The caller's own cap does not cover its budget for thinking. A provider of the same format gets both as they came. */
  budgetAboveCap?: boolean;
  /** Searches that the gateway made were left out of the history: it is not the one that the model has seen. */
  searchesLeftOut?: boolean;
  /** Caller's headers that a provider of the same format should see: `anthropic-beta`. Lower case names. */
  headers?: Record<string, string>;
}

/** Neighbours of one role as one turn, for formats that want roles to alternate. Borders within stay as contents. */
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

/** System turns before the first other turn, and what follows them. */
export function splitSystem(turns: readonly Turn[]): { system: Turn[]; rest: Turn[] } {
  let i = 0;
  while (i < turns.length && turns[i].role === "system") i++;
  return { system: turns.slice(0, i), rest: turns.slice(i) };
}

/** Whether anything is marked for a prompt cache, as far as the marks can be seen. @param counts which marks count */
export function marksCache(prompt: Prompt, counts: (mark: CacheMark) => boolean = () => true): boolean {
  const counted = (mark: CacheMark | undefined) => mark !== undefined && counts(mark);
  const marked = (content: readonly Content[]): boolean =>
    content.some((c) => counted(c.cache) || (c.type === "result" && marked(c.content)));
  return counted(prompt.cache) || counted(prompt.search?.cache) ||
    prompt.tools.some((t) => t.kind !== "opaque" && counted(t.cache)) ||
    prompt.turns.some((turn) => marked(turn.content));
}

/** The tools that have names of their own; of those with the same name the first. */
export function toolsByName(tools: readonly Tool[]): Map<string, Exclude<Tool, { kind: "opaque" }>> {
  const found = new Map<string, Exclude<Tool, { kind: "opaque" }>>();
  for (const tool of tools) if (tool.kind !== "opaque" && !found.has(tool.name)) found.set(tool.name, tool);
  return found;
}

/**
 * Whether something may be written to a prompt cache for an hour: a mark says so, or a block or field is there that only
 * its own format reads.
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

/** All text of some contents, without separators: a text cut into blocks by citations is one text. */
export function plainText(content: readonly Content[]): string {
  let text = "";
  for (const c of content) if (c.type === "text" || c.type === "refusal") text += c.text;
  return text;
}

/** Wire fields as an Extra of their format; undefined when there are none. */
export function ownExtra(format: FormatName, fields: Loose | undefined): Extra | undefined {
  return fields && { format, fields };
}

/** The fields, if they came from this format. */
export function extraOf(extra: Extra | undefined, format: FormatName): Loose | undefined {
  return extra && extra.format === format ? extra.fields : undefined;
}
