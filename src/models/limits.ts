/**
 * How large a request is, and whether it can fit.
 *
 * One walk over its text, the one that data-loss prevention takes, serves three: the limit of text, the model's context, and
 * the reservation. Two numbers are wanted before anybody has counted tokens: one that is surely not too small, for
 * reserving money, and one that is surely not too large, for refusing what cannot fit. A tokenizer gives no text more
 * tokens than it has bytes of UTF-8. Only a prompt so long that it may not fit is counted, since blanks and repeated
 * signs take few tokens, however many they are.
 */
import { Buffer } from "node:buffer";
import { contextOverflow } from "../exchange/context_overflow.ts";
import { Failure } from "../exchange/failure.ts";
import { array, isObject, object } from "../exchange/json.ts";
import type { Content, Prompt } from "../exchange/prompt.ts";
import type { BodyLeaves, Leaf } from "../formats/leaves.ts";
import type { TokenCounter } from "../formats/token_counter.ts";
import { bytesOf, mostTokens, UNSEEN } from "./media_tokens.ts";

export interface SizeLimits {
  maxTextChars: number;
  maxFileBytes: number;
  maxMessages: number;
}

export interface PromptSize {
  /** UTF-16 units of all text. */
  chars: number;
  /** Bytes of all text as UTF-8, and of everything else that is passed on and is no attachment. */
  bytes: number;
  /** Attachments that are no text. */
  attachments: number;
  /** The most tokens that these are; infinite where only the provider can tell. */
  media: number;
  /** Tokens that templates put around messages, tools and fields, at most. */
  frames: number;
  /** How often a provider whose tools run there may read the prompt within one call; absent: once. */
  rounds?: number;
  /** Tokens that the text surely has, once they were counted. */
  counted?: number;
}

/** Rounds that a provider's own tools may take within one call. */
export const TOOL_ROUNDS = 20;

/** Measures a request and refuses what is over a limit of the service. */
export function measure(prompt: Prompt, reading: BodyLeaves, limits: SizeLimits): PromptSize {
  if (prompt.turns.length > limits.maxMessages) {
    throw new Failure(
      "validation_error",
      `Cannot read messages: expected at most ${limits.maxMessages}, got ${prompt.turns.length}.`,
      { param: prompt.format === "responses" ? "input" : "messages" },
    );
  }
  const size: PromptSize = {
    chars: 0,
    bytes: reading.rest,
    attachments: 0,
    media: 0,
    frames: framesOf(prompt) + FRAMES.leaf * reading.leaves.length,
  };
  size.chars = measureText(reading, limits);
  for (const { text } of reading.leaves) size.bytes += Buffer.byteLength(text);
  for (const turn of prompt.turns) {
    attach(turn.content, size, limits);
    // An earlier spoken answer, named by its id.
    if (turn.extra?.fields.audio !== undefined) size.media += SPOKEN_ANSWER;
  }
  if (prompt.tools.some(runsElsewhere)) {
    size.media = UNSEEN;
    size.rounds = TOOL_ROUNDS;
  }
  return size;
}

/** Length of all text in UTF-16 units; refuses what is over the limit. Nothing slower should be done with it before. */
export function measureText({ leaves }: BodyLeaves, { maxTextChars }: SizeLimits): number {
  let chars = 0;
  for (const { text } of leaves) chars += text.length;
  if (chars <= maxTextChars) return chars;
  throw new Failure(
    "text_content_too_large",
    `The text of the request is too long: expected at most ${maxTextChars} characters, got ${chars}.`,
  );
}

/** Tokens of templates. A provider whose API has tools tells the model about them in some hundred tokens. */
const FRAMES = { request: 16, turn: 8, leaf: 4, tool: 32, tools: 1000 };
const SPOKEN_ANSWER = 16_384;

function framesOf({ turns, tools, search, output }: Prompt): number {
  const told = tools.length > 0 || search !== undefined || output?.type === "schema";
  return FRAMES.request + FRAMES.turn * turns.length + FRAMES.tool * tools.length + (told ? FRAMES.tools : 0);
}

/** Tools of a provider's own that its clients run. */
const CLIENT_RUN = /^(?:bash|text_editor|computer|memory|local_shell|shell|apply_patch|namespace)(?:_|$)/;

/** What a provider's own tool finds goes into the prompt without being seen here. */
export function runsElsewhere(tool: Prompt["tools"][number]): boolean {
  return tool.kind === "opaque" && !CLIENT_RUN.test(String(tool.value.type));
}

