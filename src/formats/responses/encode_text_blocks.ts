/**
 * Encodes texts and refusals as contents of message items. Neighbours share a message, so it is complete only
 * when another item starts or the answer ends; texts that interleave with other items keep their message open
 * until they end.
 */
import { type Loose, object } from "../../exchange/json.ts";
import type { TokenLogprob } from "../../exchange/part.ts";
import type { Citation } from "../../exchange/citation.ts";
import { type Extra, extraOf } from "../../exchange/prompt.ts";
import { encodeCitation } from "./citations.ts";
import { encodeLogprobs } from "./logprobs.ts";
import { type OutputList, place } from "./encode_items.ts";

interface Message {
  index: number;
  id: string;
  phase: unknown;
  /** Fields of the provider's item. */
  fields: Loose;
  content: Loose[];
  /** Number of parts that have not ended. */
  open: number;
  /** Another item has started: complete as soon as no part is open. */
  left: boolean;
}

interface Text {
  message: Message;
  content: number;
  refusal: boolean;
  /** Fields of the provider's part. */
  own: Loose;
  pieces: string[];
  annotations: Loose[];
  logprobs: TokenLogprob[];
  deltaType: string;
  deltaHead: string;
}

export class MessageWriter {
  /** Whether any of the texts is a refusal. */
  refused = false;
  #message: Message | null = null;
  readonly #texts = new Map<number, Text>();

  constructor(private readonly list: OutputList) {}

  start(block: number, refusal: boolean, extra: Extra | undefined): void {
    const fields = extraOf(extra, "responses");
    const message = this.#messageFor(fields);
    const own = object(fields?.part);
    const part = { ...own, ...(refusal ? { type: "refusal", refusal: "" } : textPart("", [], [])) };
    const content = message.content.push(part) - 1;
    message.open++;
    const head = `${place(message.id, message.index)},"content_index":${content},`;
    this.list.emit?.("response.content_part.added", `${head}"part":${JSON.stringify(part)}}`);
    if (refusal) this.refused = true;
    this.#texts.set(block, {
      message,
      content,
      refusal,
      own,
      pieces: [],
      annotations: [],
      logprobs: [],
      deltaType: refusal ? "response.refusal.delta" : "response.output_text.delta",
      deltaHead: `${head}"delta":`,
    });
  }

  delta(block: number, text: string, logprobs: TokenLogprob[] | undefined): void {
    const state = this.#texts.get(block);
    if (!state) return;
    state.pieces.push(text);
    let end = state.refusal ? "}" : `,"logprobs":[]}`;
    if (logprobs && !state.refusal) {
      for (const l of logprobs) state.logprobs.push(l);
      end = `,"logprobs":${JSON.stringify(encodeLogprobs(logprobs))}}`;
    }
    this.list.emit?.(state.deltaType, state.deltaHead + JSON.stringify(text) + end);
  }

  cite(block: number, citation: Citation): void {
    const state = this.#texts.get(block);
    if (!state || state.refusal) return;
    const annotation = encodeCitation(citation);
    if (annotation === undefined) return;
    const index = state.annotations.push(annotation) - 1;
    const { message, content } = state;
    this.list.emit?.(
      "response.output_text.annotation.added",
      `${place(message.id, message.index)},"content_index":${content},"annotation_index":${index},` +
        `"annotation":${JSON.stringify(annotation)}}`,
    );
  }

  /** False: no such text. */
  end(block: number): boolean {
    const state = this.#texts.get(block);
    if (!state) return false;
    this.#texts.delete(block);
    const { message, content, refusal } = state;
    const text = state.pieces.join("");
    const head = `${place(message.id, message.index)},"content_index":${content},`;
    const logprobs = encodeLogprobs(state.logprobs);
    const part = refusal ? { type: "refusal", refusal: text } : textPart(text, state.annotations, logprobs);
    message.content[content] = { ...state.own, ...part };
    if (this.list.emit) {
      // Serialized once, since a text may be long.
      const json = JSON.stringify(text);
      let part = Object.keys(state.own).length > 0 ? `${JSON.stringify(state.own).slice(0, -1)},` : "{";
      if (refusal) {
        part += `"type":"refusal","refusal":${json}}`;
        this.list.emit("response.refusal.done", `${head}"refusal":${json}}`);
      } else {
        const logs = JSON.stringify(logprobs);
        part += `"type":"output_text","text":${json},"annotations":${
          JSON.stringify(state.annotations)
        },"logprobs":${logs}}`;
        this.list.emit("response.output_text.done", `${head}"text":${json},"logprobs":${logs}}`);
      }
      this.list.emit("response.content_part.done", `${head}"part":${part}}`);
    }
    message.open--;
    if (message.left && message.open === 0) this.#done(message, "completed");
    return true;
  }

  /** A text that arrives complete. */
  say(text: string, refusal: boolean): void {
    this.start(-1, refusal, undefined);
    this.delta(-1, text, undefined);
    this.end(-1);
  }

  /** Another item starts. */
  leave(): void {
    const message = this.#message;
    this.#message = null;
    if (!message) return;
    message.left = true;
    if (message.open === 0) this.#done(message, "completed");
  }

  /** Ends open texts, in order of their starts. */
  endAll(): void {
    for (const block of [...this.#texts.keys()]) this.end(block);
  }

  /** Ends the last message. One truncated by the end of the answer is `incomplete`. */
  close(status: "completed" | "incomplete"): void {
    if (this.#message) this.#done(this.#message, status);
    this.#message = null;
  }

  #messageFor(fields: Loose | undefined): Message {
    const last = this.#message;
    const { id: given, part: _, ...others } = fields ?? {};
    const { phase } = others;
    if (last && last.phase === phase && (given === undefined || given === last.id)) return last;
    this.leave();
    const id = this.list.id("msg", given);
    const message: Message = { index: 0, id, phase, fields: others, content: [], open: 0, left: false };
    message.index = this.list.add(messageItem(message, "in_progress", []));
    this.#message = message;
    return message;
  }

  #done(message: Message, status: string): void {
    this.list.done(message.index, messageItem(message, status, message.content));
  }
}

function messageItem(message: Message, status: string, content: Loose[]): Loose {
  return { ...message.fields, id: message.id, type: "message", status, role: "assistant", content };
}

function textPart(text: string, annotations: Loose[], logprobs: Loose[]): Loose {
  return { type: "output_text", text, annotations, logprobs };
}
