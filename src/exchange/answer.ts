/**
 * A complete answer, built from its parts. Both streaming and non-streaming calls use it, so that the two
 * modes give the same answer.
 */
import type { FinishReason, Part, SearchHit, TokenLogprob } from "./part.ts";
import type { Loose } from "./json.ts";
import type { Proof } from "./proof.ts";
import type { Citation } from "./citation.ts";
import type { Extra, FormatName } from "./prompt.ts";
import type { Usage } from "./usage.ts";

export type Block =
  | {
    type: "text";
    text: string;
    refusal: boolean;
    citations: Citation[];
    logprobs?: TokenLogprob[];
    proof?: Proof;
    extra?: Extra;
  }
  | { type: "reasoning"; sections: string[]; kind: "text" | "summary"; proof?: Proof; extra?: Extra }
  | {
    type: "call";
    id: string;
    name: string;
    namespace?: string;
    kind: "function" | "custom";
    typed?: string;
    arguments: string;
    proof?: Proof;
    extra?: Extra;
  }
  | { type: "media"; mediaType: string; data: string; transcript?: string; proof?: Proof; extra?: Extra }
  | {
    type: "search";
    id: string;
    query: string;
    hits: SearchHit[];
    failed: boolean;
    extra?: Extra;
    resultExtra?: Extra;
  }
  | { type: "opaque"; format: FormatName; value: Loose };

export interface Choice {
  index: number;
  blocks: Block[];
  reason: FinishReason;
  sequence?: string;
  explanation?: string;
  extra?: Extra;
}

export interface Answer {
  /** The provider's name of the model. */
  model?: string;
  extra?: Extra;
  /** In order of index; at least one. */
  choices: Choice[];
  /** Null: the provider reported none. */
  usage: Usage | null;
  /** Number of executed web searches; undefined if search was not enabled. */
  searches?: number;
  /** The tier of service that the provider says it gave, in its own word. */
  service?: string;
  /** Fields of the provider's usage report other than the counts. */
  usageExtra?: Extra;
}

/** A block under construction: a single delta as it is, several as a list. */
interface Open {
  block: Block;
  pieces: string | string[];
}

/** Accumulates parts. {@link Collector.answer} is complete once every `finish` has been added. */
export class Collector {
  readonly answer: Answer = { choices: [], usage: null };
  readonly #open = new Map<number, Open>();

  add(parts: readonly Part[]): void {
    for (let i = 0; i < parts.length; i++) this.#add(parts[i]);
  }

  #choice(index: number): Choice {
    const { choices } = this.answer;
    for (let i = choices.length - 1; i >= 0; i--) if (choices[i].index === index) return choices[i];
    const choice: Choice = { index, blocks: [], reason: "stop" };
    const ordered = choices.length === 0 || choices[choices.length - 1].index < index;
    choices.push(choice);
    if (!ordered) choices.sort((a, b) => a.index - b.index);
    return choice;
  }

  #begin(number: number, choice: number, block: Block): void {
    this.#open.set(number, { block, pieces: "" });
    this.#choice(choice).blocks.push(block);
  }

  #piece(number: number, text: string): void {
    const open = this.#open.get(number);
    if (open === undefined) return;
    if (open.pieces === "") open.pieces = text;
    else if (typeof open.pieces === "string") open.pieces = [open.pieces, text];
    else open.pieces.push(text);
  }

  /** Joins the pieces of a block once, at its end: concatenating every delta would build a deep rope string. */
  #text(number: number): string {
    const open = this.#open.get(number);
    if (open === undefined) return "";
    const { pieces } = open;
    open.pieces = "";
    return typeof pieces === "string" ? pieces : pieces.join("");
  }

  #add(part: Part): void {
    switch (part.type) {
      case "start":
        this.answer.model = part.model;
        this.answer.extra = part.extra;
        return;
      case "text-start":
      case "reasoning-start":
      case "call-start":
      case "media":
      case "search-start":
      case "opaque":
        return this.#begin(part.block, part.choice, blockOf(part));
      case "sound-delta":
      case "live-start":
      case "live-delta":
      case "live-event":
        return;
      case "usage":
        this.answer.usage = part.usage;
        if (part.searches !== undefined) this.answer.searches = part.searches;
        if (part.service !== undefined) this.answer.service = part.service;
        if (part.extra) this.answer.usageExtra = part.extra;
        return;
      case "finish": {
        const choice = this.#choice(part.choice);
        choice.reason = part.reason;
        choice.sequence = part.sequence;
        choice.explanation = part.explanation;
        choice.extra = part.extra;
        return;
      }
      default:
        return this.#goOn(part);
    }
  }

  /** A part of a block that has started. */
  #goOn(part: Exclude<Part, { choice: number } | { type: "start" | "usage" }>): void {
    const block = this.#open.get(part.block)?.block;
    switch (part.type) {
      case "text-delta":
        this.#piece(part.block, part.text);
        if (part.logprobs && block?.type === "text") {
          const logprobs = block.logprobs ??= [];
          // No spread: the number of function arguments is limited.
          for (const token of part.logprobs) logprobs.push(token);
        }
        return;
      case "citation":
        if (block?.type === "text") block.citations.push(part.citation);
        return;
      case "text-end":
        if (block?.type !== "text") return;
        block.text = this.#text(part.block);
        block.proof = part.proof;
        return;
      case "reasoning-delta":
        if (part.text === "" || block?.type !== "reasoning") return;
        while (block.sections.length <= part.section) block.sections.push("");
        block.sections[part.section] += part.text;
        return;
      case "reasoning-end":
        if (block?.type !== "reasoning") return;
        block.proof = part.proof;
        if (part.extra) {
          block.extra = { ...part.extra, fields: { ...block.extra?.fields, ...part.extra.fields } };
        }
        return;
      case "call-delta":
        return this.#piece(part.block, part.text);
      case "call-end":
        if (block?.type === "call") block.arguments = this.#text(part.block);
        return;
      case "search-end":
        if (block?.type !== "search") return;
        block.hits = part.hits;
        block.failed = part.failed === true;
        block.resultExtra = part.extra;
    }
  }
}

/** The block that a part starts, without what arrives later. */
function blockOf(
  part: Exclude<Extract<Part, { block: number; choice: number }>, { type: "live-start" }>,
): Block {
  switch (part.type) {
    case "text-start":
      return { type: "text", text: "", refusal: part.refusal === true, citations: [], extra: part.extra };
    case "reasoning-start":
      return { type: "reasoning", sections: [], kind: part.kind, extra: part.extra };
    case "call-start": {
      const { id, name, namespace, kind, typed, proof, extra } = part;
      return {
        type: "call",
        id,
        name,
        namespace,
        kind,
        ...(typed !== undefined && { typed }),
        arguments: "",
        proof,
        extra,
      };
    }
    case "media": {
      const { mediaType, data, transcript, proof, extra } = part;
      return { type: "media", mediaType, data, transcript, proof, extra };
    }
    case "search-start":
      return { type: "search", id: part.id, query: part.query, hits: [], failed: false, extra: part.extra };
    case "opaque":
      return { type: "opaque", format: part.format, value: part.value };
  }
}

/** Builds an answer from parts. */
export function collect(parts: Iterable<Part>): Answer {
  const collector = new Collector();
  collector.add([...parts]);
  return collector.answer;
}
