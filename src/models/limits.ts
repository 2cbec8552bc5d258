/**
 * How large a prompt is, and whether it can fit.
 *
 * Two numbers are wanted of a prompt before anybody has counted its tokens: one that is surely not too small, for
 * reserving money, and one that is surely not too large, for refusing what cannot fit. Both come from the length of its
 * text. Only a prompt so long that it may not fit is counted by a tokenizer, since blanks and repeated signs take few
 * tokens, however many they are.
 */
import { contextOverflow } from "../exchange/context_overflow.ts";
import { Failure } from "../exchange/failure.ts";
import type { Content, Prompt, Source } from "../exchange/prompt.ts";
import { countAll } from "../formats/tokens.ts";

export interface SizeLimits {
  maxTextChars: number;
  maxFileBytes: number;
  maxMessages: number;
}

export interface PromptSize {
  /** UTF-16 units of all text. */
  chars: number;
  /** Attachments that are no text. */
  attachments: number;
  /** Tokens that the text surely has, once they were counted. */
  counted?: number;
}

/** Measures a prompt and refuses what is over a limit of the service. */
export function measure(prompt: Prompt, limits: SizeLimits): PromptSize {
  if (prompt.turns.length > limits.maxMessages) {
    throw new Failure(
      "validation_error",
      `Cannot read messages: expected at most ${limits.maxMessages}, got ${prompt.turns.length}.`,
      { param: prompt.format === "responses" ? "input" : "messages" },
    );
  }
  const size: PromptSize = { chars: 0, attachments: 0 };
  for (const turn of prompt.turns) add(turn.content, size, limits);
  for (const tool of prompt.tools) {
    if (tool.kind === "opaque") continue;
    size.chars += tool.name.length + (tool.description?.length ?? 0);
    if (tool.kind === "function" && tool.parameters) size.chars += roughLength(tool.parameters);
  }
  if (prompt.output?.type === "schema") size.chars += roughLength(prompt.output.schema);
  if (size.chars > limits.maxTextChars) {
    throw new Failure(
      "text_content_too_large",
      `The text of the request is too long: expected at most ${limits.maxTextChars} characters, got ${size.chars}.`,
    );
  }
  return size;
}

function add(content: readonly Content[], size: PromptSize, limits: SizeLimits): void {
  for (const c of content) {
    switch (c.type) {
      case "text":
      case "refusal":
        size.chars += c.text.length;
        break;
      case "reasoning":
        for (const section of c.sections) size.chars += section.length;
        break;
      case "call":
        size.chars += c.arguments.length + c.name.length;
        break;
      case "result":
        add(c.content, size, limits);
        break;
      case "search-result":
        size.chars += c.title.length;
        for (const text of c.texts) size.chars += text.length;
        break;
      case "document":
        size.chars += (c.name?.length ?? 0) + (c.context?.length ?? 0);
        attach(c.source, c.type, size, limits);
        break;
      case "image":
      case "audio":
      case "video":
        attach(c.source, c.type, size, limits);
        break;
      case "opaque":
        size.chars += roughLength(c.value);
        break;
    }
  }
}

function attach(source: Source, type: string, size: PromptSize, limits: SizeLimits): void {
  if (source.kind === "text") {
    size.chars += source.text.length;
    return;
  }
  size.attachments++;
  if (source.kind !== "base64") return;
  const bytes = Math.floor(source.data.length * 3 / 4);
  if (bytes > limits.maxFileBytes) {
    throw new Failure(
      "file_too_large",
      `An attachment of type ${type} is too large: expected at most ${limits.maxFileBytes} bytes, got ${bytes}.`,
    );
  }
}

/** Characters of a JSON value's strings and keys, without serialising it. */
function roughLength(value: unknown): number {
  let length = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") length += next.length;
    else if (typeof next === "object" && next !== null) {
      for (const key of Object.keys(next)) {
        if (!Array.isArray(next)) length += key.length;
        open.push((next as Record<string, unknown>)[key]);
      }
    } else length += 2;
  }
  return length;
}

/** The texts of a prompt that reach the model. */
export function* texts(prompt: Prompt): Generator<string> {
  for (const turn of prompt.turns) yield* textsOf(turn.content);
  for (const tool of prompt.tools) if (tool.kind !== "opaque") yield JSON.stringify(tool);
  if (prompt.output?.type === "schema") yield JSON.stringify(prompt.output.schema);
}

function* textsOf(content: readonly Content[]): Generator<string> {
  for (const c of content) {
    switch (c.type) {
      case "text":
      case "refusal":
        yield c.text;
        break;
      case "reasoning":
        yield* c.sections;
        break;
      case "call":
        yield c.name;
        yield c.arguments;
        break;
      case "result":
        yield* textsOf(c.content);
        break;
      case "search-result":
        yield c.title;
        yield* c.texts;
        break;
      case "opaque":
        yield JSON.stringify(c.value);
        break;
      case "document":
        if (c.name !== undefined) yield c.name;
        if (c.context !== undefined) yield c.context;
        if (c.source.kind === "text") yield c.source.text;
        break;
      default:
        if (c.source.kind === "text") yield c.source.text;
    }
  }
}

/** Characters of ordinary text per token: English prose has about 4, code and other scripts fewer. */
const CHARS_PER_TOKEN = 3;
/** No text that people write has tokens longer than this on average; blanks and repeated signs have. */
const MOST_CHARS_PER_TOKEN = 5;
/** Another tokenizer than the one that counts here may need fewer tokens for the same text, by this factor. */
const TOKENIZERS_DIFFER = 1.25;
/** Tokens reserved for an image or another attachment. */
const ATTACHMENT_TOKENS = 1600;

/** Input tokens that the prompt is expected not to exceed, for reservations. */
export function upperTokens(size: PromptSize): number {
  return Math.ceil(size.chars / CHARS_PER_TOKEN) + size.attachments * ATTACHMENT_TOKENS + 16;
}

/** Input tokens that the prompt surely has, as far as is known without counting. */
export function leastTokens(size: PromptSize): number {
  return size.counted ?? Math.floor(size.chars / MOST_CHARS_PER_TOKEN);
}

/** Counts the tokens of a prompt whose length alone would keep it from a model with one of these contexts. */
export async function countIfOver(
  prompt: Prompt,
  size: PromptSize,
  contexts: readonly number[],
): Promise<void> {
  if (leastTokens(size) <= Math.min(...contexts)) return;
  const enough = (Math.max(...contexts) + 1) * TOKENIZERS_DIFFER;
  size.counted = Math.floor(await countAll(texts(prompt), { enough }) / TOKENIZERS_DIFFER);
}

/** Refuses a prompt that cannot fit the model; {@link countIfOver} must have looked at it. */
export function refuseOversize(size: PromptSize, contextLength: number | null): void {
  if (contextLength === null) return;
  const least = leastTokens(size);
  if (least > contextLength) {
    throw contextOverflow({ tokens: least, limit: contextLength });
  }
}
