/**
 * Reasoning that a server leaves between tags at the beginning of the text: `<think>…</think>Hello`. It becomes
 * reasoning, without the white space around it; the text begins after it.
 *
 * A text is never lost: tags behind the first visible character are text, and an answer that ended normally
 * within the first tags is also passed on as text, since it may merely mention the tag.
 */
import { isObject, type Loose, string } from "../exchange/json.ts";
import type { FinishReason, Part, TokenLogprob } from "../exchange/part.ts";
import { isTextField, replayProof } from "./chat_completions/reasoning.ts";
import type { ProviderFormat, StreamDecoder } from "./format.ts";

export interface ThinkTags {
  /** The tag's name: `think` for `<think>`. */
  name: string;
  /** The chat template writes the first tag, so the answer begins within it. */
  prefilled: boolean;
}

type TextStart = Extract<Part, { type: "text-start" }>;

interface Choice {
  /** `before`: of anything visible. `within` the tags. `text`: everything else is text. */
  state: "before" | "within" | "text";
  /** Text that may be the beginning of a tag, or white space at the border of a reasoning or text. */
  held: string;
  /** The log probabilities of the held text. */
  tokens: TokenLogprob[];
  /** The text within the tags, with the first tag; empty if the tags were closed. */
  unclosed: string;
  /** The open block of reasoning. */
  reasoning: number | undefined;
  /** The tags were closed. */
  thought: boolean;
  /** There is something other than what is within the tags. */
  answered: boolean;
}

/** A text block of the provider. */
interface OpenText {
  choice: Choice;
  start: TextStart;
  /** Its number in the output; undefined: not started. */
  block: number | undefined;
  /** How many characters are not in the output. */
  removed: number;
}

const FIELD = "reasoning_content";

/** Converts the parts of one answer. */
class TagReader {
  readonly #open: string;
  readonly #close: string;
  readonly #prefilled: boolean;
  readonly #choices = new Map<number, Choice>();
  readonly #texts = new Map<number, OpenText>();
  /** Numbers in the output of the other blocks. */
  readonly #blocks = new Map<number, number>();
  #next = 0;
  #out: Part[] = [];

  constructor({ name, prefilled }: ThinkTags) {
    this.#open = `<${name}>`;
    this.#close = `</${name}>`;
    this.#prefilled = prefilled;
  }

  /** Replaces the parts from a position on. */
  convert(parts: Part[], from: number): void {
    const given = parts.splice(from);
    this.#out = parts;
    for (const part of given) this.#add(part);
  }

