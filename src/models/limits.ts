/**
 * The size of a request, and whether it can fit.
 *
 * One pass over its text, shared with DLP, serves three purposes: the text limit, the model's context, and
 * the reservation. Two estimates are needed before tokens are counted: an upper bound for reserving money,
 * and a lower bound for refusing what cannot fit. A tokenizer never produces more tokens than UTF-8 bytes.
 * Only a prompt that may be too long is tokenized, since white space and repeated characters can take few
 * tokens, however many they are.
 */
import { Buffer } from "node:buffer";
import { contextOverflow } from "../exchange/context_overflow.ts";
import { Failure } from "../exchange/failure.ts";
import type { Fees } from "../exchange/fees.ts";
import type { Content, Prompt, Source } from "../exchange/prompt.ts";
import type { BodyLeaves, Leaf } from "../formats/leaves/mod.ts";
import type { TokenCounter } from "../formats/tokens/counter.ts";
import { addsText, feesElsewhere, roundsElsewhere, tokensWithin } from "./provider_additions.ts";
import { bytesOf, mostTokens, UNSEEN } from "./media_tokens.ts";

export interface SizeLimits {
  maxTextChars: number;
  maxFileBytes: number;
  maxMessages: number;
}

export interface PromptSize {
  /** UTF-16 units of all text. */
  chars: number;
  /** UTF-8 bytes of all text, and of everything else that is passed on except attachments. */
  bytes: number;
  /** Number of attachments other than text. */
  attachments: number;
  /** Upper bound of their tokens; infinite if only the provider can determine it. */
  media: number;
  /** Upper bound of tokens added by templates for messages, tools and fields. */
  frames: number;
  /** How often a provider that runs tools itself may read the prompt within one call; absent: once. */
  rounds?: number;
  /** Maximum uses of the provider's tools that have a fee within one call; absent: none. */
  fees?: Fees;
  /** Lower bound of the text's tokens, after tokenizing. */
  counted?: number;
}

/** Maximum number of rounds of a provider's own tools within one call. */
export const TOOL_ROUNDS = 20;

