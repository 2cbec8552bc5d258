/**
 * Converts parts to deltas of this API's messages, which are streamed, or combined to a complete answer.
 * Sharing the code keeps both modes consistent.
 */
import type { Loose } from "../../exchange/json.ts";
import type { FinishReason, Part, TokenLogprob } from "../../exchange/part.ts";
import { extraOf, type Prompt } from "../../exchange/prompt.ts";
import type { Proof } from "../../exchange/proof.ts";
import type { EncodeAnswer } from "../format.ts";
import { annotationOf, citationOf } from "./encode_citations.ts";
import { encodeCallProofs, type PlacedProof } from "./call_proofs.ts";
import { encodeDetails, textFields } from "./encode_reasoning.ts";
import { encodeFinish } from "./finish.ts";
import { encodeLogprob } from "./logprobs.ts";
import { dataUrl } from "../media.ts";
import { encodeSound, encodeSoundPiece, type SentSound } from "./encode_sound.ts";
import { OneByOne } from "./one_by_one.ts";
import { readReplay, type ReasoningField } from "./reasoning.ts";

/** Fields of a chunk's choice other than its delta. */
export interface ChunkEnd {
  logprobs?: Loose;
  finish_reason?: string;
  extra?: Loose;
}

/** @param choice index of the choice */
type EmitDelta = (choice: number, delta: Loose, end?: ChunkEnd) => void;

interface OpenChoice {
  /** Length of `content` so far: citations refer to positions in it. */
  chars: number;
  calls: number;
  refused: boolean;
  reasoned: boolean;
  /** Citations of the text. */
  citations: Loose[];
  /** URLs of search results, without duplicates. They refer to the whole answer. */
  sources: Set<string>;
  /** Number of annotations sent. */
  annotated: number;
  /** `reasoning_details` so far. */
  details: Loose[];
  /** Length of the reasoning text so far. */
  shown: number;
  /** Proofs not yet attached to a tool call. */
  unsent: PlacedProof[];
  /** How the audio so far was sent. */
  sound: SentSound;
}

type OpenBlock =
  | { type: "text"; choice: number; refusal: boolean; base: number }
  | {
    type: "reasoning";
    choice: number;
    kind: "text" | "summary";
    /** The reasoning is from a provider of this API, which determines the fields. */
    own: boolean;
    field: ReasoningField | undefined;
    /** The texts are also collected for `reasoning_details`. */
    listed: boolean;
    section: number;
    spoken: boolean;
    /** Start of its text in the text of all reasoning. */
    from: number;
    to: number;
    sections: string[][];
  }
  | { type: "call"; choice: number; index: number; custom: boolean; written: boolean }
  | { type: "search"; choice: number };

const NOWHERE = { from: 0, to: 0 };

/** A proof that consists only of the name of a field which clients return anyway need not be sent. */
function needsCarrying(proof: Proof): boolean {
  const replay = readReplay(proof);
  return replay === undefined ||
    [replay.details, replay.blocks, replay.summary, replay.fields].some((one) => one !== undefined);
}

export class DeltaWriter {
  readonly #context: EncodeAnswer;
  readonly #legacy: boolean;
  readonly #choices = new Map<number, OpenChoice>();
  readonly #blocks = new Map<number, OpenBlock>();
  readonly #order = new OneByOne();

  constructor(context: EncodeAnswer) {
    this.#context = context;
    this.#legacy = speaksLegacy(context.prompt);
  }

  /** The choice whose `content` a delta of this block extends; undefined if it is not plain text. */
  plainChoice(block: number, chars: number): number | undefined {
    const choice = this.choiceOf(block);
    if (choice !== undefined) this.#choices.get(choice)!.chars += chars;
    return choice;
  }

  /** The same for a delta that is not written yet. */
  choiceOf(block: number): number | undefined {
    const open = this.#blocks.get(block);
    return open?.type !== "text" || open.refusal ? undefined : open.choice;
  }

