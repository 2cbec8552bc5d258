/**
 * A finished answer: the fold of its parts. Both modes of a call go through here, so that a streamed answer and a whole
 * one cannot drift apart.
 */
import type { FinishReason, Part, SearchHit, TokenLogprob } from "./part.ts";
import type { Loose } from "./json.ts";
import type { Proof } from "./proof.ts";
import type { Citation, Extra, FormatName } from "./prompt.ts";
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
  /** As the provider names it. */
  model?: string;
  extra?: Extra;
  /** In order of index; at least one. */
  choices: Choice[];
  /** Null: the provider reported none. */
  usage: Usage | null;
  /** Executed web searches; undefined when search was not in play. */
  searches?: number;
  /** What the provider's report of its usage holds beside the counts. */
  usageExtra?: Extra;
}

/** Adds parts to an answer being built. {@link Collector.answer} is complete once every `finish` has come. */
export class Collector {
  readonly answer: Answer = { choices: [], usage: null };
  readonly #blocks = new Map<number, Block>();
  readonly #pieces = new Map<number, string[]>();
  readonly #choices = new Map<number, Choice>();

  add(parts: readonly Part[]): void {
    for (const part of parts) this.#add(part);
  }

  #choice(index: number): Choice {
    let found = this.#choices.get(index);
    if (!found) {
      const { choices } = this.answer;
      found = { index, blocks: [], reason: "stop" };
      this.#choices.set(index, found);
      const ordered = choices.length === 0 || choices[choices.length - 1].index < index;
      choices.push(found);
      if (!ordered) choices.sort((a, b) => a.index - b.index);
    }
    return found;
  }

  #open(number: number, choice: number, block: Block): void {
    this.#blocks.set(number, block);
    this.#choice(choice).blocks.push(block);
  }

  /** Joins a block's pieces once, at its end: adding to a string at every delta would keep them all as a rope. */
  #close(number: number): string {
    const pieces = this.#pieces.get(number);
    this.#pieces.delete(number);
    return pieces ? pieces.join("") : "";
  }

  #piece(number: number, text: string): void {
    const pieces = this.#pieces.get(number);
    if (pieces) pieces.push(text);
    else this.#pieces.set(number, [text]);
  }

  #add(part: Part): void {
    switch (part.type) {
      case "start":
        this.answer.model = part.model;
        this.answer.extra = part.extra;
        return;
      case "text-start":
        return this.#open(part.block, part.choice, {
          type: "text",
          text: "",
          refusal: part.refusal === true,
          citations: [],
          extra: part.extra,
        });
      case "text-delta": {
        this.#piece(part.block, part.text);
        const block = this.#blocks.get(part.block);
        if (part.logprobs && block?.type === "text") (block.logprobs ??= []).push(...part.logprobs);
        return;
      }
      case "citation": {
        const block = this.#blocks.get(part.block);
        if (block?.type === "text") block.citations.push(part.citation);
        return;
      }
      case "text-end": {
        const block = this.#blocks.get(part.block);
        if (block?.type !== "text") return;
        block.text = this.#close(part.block);
        block.proof = part.proof;
        return;
      }
      case "reasoning-start":
        return this.#open(part.block, part.choice, {
          type: "reasoning",
          sections: [],
          kind: part.kind,
          extra: part.extra,
        });
      case "reasoning-delta": {
        const block = this.#blocks.get(part.block);
        if (block?.type !== "reasoning") return;
        while (block.sections.length <= part.section) block.sections.push("");
        block.sections[part.section] += part.text;
        return;
      }
      case "reasoning-end": {
        const block = this.#blocks.get(part.block);
        if (block?.type === "reasoning") block.proof = part.proof;
        return;
      }
      case "call-start":
        return this.#open(part.block, part.choice, {
          type: "call",
          id: part.id,
          name: part.name,
          namespace: part.namespace,
          kind: part.kind,
          arguments: "",
          proof: part.proof,
          extra: part.extra,
        });
      case "call-delta":
        return this.#piece(part.block, part.text);
      case "call-end": {
        const block = this.#blocks.get(part.block);
        if (block?.type === "call") block.arguments = this.#close(part.block);
        return;
      }
      case "media":
        return this.#open(part.block, part.choice, {
          type: "media",
          mediaType: part.mediaType,
          data: part.data,
          transcript: part.transcript,
          proof: part.proof,
          extra: part.extra,
        });
      case "search-start":
        return this.#open(part.block, part.choice, {
          type: "search",
          id: part.id,
          query: part.query,
          hits: [],
          failed: false,
          extra: part.extra,
        });
      case "search-end": {
        const block = this.#blocks.get(part.block);
        if (block?.type !== "search") return;
        block.hits = part.hits;
        block.failed = part.failed === true;
        block.resultExtra = part.extra;
        return;
      }
      case "opaque":
        return this.#open(part.block, part.choice, {
          type: "opaque",
          format: part.format,
          value: part.value,
        });
      case "usage":
        this.answer.usage = part.usage;
        if (part.searches !== undefined) this.answer.searches = part.searches;
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
    }
  }
}

/** The answer that some parts make. */
export function collect(parts: Iterable<Part>): Answer {
  const collector = new Collector();
  collector.add([...parts]);
  return collector.answer;
}