  #add(part: Part): void {
    switch (part.type) {
      case "text-start":
        return this.#begin(part);
      case "text-delta": {
        const text = this.#texts.get(part.block)!;
        if (text.choice.state === "text") this.#say(text, part.text, part.logprobs);
        else this.#read(text, part.text, part.logprobs ?? []);
        return;
      }
      case "citation": {
        const text = this.#texts.get(part.block)!;
        const { start, end, ...source } = part.citation;
        const places = start !== undefined && end !== undefined && end > text.removed &&
          { start: Math.max(0, start - text.removed), end: end - text.removed };
        this.#out.push({ ...part, block: this.#start(text), citation: { ...source, ...places } });
        return;
      }
      case "text-end": {
        const text = this.#texts.get(part.block)!;
        this.#texts.delete(part.block);
        this.#endText(text);
        if (text.block === undefined && part.proof === undefined) return;
        this.#out.push({ ...part, block: this.#start(text) });
        return;
      }
      case "finish":
        return this.#finish(part);
    }
    if (!("block" in part)) return void this.#out.push(part);
    let block = this.#blocks.get(part.block);
    if (block === undefined) {
      block = this.#next++;
      this.#blocks.set(part.block, block);
    }
    // Fields of the message that have no block are no answer.
    if ("choice" in part && part.type !== "opaque" && part.type !== "live-start") {
      this.#other(this.#choice(part.choice), part.type);
    }
    this.#out.push({ ...part, block });
  }

  #begin(start: TextStart): void {
    const choice = this.#choice(start.choice);
    if (start.refusal && choice.state === "before") choice.state = "text";
    this.#texts.set(start.block, { choice, start, block: undefined, removed: 0 });
  }

  /** Another block starts. A server that separates reasoning itself writes no tags. */
  #other(choice: Choice, type: Part["type"]): void {
    if (type !== "reasoning-start") choice.answered = true;
    if (choice.held === "" && choice.unclosed === "") choice.state = "text";
  }

  #choice(index: number): Choice {
    let choice = this.#choices.get(index);
    if (!choice) {
      const state = this.#prefilled ? "within" : "before";
      choice = {
        state,
        held: "",
        tokens: [],
        unclosed: "",
        reasoning: undefined,
        thought: false,
        answered: false,
      };
      this.#choices.set(index, choice);
    }
    return choice;
  }

  #read(text: OpenText, piece: string, tokens: readonly TokenLogprob[]): void {
    const { choice } = text;
    choice.held += piece;
    for (const token of tokens) choice.tokens.push(token);
    while (choice.state === "before" ? this.#readBefore(text) : this.#readWithin(text));
  }

  /** False: more text is needed, or the rest is text. */
  #readBefore(text: OpenText): boolean {
    const { choice } = text;
    const visible = choice.held.trimStart();
    if (visible.startsWith(this.#open)) {
      choice.state = "within";
      choice.unclosed = choice.held.slice(0, choice.held.length - visible.length) + this.#open;
      this.#remove(text, choice.unclosed.length);
      return true;
    }
    if (this.#open.startsWith(visible)) return false;
    choice.state = "text";
    if (choice.thought) this.#remove(text, choice.held.length - visible.length);
    const { held, tokens } = choice;
    choice.held = "";
    choice.tokens = [];
    this.#say(text, held, tokens.length > 0 ? tokens : undefined);
    return false;
  }

  #readWithin(text: OpenText): boolean {
    const { choice } = text;
    // A template that writes the first tag may not keep the model from writing it.
    if (choice.unclosed === "") {
      const visible = choice.held.trimStart();
      if (visible.startsWith(this.#open)) {
        choice.state = "before";
        return true;
      }
      if (this.#open.startsWith(visible)) return false;
    }
    const end = choice.held.indexOf(this.#close);
    if (end < 0) {
      this.#think(text, borderOf(choice.held, this.#close));
      return false;
    }
    this.#think(text, choice.held.slice(0, end).trimEnd().length);
    this.#remove(text, choice.held.indexOf(this.#close) + this.#close.length);
    this.#endReasoning(choice);
    choice.unclosed = "";
    choice.thought = true;
    choice.state = "before";
    return true;
  }

  /** Passes on held text as reasoning. */
  #think(text: OpenText, length: number): void {
    const { choice, start } = text;
    const said = choice.held.slice(0, length);
    choice.unclosed += said;
    this.#remove(text, length);
    const words = choice.reasoning === undefined ? said.trimStart() : said;
    if (words === "") return;
    if (choice.reasoning === undefined) {
      choice.reasoning = this.#next++;
      this.#out.push({
        type: "reasoning-start",
        block: choice.reasoning,
        choice: start.choice,
        kind: "text",
        extra: { format: "chat_completions", fields: { field: FIELD, details: false } },
      });
    }
    this.#out.push({ type: "reasoning-delta", block: choice.reasoning, section: 0, text: words });
  }

  #endReasoning(choice: Choice): void {
    if (choice.reasoning === undefined) return;
    this.#out.push({ type: "reasoning-end", block: choice.reasoning, proof: replayProof({ field: FIELD }) });
    choice.reasoning = undefined;
  }

  /** Leaves out the beginning of the held text. */
  #remove(text: OpenText, length: number): void {
    const { choice } = text;
    choice.held = choice.held.slice(length);
    text.removed += length;
    let at = 0;
    while (length > 0 && at < choice.tokens.length) length -= choice.tokens[at++].token.length;
    if (at > 0) choice.tokens = choice.tokens.slice(at);
  }

  #start(text: OpenText): number {
    if (text.block === undefined) {
      text.block = this.#next++;
      text.choice.answered = true;
      this.#out.push({ ...text.start, block: text.block });
    }
    return text.block;
  }

  #say(text: OpenText, words: string, logprobs: TokenLogprob[] | undefined): void {
    const block = this.#start(text);
    if (words === "" && !logprobs) return;
    this.#out.push(
      logprobs
        ? { type: "text-delta", block, text: words, logprobs }
        : { type: "text-delta", block, text: words },
    );
  }

  /** What is held is not a tag. */
  #endText(text: OpenText): void {
    const { choice } = text;
    if (choice.state === "within") {
      this.#think(text, choice.held.trimEnd().length);
      choice.unclosed += choice.held;
      this.#endReasoning(choice);
      choice.state = "text";
    } else if (choice.held !== "" && !(choice.thought && choice.held.trim() === "")) {
      this.#say(text, choice.held, choice.tokens.length > 0 ? choice.tokens : undefined);
    }
    choice.held = "";
    choice.tokens = [];
  }

  #finish(part: Extract<Part, { type: "finish" }>): void {
    const { unclosed, answered } = this.#choice(part.choice);
    if (unclosed.trim() !== "" && !answered && !CUT.has(part.reason)) {
      const block = this.#next++;
      const last = this.#out.findLastIndex(({ type }) => type !== "usage" && type !== "finish");
      this.#out.splice(
        last + 1,
        0,
        { type: "text-start", block, choice: part.choice },
        { type: "text-delta", block, text: unclosed },
        { type: "text-end", block },
      );
    }
    this.#out.push(part);
  }
}

