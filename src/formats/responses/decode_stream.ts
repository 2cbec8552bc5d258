/**
 * Decodes a provider's event stream in the responses format.
 *
 * Items are identified by `output_index`, if given and unique: they interleave, and some providers change ids
 * with every event. Deltas may be missing or incomplete; each `.done` event contains the complete item, and
 * what was not streamed is sent then. Providers disagree on the first content index, so the contents of a
 * complete item are matched to the streamed ones by order.
 */
import { array, isObject, type Loose, object, string, unread } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { count } from "../../exchange/usage.ts";
import { argumentText, brokenAnswer, decodeLateFailure } from "../failures/decode_failure.ts";
import type { Frame, StreamDecoder } from "../format.ts";
import { frameValue } from "../wire/frame_value.ts";
import { ItemReader } from "./decode_blocks.ts";
import { finishParts, modelOf, reportOf } from "./finish.ts";
import { Places } from "./places.ts";

export function decodeStream(): StreamDecoder {
  return new ResponsesStream();
}

class ResponsesStream implements StreamDecoder {
  #started = false;
  #finished = false;
  #out: Part[] = [];
  readonly #places = new Places();
  readonly #items = new ItemReader((part) => this.#out.push(part));

  get marked(): boolean {
    return this.#finished;
  }

  push(frame: Frame, out: Part[]): void {
    if (this.#finished || frame.data.startsWith("[DONE]") || frame.data === "") return;
    const event = frameValue(frame);
    if (frame.event === "error") throw decodeLateFailure(event ?? frame.data);
    if (event === undefined) throw brokenAnswer(`a frame of its stream ${unread(frame.data)}`);
    if (!isObject(event)) throw brokenAnswer("a frame of its stream is not a JSON object");
    this.#out = out;
    const type = string(event.type) ?? frame.event;
    if (type === "error" || event.error) throw decodeLateFailure(event);
    if (type === "response.failed" || type === "response.cancelled") throw decodeLateFailure(event);
    if (!this.#started) this.#start(object(event.response));
    this.#read(type, event);
  }

  end(_out: Part[]): void {
    if (!this.#finished) throw brokenAnswer("the stream ended before the response was completed");
  }

  #start(response: Loose): void {
    this.#started = true;
    const extra = reportOf(response);
    this.#out.push({ type: "start", ...modelOf(response), ...(extra && { extra }) });
  }

  #read(type: string, event: Loose): void {
    const items = this.#items;
    this.#places.set(event, type);
    switch (type) {
      case "response.output_text.delta":
        return items.textDelta(event, "output_text");
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return items.callDelta(event);
      case "response.reasoning_summary_text.delta":
        return items.reasoningDelta(event, "summary");
      case "response.reasoning_text.delta":
      case "response.reasoning.delta":
        return items.reasoningDelta(event, "text");
      case "response.refusal.delta":
        return items.textDelta(event, "refusal");
      case "response.output_item.added":
        return items.announced(indexOf(event), object(event.item));
      case "response.output_item.done":
        return items.done(indexOf(event), object(event.item));
      case "response.content_part.added":
      case "response.reasoning_part.added":
        return items.partAdded(event, object(event.part));
      case "response.content_part.done":
        return items.partDone(event, object(event.part));
      case "response.output_text.done":
        return items.textDone(event, string(event.text), "output_text");
      case "response.refusal.done":
        return items.textDone(event, string(event.refusal), "refusal");
      case "response.output_text.annotation.added":
        return items.annotation(event);
      case "response.function_call_arguments.done":
        return items.callDone(event, argumentText(event.arguments));
      case "response.custom_tool_call_input.done":
        return items.callDone(event, string(event.input));
      case "response.reasoning_summary_text.done":
        return items.reasoningDone(event, "summary");
      case "response.reasoning_text.done":
      case "response.reasoning.done":
        return items.reasoningDone(event, "text");
      case "response.completed":
      case "response.incomplete":
        return this.#finish(object(event.response), type);
      default:
        return items.live(type, event);
    }
  }

  #finish(response: Loose, type: string): void {
    this.#finished = true;
    // A provider that streams no items puts them here; otherwise this is a repetition.
    if (!this.#items.any) this.#items.whole(array(response.output));
    else this.#items.late(array(response.output));
    this.#items.close();
    finishParts(response, type === "response.incomplete", this.#items, this.#out);
  }
}

function indexOf(event: Loose): number {
  return count(event.output_index);
}