/** Whether the provider may compact the conversation within the call, for which it reads it once more. */
export function compactsElsewhere({ unknown }: Prompt): boolean {
  const { compaction, context_management: management } = unknown;
  const edits = Array.isArray(management) ? management : array(object(management).edits);
  return isObject(compaction) || edits.some((edit) => /^compact/.test(String(object(edit).type)));
}

function attach(content: readonly Content[], size: PromptSize, limits: SizeLimits): void {
  for (const c of content) {
    switch (c.type) {
      case "result":
        attach(c.content, size, limits);
        break;
      case "image":
      case "audio":
      case "video":
      case "document":
        if (c.source.kind === "text") break;
        size.attachments++;
        size.media += mostTokens(c);
        if (c.source.kind === "base64") refuseLarge(c.type, bytesOf(c.source), limits);
    }
  }
}

function refuseLarge(type: string, bytes: number, { maxFileBytes }: SizeLimits): void {
  if (bytes <= maxFileBytes) return;
  throw new Failure(
    "file_too_large",
    `An attachment of type ${type} is too large: expected at most ${maxFileBytes} bytes, got ${bytes}.`,
  );
}

/** The texts of a request that reach the model: what names the caller does not. */
export function* texts({ leaves }: BodyLeaves): Generator<string> {
  for (const leaf of leaves) if (!isAboutCaller(leaf)) yield leaf.text;
}

function isAboutCaller({ message, location }: Leaf): boolean {
  return message === null && (location === "user" || location === "metadata");
}

/** How long the texts of contents are that the gateway itself adds to a request, in UTF-16 units and in bytes. */
export function lengthsOf(content: readonly Content[]): { chars: number; bytes: number } {
  const lengths = { chars: 0, bytes: 0 };
  const add = (text: string) => {
    lengths.chars += text.length;
    lengths.bytes += Buffer.byteLength(text);
  };
  for (const c of content) {
    if (c.type === "text" || c.type === "refusal") add(c.text);
    else if (c.type === "call") add(c.name + c.arguments);
    else if (c.type === "reasoning") c.sections.forEach(add);
    else if (c.type === "result") {
      const inner = lengthsOf(c.content);
      lengths.chars += inner.chars;
      lengths.bytes += inner.bytes;
    }
  }
  return lengths;
}

/** No text that people write has tokens longer than this on average; blanks and repeated signs have. */
const MOST_CHARS_PER_TOKEN = 5;
/** Another tokenizer than the one that counts here may need fewer tokens for the same text, by this factor. */
const TOKENIZERS_DIFFER = 1.25;
/** The longest context that there is, for models whose own is not known. */
const LONGEST_CONTEXT = 400_000;

/** Tokens of a prompt at most: of its text, and of all else. A model takes none that is longer than its context. */
export function mostInput(size: PromptSize, contextLength: number | null): { text: number; media: number } {
  const media = Math.min(size.media, contextLength ?? LONGEST_CONTEXT);
  const text = size.bytes + size.frames;
  return { media, text: contextLength === null ? text : Math.min(text, contextLength - media) };
}

/** Input tokens that the prompt surely has, as far as is known without counting. */
export function leastTokens(size: PromptSize): number {
  return size.counted ?? Math.floor(size.chars / MOST_CHARS_PER_TOKEN);
}

/**
 * Counts the tokens of a prompt whose length alone would keep it from a model with one of these contexts. Null: there is
 * nothing to wait for.
 */
export function countIfOver(
  reading: BodyLeaves,
  size: PromptSize,
  contexts: readonly number[],
  { tokens, key }: { tokens: Pick<TokenCounter, "countAll">; key: string },
): Promise<void> | null {
  if (leastTokens(size) <= Math.min(...contexts)) return null;
  const enough = (Math.max(...contexts) + 1) * TOKENIZERS_DIFFER;
  return tokens.countAll(texts(reading), { enough, key }).then((counted) => {
    size.counted = Math.floor(counted / TOKENIZERS_DIFFER);
  });
}

/** Refuses a prompt that cannot fit the model; {@link countIfOver} must have looked at it. */
export function refuseOversize(size: PromptSize, contextLength: number | null): void {
  if (contextLength === null) return;
  const least = leastTokens(size);
  if (least > contextLength) {
    throw contextOverflow({ tokens: least, limit: contextLength });
  }
}