/** Why an answer may have ended before the tag that closes its reasoning. */
const CUT: ReadonlySet<FinishReason> = new Set<FinishReason>(["length", "content-filter", "pause"]);

/** The length of a text without white space at its end, and without what may be the beginning of a tag. */
function borderOf(text: string, tag: string): number {
  const from = Math.max(0, text.length - tag.length + 1);
  let end = text.length;
  for (let i = text.indexOf("<", from); i >= 0; i = text.indexOf("<", i + 1)) {
    if (tag.startsWith(text.slice(i))) {
      end = i;
      break;
    }
  }
  return text.slice(0, end).trimEnd().length;
}

/** The format for servers that write reasoning between these tags, and read it there. */
export function withThinkTags(format: ProviderFormat, tags: ThinkTags): ProviderFormat {
  const { encodeRequest } = format;
  return {
    name: format.name,
    encodeRequest: (prompt, context) => {
      const request = encodeRequest(prompt, context);
      const { messages } = request.body;
      if (format.name === "chat_completions" && Array.isArray(messages)) {
        request.body.messages = messages.map((message) => withTags(message, tags));
      }
      return request;
    },
    decodeStream: (model) => decodeStream(format.decodeStream(model), tags),
    decodeAnswer(body) {
      const parts = format.decodeAnswer(body);
      new TagReader(tags).convert(parts, 0);
      return parts;
    },
  };
}

function decodeStream(decoder: StreamDecoder, tags: ThinkTags): StreamDecoder {
  const reader = new TagReader(tags);
  const converting = <T>(out: Part[], decode: () => T): T => {
    const from = out.length;
    try {
      return decode();
    } finally {
      reader.convert(out, from);
    }
  };
  // The rest, which gives no parts, is inherited.
  const converted: StreamDecoder = Object.create(decoder);
  const { pushKnown } = decoder;
  converted.push = (frame, out) => converting(out, () => decoder.push(frame, out));
  if (pushKnown) {
    converted.pushKnown = (bytes, out, withhold) => converting(out, () => pushKnown(bytes, out, withhold));
  }
  converted.end = (out) => converting(out, () => decoder.end(out));
  return converted;
}

/** A message of the assistant with its reasoning where the server wrote it. */
function withTags(message: unknown, { name }: ThinkTags): unknown {
  if (!isObject(message) || message.role !== "assistant") return message;
  const rest: Loose = {};
  let reasoning = "";
  for (const key of Object.keys(message)) {
    if (isTextField(key)) reasoning ||= string(message[key]) ?? "";
    else rest[key] = message[key];
  }
  if (reasoning === "") return message;
  const text = `<${name}>\n${reasoning}\n</${name}>\n\n`;
  const { content } = message;
  rest.content = Array.isArray(content)
    ? [{ type: "text", text }, ...content]
    : `${text}${string(content) ?? ""}`;
  return rest;
}