/** Measures a request, and throws if it exceeds a limit of the service. */
export function measure(prompt: Prompt, reading: BodyLeaves, limits: SizeLimits): PromptSize {
  if (prompt.turns.length > limits.maxMessages) {
    const param = prompt.format === "responses" ? "input" : "messages";
    throw new Failure(
      "validation_error",
      `Cannot read ${param}: expected at most ${limits.maxMessages}, got ${prompt.turns.length}.`,
      { param },
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
    // Reference to an earlier audio answer by id.
    if (turn.extra?.fields.audio !== undefined) size.media += SPOKEN_ANSWER;
  }
  const rounds = roundsElsewhere(prompt);
  if (rounds || addsText(prompt)) {
    size.media = UNSEEN;
    const fees = feesElsewhere(prompt, TOOL_ROUNDS);
    if (fees !== undefined) size.fees = fees;
  }
  if (rounds) size.rounds = TOOL_ROUNDS;
  return size;
}

/**
 * Length of all text in UTF-16 units; throws if it is above the limit. To be called before any slower processing. Text in an
 * attachment counts; if the attachment is above its own limit, the error names that limit.
 */
export function measureText({ leaves }: BodyLeaves, { maxTextChars, maxFileBytes }: SizeLimits): number {
  let chars = 0;
  for (const { text } of leaves) chars += text.length;
  if (chars <= maxTextChars) return chars;
  for (const { kind, text } of leaves) {
    const bytes = kind === "encoded" ? Buffer.byteLength(text) : 0;
    if (bytes > maxFileBytes) throw fileTooLarge("", bytes, maxFileBytes);
  }
  throw new Failure(
    "text_content_too_large",
    `The text of the request is too long: expected at most ${maxTextChars} characters, got ${chars}.`,
  );
}

/** Template tokens. With tools, a provider adds a description of some hundred tokens. */
const FRAMES = { request: 16, turn: 8, leaf: 4, tool: 32, tools: 1000 };
const SPOKEN_ANSWER = 16_384;

function framesOf({ turns, tools, search, output }: Prompt): number {
  const needsToolFrame = tools.length > 0 || search !== undefined || output?.type === "schema";
  return FRAMES.request + FRAMES.turn * turns.length + FRAMES.tool * tools.length +
    (needsToolFrame ? FRAMES.tools : 0);
}

function attach(content: readonly Content[], size: PromptSize, limits: SizeLimits): void {
  for (const c of content) {
    switch (c.type) {
      case "result":
        attach(c.content, size, limits);
        break;
      case "opaque":
        size.media += tokensWithin(c);
        break;
      case "image":
      case "audio":
      case "video":
      case "document":
        if (c.source.kind === "text") break;
        size.attachments++;
        size.media += mostTokens(c);
        if (c.source.kind === "base64") refuseLarge(`of type ${c.type} `, c.source, limits);
    }
  }
}

function refuseLarge(
  what: string,
  source: Extract<Source, { kind: "base64" }>,
  { maxFileBytes }: SizeLimits,
): void {
  if (bytesOf(source) <= maxFileBytes) return;
  // Wrapped lines are seldom enough to be taken out only where they matter.
  const bytes = bytesOf({ ...source, data: source.data.replaceAll(/\s+/g, "") });
  if (bytes > maxFileBytes) throw fileTooLarge(what, bytes, maxFileBytes);
}

function fileTooLarge(what: string, bytes: number, limit: number): Failure {
  return new Failure(
    "file_too_large",
    `An attachment ${what}is too large: expected at most ${limit} bytes, got ${bytes}.`,
  );
}

/** The texts of a request that reach the model, without identifiers of the caller. */
export function* texts({ leaves }: BodyLeaves): Generator<string> {
  for (const leaf of leaves) if (!isAboutCaller(leaf)) yield leaf.text;
}

function isAboutCaller({ message, location }: Leaf): boolean {
  return message === null && (location === "user" || location === "metadata");
}

/** Total length of texts that the gateway adds to a request, in UTF-16 units and bytes. */
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

/** Maximum average length of a token in natural text; white space and repeated characters have longer ones. */
const MOST_CHARS_PER_TOKEN = 5;
/** The same in bytes, for scripts with several bytes a character: one of Han may be a token. */
const MOST_BYTES_PER_TOKEN = 6;
/** Average bytes of a character up to which a text is mostly ASCII. */
const MOSTLY_ASCII = 1.25;
/** Factor by which another tokenizer may need fewer tokens than the one used here. */
const TOKENIZERS_DIFFER = 1.25;
/** The same in scripts with several bytes a character: Gemini needs two thirds as many for Bengali. */
const TOKENIZERS_DIFFER_IN_BYTES = 1.75;
/** The context length assumed if a model's is unknown. */
const LONGEST_CONTEXT = 400_000;

/** Upper bound of a prompt's tokens: of its text, and of everything else. Limited to the model's context length. */
export function mostInput(size: PromptSize, contextLength: number | null): { text: number; media: number } {
  const media = Math.min(size.media, contextLength ?? LONGEST_CONTEXT);
  const text = size.bytes + size.frames;
  return { media, text: contextLength === null ? text : Math.min(text, contextLength - media) };
}

/** Lower bound of the input tokens, as far as known without tokenizing. */
export function leastTokens(size: PromptSize): number {
  return size.counted ?? Math.floor(size.chars / MOST_CHARS_PER_TOKEN);
}

/** Counts the tokens of a prompt that, by its length, may not fit one of these contexts. Null: not needed. */
export function countIfOver(
  reading: BodyLeaves,
  size: PromptSize,
  contexts: readonly number[],
  { tokens, key }: { tokens: Pick<TokenCounter, "countAll">; key: string },
): Promise<void> | null {
  const text = { chars: size.chars, bytes: size.bytes - reading.rest };
  if (Math.max(leastTokens(size), text.bytes / MOST_BYTES_PER_TOKEN) <= Math.min(...contexts)) return null;
  const enough = (Math.max(...contexts) + 1) * TOKENIZERS_DIFFER_IN_BYTES;
  return tokens.countAll(texts(reading), { enough, key }).then((counted) => {
    size.counted = Math.floor(leastOf(text, counted));
  });
}

/** Lower bound of a text's tokens by any tokenizer. Scripts for which one has tokens of several bytes are single bytes for another. */
function leastOf({ chars, bytes }: { chars: number; bytes: number }, counted: number): number {
  const usual = counted / TOKENIZERS_DIFFER;
  if (bytes <= MOSTLY_ASCII * chars) return usual;
  return Math.max(
    Math.min(chars / MOST_CHARS_PER_TOKEN, usual),
    Math.min(bytes / MOST_BYTES_PER_TOKEN, counted / TOKENIZERS_DIFFER_IN_BYTES),
  );
}

/** Throws if a prompt cannot fit the model; {@link countIfOver} must have been called. */
export function refuseOversize(size: PromptSize, contextLength: number | null): void {
  if (contextLength === null) return;
  const least = leastTokens(size);
  if (least > contextLength) {
    throw contextOverflow({ tokens: least, limit: contextLength });
  }
}