  write(part: Part, emit: EmitDelta): void {
    if (!("block" in part)) return this.#write(part, emit);
    if (this.#order.holds(part)) return;
    this.#write(part, emit);
    for (const next of this.#order.after(part)) this.#write(next, emit);
  }

  #write(part: Part, emit: EmitDelta): void {
    switch (part.type) {
      case "text-start":
        this.#blocks.set(part.block, {
          type: "text",
          choice: part.choice,
          refusal: part.refusal === true,
          base: this.#choice(part.choice).chars,
        });
        return;
      case "text-delta": {
        const open = this.#blocks.get(part.block);
        if (open?.type === "text") this.#text(open, part.text, part.logprobs, emit);
        return;
      }
      case "citation": {
        const open = this.#blocks.get(part.block);
        if (open?.type !== "text") return;
        const annotation = citationOf(part.citation, open.base);
        if (annotation) this.#choice(open.choice).citations.push(annotation);
        return;
      }
      case "text-end": {
        const open = this.#blocks.get(part.block);
        this.#blocks.delete(part.block);
        if (open && part.proof) this.#proof(open.choice, part.proof, "text", [], emit);
        return;
      }
      case "reasoning-start":
        return this.#startReasoning(part);
      case "reasoning-delta": {
        const open = this.#blocks.get(part.block);
        if (open?.type === "reasoning" && part.text !== "") this.#reason(open, part.section, part.text, emit);
        return;
      }
      case "reasoning-end": {
        const open = this.#blocks.get(part.block);
        this.#blocks.delete(part.block);
        if (open?.type === "reasoning" && part.proof) {
          const sections = open.sections.map((pieces) => pieces.join(""));
          this.#proof(open.choice, part.proof, open.kind, sections, emit, open);
        }
        return;
      }
      case "call-start":
        return this.#startCall(part, emit);
      case "call-delta": {
        const open = this.#blocks.get(part.block);
        if (open?.type !== "call" || part.text === "") return;
        open.written = true;
        this.#callText(open, part.text, emit);
        return;
      }
      case "call-end": {
        const open = this.#blocks.get(part.block);
        this.#blocks.delete(part.block);
        // Clients parse the arguments, and "" is not valid JSON.
        if (open?.type === "call" && !open.custom && !open.written) this.#callText(open, "{}", emit);
        return;
      }
      case "sound-delta": {
        const choice = this.#choice(part.choice);
        return emit(part.choice, { audio: encodeSoundPiece(part, choice, this.#context) });
      }
      case "media":
        return this.#media(part, emit);
      case "search-start":
        this.#blocks.set(part.block, { type: "search", choice: part.choice });
        return;
      case "search-end": {
        const open = this.#blocks.get(part.block);
        this.#blocks.delete(part.block);
        if (open && !part.failed) {
          const { sources } = this.#choice(open.choice);
          const found = part.hits.filter(({ url }) => !sources.has(url) && sources.add(url));
          this.#annotate(open.choice, found.map(({ url, title }) => annotationOf(url, title, 0, 0)), emit);
        }
        return;
      }
      case "opaque":
        // Fields of the message.
        if (part.format === "chat_completions") emit(part.choice, part.value);
        return;
      case "finish":
        return this.#finish(part, emit);
    }
  }

  #choice(index: number): OpenChoice {
    let choice = this.#choices.get(index);
    if (!choice) {
      choice = {
        chars: 0,
        calls: 0,
        refused: false,
        reasoned: false,
        citations: [],
        sources: new Set(),
        annotated: 0,
        details: [],
        shown: 0,
        unsent: [],
        sound: null,
      };
      this.#choices.set(index, choice);
    }
    return choice;
  }

  #text(
    open: OpenBlock & { type: "text" },
    text: string,
    logprobs: readonly TokenLogprob[] | undefined,
    emit: EmitDelta,
  ): void {
    const choice = this.#choice(open.choice);
    const probs = logprobs?.map(encodeLogprob);
    if (open.refusal) {
      choice.refused = true;
      return emit(open.choice, { refusal: text }, probs && { logprobs: { content: null, refusal: probs } });
    }
    choice.chars += text.length;
    emit(open.choice, { content: text }, probs && { logprobs: { content: probs, refusal: null } });
  }

