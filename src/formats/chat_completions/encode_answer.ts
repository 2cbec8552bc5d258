/** Encodes a complete answer for a caller: the combination of the deltas of a stream. */
import { blockParts } from "../../exchange/block_parts.ts";
import type { Answer, Choice } from "../../exchange/answer.ts";
import { array, isObject, type Loose, object, string } from "../../exchange/json.ts";
import { extraOf } from "../../exchange/prompt.ts";
import type { EncodeAnswer } from "../format.ts";
import { type ChunkEnd, DeltaWriter } from "./encode_blocks.ts";
import { joinBase64 } from "../media.ts";
import { encodeUsage } from "./usage.ts";

export function encodeAnswer(answer: Answer, context: EncodeAnswer): Loose {
  const { dlp } = context;
  return {
    id: context.id,
    object: "chat.completion",
    created: context.created,
    model: context.model(),
    choices: answer.choices.map((choice) => encodeChoice(choice, context)),
    ...extraOf(answer.extra, "chat_completions"),
    ...lateFieldsOf(answer),
    ...(answer.usage && { usage: encodeUsage(answer.usage, answer.searches, answer.usageExtra) }),
    ...(dlp && { extra: { dlp: dlp.findings, findings_count: dlp.count } }),
  };
}

function encodeChoice(choice: Choice, context: EncodeAnswer): Loose {
  const writer = new DeltaWriter(context);
  const fold = new Fold();
  const emit = (_index: number, delta: Loose, end?: ChunkEnd) => fold.add(delta, end);
  choice.blocks.forEach((block, i) => {
    for (const part of blockParts(block, i, choice.index)) writer.write(part, emit);
  });
  const { reason, explanation, extra } = choice;
  writer.write({ type: "finish", choice: choice.index, reason, explanation, extra }, emit);
  const { answer: _, ...made } = fold.choice();
  return { index: choice.index, ...made };
}

/** Contained in the end of a choice, but belong to the whole answer. */
function lateFieldsOf({ choices }: Answer): Loose | undefined {
  for (const { extra } of choices) {
    const late = extraOf(extra, "chat_completions")?.answer;
    if (isObject(late)) return late;
  }
}

/** Combines deltas to a message, as clients do. */
class Fold {
  #content = "";
  #refusal = "";
  #finish: string | null = null;
  #extra: Loose | undefined;
  readonly #others: Loose = {};
  readonly #calls: Loose[] = [];
  readonly #logprobs: { content: unknown[]; refusal: unknown[] } = { content: [], refusal: [] };

  add(delta: Loose, end: ChunkEnd | undefined): void {
    for (const key of Object.keys(delta)) this.#field(key, delta[key]);
    const { content, refusal } = this.#logprobs;
    // No spread: the number of function arguments is limited.
    for (const token of array(end?.logprobs?.content)) content.push(token);
    for (const token of array(end?.logprobs?.refusal)) refusal.push(token);
    if (end?.finish_reason !== undefined) this.#finish = end.finish_reason;
    if (end?.extra) this.#extra = end.extra;
  }

  #field(key: string, value: unknown): void {
    const others = this.#others;
    switch (key) {
      case "content":
        this.#content += value;
        return;
      case "refusal":
        this.#refusal += value;
        return;
      case "reasoning":
      case "reasoning_content":
      case "reasoning_text":
        others[key] = `${string(others[key]) ?? ""}${value}`;
        return;
      case "images": {
        const images = this.#list(key);
        for (const image of array(value)) images.push(image);
        return;
      }
      case "annotations": {
        const annotations = this.#list(key);
        for (const { index: _, ...annotation } of value as Loose[]) annotations.push(annotation);
        return;
      }
      case "tool_calls":
        for (const call of value as Loose[]) this.#call(call);
        return;
      case "audio": {
        const now = object(others[key]);
        const more = object(value);
        const data = now.data === undefined ? more.data : joinBase64([String(now.data), String(more.data)]);
        others[key] = { ...now, ...more, data, transcript: `${now.transcript ?? ""}${more.transcript}` };
        return;
      }
      case "function_call": {
        const now = object(others[key]);
        const more = object(value);
        others[key] = { ...now, ...more, arguments: `${now.arguments ?? ""}${more.arguments}` };
        return;
      }
      default:
        others[key] = value;
    }
  }

  /** The array that a field appends to. */
  #list(key: string): unknown[] {
    return (this.#others[key] ??= []) as unknown[];
  }

  #call({ index, ...piece }: Loose): void {
    const call = this.#calls[index as number];
    if (!call) {
      this.#calls[index as number] = piece;
      return;
    }
    for (const [body, text] of [["function", "arguments"], ["custom", "input"]]) {
      if (!piece[body]) continue;
      const now = object(call[body]);
      call[body] = { ...now, [text]: `${now[text]}${object(piece[body])[text]}` };
    }
  }

  choice(): Loose {
    const others = this.#others;
    const calls = this.#calls;
    const silent = calls.length > 0 || others.function_call || others.audio || this.#refusal !== "";
    const { content, refusal } = this.#logprobs;
    return {
      message: {
        role: "assistant",
        content: this.#content === "" && silent ? null : this.#content,
        refusal: this.#refusal === "" ? null : this.#refusal,
        ...others,
        ...(calls.length > 0 && { tool_calls: calls }),
      },
      logprobs: content.length + refusal.length > 0
        ? { content: content.length > 0 ? content : null, refusal: refusal.length > 0 ? refusal : null }
        : null,
      finish_reason: this.#finish,
      ...this.#extra,
    };
  }
}
