/**
 * Encodes parts as the event stream of the responses format: named events numbered from 0, then `data:
 * [DONE]`.
 *
 * A failure is sent twice, as by OpenAI: an `error` event with the error's body, then `response.failed`. The
 * official SDK, and what is built on it, raises the first with its code and stops reading; the AI SDK reports
 * the first and takes only the usage of the second; clients that ignore `error` still get the end of the
 * lifecycle. In the reverse order @openai/agents raises `response.failed` without the code, and the AI SDK
 * reports one failure as two. Before anything was sent there is no response that could fail, and the official
 * stream helper rejects one that was never created, so only the `error` event is sent. It has the error's
 * fields twice: nested, as on the wire and in most clients, and at the top level, as in the official types.
 */
import type { Failure } from "../../exchange/failure.ts";
import { type Loose, object } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import type { EncodeAnswer, StreamEncoder, StreamPlace } from "../format.ts";
import { DONE } from "../wire/sse.ts";
import { encodeFailure } from "./failure.ts";
import { ResponseWriter } from "./encode_blocks.ts";

export function encodeStream(context: EncodeAnswer): StreamEncoder {
  return new ResponsesStreamEncoder(context);
}

class ResponsesStreamEncoder implements StreamEncoder {
  #out = "";
  #sequence = 0;
  readonly #writer: ResponseWriter;

  constructor(context: EncodeAnswer) {
    this.#writer = new ResponseWriter(context, (type, fields) => this.#event(type, fields));
  }

  encode(parts: readonly Part[]): string {
    for (const part of parts) this.#writer.write(part);
    return this.#take();
  }

  end(): string {
    this.#writer.finish();
    return this.#take() + DONE;
  }

  fail(failure: Failure): string {
    this.#writer.settle();
    this.#out += errorEvent(failure, this.#sequence++);
    const { code, message } = failure;
    if (this.#writer.started) this.#writer.fail({ code, message });
    return this.#take() + DONE;
  }

  #event(type: string, fields: string): void {
    this.#out += numbered(type, this.#sequence++, fields);
  }

  #take(): string {
    const out = this.#out;
    this.#out = "";
    return out;
  }
}

export function encodeBreak(failure: Failure, { sequence }: StreamPlace): string {
  return errorEvent(failure, sequence) + DONE;
}

function errorEvent(failure: Failure, sequence: number): string {
  const error = { param: null, ...object(encodeFailure(failure).error) };
  const { code, message, param } = error as Loose;
  return numbered("error", sequence, JSON.stringify({ code, message, param, error }).slice(1));
}

/** @param fields JSON of an object without its opening brace */
function numbered(type: string, sequence: number, fields: string): string {
  return `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence},${fields}\n\n`;
}
