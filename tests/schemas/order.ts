/** Whether the frames of a stream come in an order that its format allows. */
import { array, type Loose, object } from "../../src/exchange/json.ts";
import { checkStream as checkResponses, type WireEvent } from "../formats/responses/support.ts";
import type { Caller } from "../support/scenarios.ts";
import { eventsOf } from "./check.ts";

function need(truth: unknown, what: string): void {
  if (!truth) throw new Error(`illegal stream: ${what}`);
}

/** @param good the answer ended well */
export function checkOrder(caller: Caller, sse: string, good: boolean): void {
  const events = eventsOf(sse);
  need(sse.endsWith("data: [DONE]\n\n") === (caller !== "messages"), "[DONE] at its end");
  switch (caller) {
    case "chat_completions":
      return checkChat(events, good);
    case "messages":
      return checkMessages(events, good);
    case "responses": {
      checkResponses(events);
      const last = events.at(-1)?.name;
      need(
        good === (last === "response.completed" || last === "response.incomplete"),
        `it ends with ${last}`,
      );
    }
  }
}

function checkChat(events: readonly WireEvent[], good: boolean): void {
  const open = new Set<unknown>();
  const ended = new Set<unknown>();
  for (const [i, { name, data }] of events.entries()) {
    need(name === "", "an event with a name");
    if (data.error) {
      need(!good && i === events.length - 1, "an error that is not the last frame");
      return;
    }
    for (const choice of array(data.choices).map(object)) {
      const delta = object(choice.delta);
      need(open.has(choice.index) !== ("role" in delta), "the role comes first, and once");
      need(!ended.has(choice.index) || Object.keys(delta).length === 0, "nothing follows a finish");
      open.add(choice.index);
      if (choice.finish_reason !== null) ended.add(choice.index);
    }
    need(data.usage === undefined || data.usage === null || i === events.length - 1, "usage is last");
  }
  need(good && open.size > 0 && open.size === ended.size, "every choice ends");
}

function checkMessages(events: readonly WireEvent[], good: boolean): void {
  let state: "new" | "between" | "block" | "ending" | "ended" = "new";
  let index = -1;
  let kind: unknown;
  for (const { name, data } of events) {
    need(name === data.type, `type of ${name}`);
    need(state !== "ended", `${name} behind the end`);
    switch (name) {
      case "message_start":
        need(state === "new", "a second message_start");
        state = "between";
        break;
      case "content_block_start":
        need(state === "between" && data.index === ++index, `start of block ${data.index}`);
        kind = object(data.content_block).type;
        state = "block";
        break;
      case "content_block_delta":
        need(state === "block" && data.index === index, `delta of block ${data.index}`);
        need(
          DELTAS[String((data.delta as Loose).type)]?.includes(String(kind)),
          `a delta in a block of ${kind}`,
        );
        break;
      case "content_block_stop":
        need(state === "block" && data.index === index, `stop of block ${data.index}`);
        state = "between";
        break;
      case "message_delta":
        need(state === "between", "message_delta in a block");
        state = "ending";
        break;
      case "message_stop":
        need(state === "ending" && good, "message_stop out of place");
        state = "ended";
        break;
      case "error":
        need(!good, "an error in a good answer");
        state = "ended";
        break;
      default:
        need(false, name);
    }
  }
  need(state === "ended", "no end");
}

const DELTAS: Readonly<Record<string, readonly string[]>> = {
  text_delta: ["text"],
  citations_delta: ["text"],
  thinking_delta: ["thinking"],
  signature_delta: ["thinking"],
  input_json_delta: ["tool_use", "server_tool_use"],
};
