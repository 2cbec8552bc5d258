/**
 * Encodes parts as chunks of a stream for a caller.
 *
 * Every choice starts with its role, which clients need. The last chunk before `[DONE]` contains usage,
 * whether requested or not. If requested (`stream_options.include_usage`), it is on a chunk without choices,
 * as in the API. Otherwise it is beside an empty delta, since most example code reads `choices[0]` of every
 * chunk.
 */
import type { Loose } from "../../exchange/json.ts";
import { object } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import type { Usage } from "../../exchange/usage.ts";
import { type Extra, extraOf } from "../../exchange/prompt.ts";
import { type EncodeAnswer, SHORT_TEXT, type StreamEncoder } from "../format.ts";
import { dataFrame, DONE } from "../sse.ts";
import { type ChunkEnd, DeltaWriter } from "./encode_blocks.ts";
import type { Failure } from "../../exchange/failure.ts";
import { encodeFailure } from "./failure.ts";
import { encodeUsage } from "./usage.ts";

const TEXT_END = '},"logprobs":null,"finish_reason":null}]}\n\n';
const encoder = new TextEncoder();
const TEXT_END_BYTES = encoder.encode(TEXT_END);

type TextDelta = Extract<Part, { type: "text-delta" }>;

export function encodeStream(context: EncodeAnswer): StreamEncoder {
  const asked = object(context.prompt.verbatim.stream_options).include_usage === true;
  const writer = new DeltaWriter(context);
  const opened = new Set<number>();
  /** Per choice: a text chunk without the text. */
  const heads: (string | undefined)[] = [undefined];
  /**
   * The same as bytes, for choices that have started. Initialized with one element: most answers have one
   * choice, and V8 would reserve 17.
   */
  const headBytes: (Uint8Array | undefined)[] = [undefined];
  let head = headOf(context, undefined);
  let usage: Usage | undefined;
  let usageExtra: Extra | undefined;
  let searches: number | undefined;
  let text = "";

  const headFor = (choice: number) =>
    heads[choice] ??= `${head}"choices":[{"index":${choice},"delta":{"content":`;
  const emit = (choice: number, delta: Loose, end?: ChunkEnd) => {
    open(choice);
    const wire: Loose = {
      index: choice,
      delta,
      logprobs: end?.logprobs ?? null,
      finish_reason: end?.finish_reason ?? null,
      ...end?.extra,
    };
    const { moderation } = wire;
    if (moderation !== undefined) delete wire.moderation;
    text += `${head}"choices":[${JSON.stringify(wire)}]}\n\n`;
    // Belongs to the whole answer.
    if (moderation !== undefined) {
      text += `${head}"choices":[],"moderation":${JSON.stringify(moderation)}}\n\n`;
    }
  };
  const open = (choice: number) => {
    if (opened.has(choice)) return;
    opened.add(choice);
    emit(choice, { role: "assistant", content: "", refusal: null });
  };

  return {
    encode(parts) {
      text = "";
      for (const part of parts) {
        if (part.type === "text-delta" && !part.logprobs) {
          const choice = writer.plainChoice(part.block, part.text.length);
          if (choice !== undefined) {
            if (part.text === "") continue;
            open(choice);
            text += headFor(choice) + JSON.stringify(part.text) + TEXT_END;
            continue;
          }
        }
        if (part.type === "usage") {
          usage = part.usage;
          usageExtra = part.extra ?? usageExtra;
          searches = part.searches ?? searches;
        } else if (part.type === "start") {
          const { prompt_filter_results, ...fields } = extraOf(part.extra, "chat_completions") ?? {};
          // Azure sends it once.
          head = headOf(context, prompt_filter_results ? { ...fields, prompt_filter_results } : fields);
          open(0);
          if (prompt_filter_results) head = headOf(context, fields);
        } else writer.write(part, emit);
      }
      // Not kept while the next parts are awaited.
      const encoded = text;
      text = "";
      return encoded;
    },
    encodeText(parts, out) {
      for (const part of parts) {
        if (
          part.type !== "text-delta" || part.logprobs || part.text === "" || part.text.length > SHORT_TEXT
        ) {
          return false;
        }
        const choice = writer.choiceOf(part.block);
        if (choice === undefined || !opened.has(choice)) return false;
      }
      for (const { block, text } of parts as TextDelta[]) {
        const choice = writer.plainChoice(block, text.length)!;
        out.addString(headBytes[choice] ??= encoder.encode(headFor(choice)), text, TEXT_END_BYTES);
      }
      return parts.length > 0;
    },
    end() {
      const { dlp } = context;
      if (!usage && !dlp) return DONE;
      const last = {
        ...base(context),
        choices: asked ? [] : [{ index: 0, delta: {}, logprobs: null, finish_reason: null }],
        ...(usage && { usage: encodeUsage(usage, searches, usageExtra) }),
        ...(dlp && { extra: { dlp: dlp.findings, findings_count: dlp.count } }),
      };
      return dataFrame(JSON.stringify(last)) + DONE;
    },
    fail(failure) {
      return encodeBreak(failure);
    },
  };
}

/** The output for a stream that cannot be continued. */
export function encodeBreak(failure: Failure): string {
  return dataFrame(JSON.stringify(encodeFailure(failure))) + DONE;
}

function base(context: EncodeAnswer): Loose {
  return {
    id: context.id,
    object: "chat.completion.chunk",
    created: context.created,
    model: context.model(),
  };
}

/** The beginning of a chunk, up to its choices. */
function headOf(context: EncodeAnswer, extra: Loose | undefined): string {
  return `data: ${JSON.stringify({ ...base(context), ...extra }).slice(0, -1)},`;
}