  #startReasoning(part: Part & { type: "reasoning-start" }): void {
    const own = extraOf(part.extra, "chat_completions");
    this.#blocks.set(part.block, {
      type: "reasoning",
      choice: part.choice,
      kind: part.kind,
      own: own !== undefined,
      field: own?.field as ReasoningField | undefined,
      listed: own === undefined || own.details === true,
      section: 0,
      spoken: false,
      from: 0,
      to: 0,
      sections: [],
    });
  }

  #reason(open: OpenBlock & { type: "reasoning" }, section: number, words: string, emit: EmitDelta): void {
    const choice = this.#choice(open.choice);
    // A provider of this API with a single text field writes its own paragraph breaks; entries of a list are
    // paragraphs.
    const running = open.own && open.field !== undefined;
    const apart = !running && (open.spoken ? section !== open.section : choice.reasoned);
    const text = apart ? `\n\n${words}` : words;
    open.section = section;
    if (!open.spoken) open.from = choice.shown + text.length - words.length;
    open.spoken = true;
    choice.reasoned = true;
    choice.shown += text.length;
    open.to = choice.shown;
    if (open.listed) {
      while (open.sections.length <= section) open.sections.push([]);
      open.sections[section].push(words);
    }
    const delta: Loose = {};
    for (const name of textFields(open.field)) delta[name] = text;
    emit(open.choice, delta);
  }

  #proof(
    index: number,
    proof: Proof,
    kind: "text" | "summary",
    sections: readonly string[],
    emit: EmitDelta,
    { from, to } = NOWHERE,
  ): void {
    const { details, unsent } = this.#choice(index);
    if (needsCarrying(proof)) unsent.push({ proof, from, to });
    const slot = details.length === 0 ? 0 : (details.at(-1)!.index as number) + 1;
    const added = encodeDetails(proof, kind, sections, slot, this.#context.seal);
    details.push(...added.details);
    if (added.fields) emit(index, added.fields);
  }

  #startCall(part: Part & { type: "call-start" }, emit: EmitDelta): void {
    const choice = this.#choice(part.choice);
    const replay = readReplay(part.proof);
    if (part.proof && !replay) this.#proof(part.choice, part.proof, "text", [], emit);
    const index = choice.calls++;
    const custom = part.kind === "custom";
    this.#blocks.set(part.block, { type: "call", choice: part.choice, index, custom, written: false });
    if (this.#legacy) {
      // The older form supports one call, and the request asked for no more.
      if (index === 0) emit(part.choice, { function_call: { name: part.name, arguments: "" } });
      return;
    }
    const body = custom
      ? { type: "custom", custom: { name: part.name, input: "" } }
      : { type: "function", function: { name: part.name, arguments: "" } };
    const proofs = replay?.fields === undefined && choice.unsent.length > 0
      ? encodeCallProofs(choice.unsent.splice(0), this.#context.seal)
      : undefined;
    const own = extraOf(part.extra, "chat_completions");
    emit(part.choice, {
      tool_calls: [{ index, id: part.id, ...body, ...own, ...replay?.fields, ...proofs }],
    });
  }

  #callText(open: OpenBlock & { type: "call" }, text: string, emit: EmitDelta): void {
    if (this.#legacy) {
      if (open.index === 0) emit(open.choice, { function_call: { arguments: text } });
      return;
    }
    const body = open.custom ? { custom: { input: text } } : { function: { arguments: text } };
    emit(open.choice, { tool_calls: [{ index: open.index, ...body }] });
  }

  #media(part: Part & { type: "media" }, emit: EmitDelta): void {
    const choice = this.#choice(part.choice);
    if (part.mediaType.startsWith("audio/")) {
      emit(part.choice, { audio: encodeSound(part, choice, this.#context) });
    } else {
      const url = dataUrl(part.mediaType, part.data);
      emit(part.choice, { images: [{ type: "image_url", image_url: { url } }] });
    }
    if (part.proof) this.#proof(part.choice, part.proof, "text", [], emit);
  }

  /**
   * Sources are sent when found. The official Python client, which merges arrays, fails on a second array
   * whose entries have no index.
   */
  #annotate(index: number, annotations: readonly Loose[], emit: EmitDelta): void {
    if (annotations.length === 0) return;
    const choice = this.#choice(index);
    const from = choice.annotated;
    choice.annotated += annotations.length;
    emit(index, {
      annotations: from === 0 ? annotations : annotations.map((a, i) => ({ index: from + i, ...a })),
    });
  }

  /** Details are sent once, complete: the official client keeps only the last delta of an unknown field. */
  #finish(part: Part & { type: "finish" }, emit: EmitDelta): void {
    const choice = this.#choice(part.choice);
    if (choice.details.length > 0) emit(part.choice, { reasoning_details: choice.details });
    this.#annotate(part.choice, choice.citations, emit);
    if (part.explanation !== undefined && part.explanation !== "" && !choice.refused) {
      choice.refused = true;
      emit(part.choice, { refusal: part.explanation });
    }
    emit(part.choice, {}, {
      finish_reason: encodeReason(part.reason, part.explanation !== undefined, choice.refused, this.#legacy),
      extra: extraOf(part.extra, "chat_completions"),
    });
  }
}

/** An explanation comes from a guard, so the answer counts as withheld even if a refusal text is shown. */
function encodeReason(reason: FinishReason, explained: boolean, refused: boolean, legacy: boolean): string {
  return encodeFinish(reason, refused && !explained, legacy);
}

/** Whether the caller uses the older `functions` form. */
function speaksLegacy(prompt: Prompt): boolean {
  return prompt.format === "chat_completions" && prompt.verbatim.functions !== undefined;
}
