/** Behaviour of providers that is described and not among the recordings, written afresh with values of our own. */
import type { Recording } from "../support/recordings.ts";
import {
  chunk,
  data,
  gemini,
  message,
  messageEnd,
  messageEvents,
  messageStart,
  messageText,
  named,
  opened,
  recording,
  response,
  USAGE,
} from "./described_frames.ts";

let changing = 0;

export const DESCRIBED: readonly Recording[] = [
  recording("chat: content is an object in JSON mode, no usage", "openai-chat", {
    response: {
      id: "c1",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{
        index: 0,
        finish_reason: "stop",
        message: { role: "assistant", content: { name: "Rex", age: 3 } },
      }],
    },
  }),
  recording("chat: a choice without delta", "openai-chat", {
    sse: data(
      chunk(null, { id: "", model: "", object: "", prompt_filter_results: [] }),
      chunk({ delta: { role: "assistant", content: "" } }),
      chunk({ delta: { content: "Hi" } }),
      chunk({ content_filter_results: { hate: { filtered: false } }, content_filter_offsets: {} }),
      chunk({ delta: {}, finish_reason: "stop" }),
      "[DONE]",
    ),
  }),
  recording("chat: another id on every chunk", "openai-chat", {
    sse: data(
      ...["Hel", "lo", " you"].map((content, i) => chunk({ delta: { content } }, { id: `id-${i}` })),
      chunk({ delta: {}, finish_reason: "stop" }, { id: "id-9", usage: USAGE }),
      "[DONE]",
    ),
  }),
  recording("chat: total above its parts, thought signature, empty call id", "openai-chat", {
    response: {
      id: "c1",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{
        index: 0,
        finish_reason: "tool_calls",
        message: {
          role: "assistant",
          tool_calls: [{
            id: "",
            type: "function",
            function: { name: "add", arguments: '{"a":1}' },
            extra_content: { google: { thought_signature: "c2ln" } },
          }],
        },
      }],
      usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 60 },
    },
  }),
  recording("chat: finish_reason is empty on a stream", "openai-chat", {
    sse: data(
      chunk({ delta: { role: "assistant", content: "Hey" }, finish_reason: "" }),
      chunk({ delta: { content: " there" }, finish_reason: "" }, { usage: USAGE }),
      "[DONE]",
    ),
  }),
  recording("chat: an error beside choices after the finish_reason", "openai-chat", {
    sse: data(
      chunk({ delta: { role: "assistant", content: "Hal" } }),
      chunk({ delta: { content: "" }, finish_reason: "stop" }),
      chunk({ delta: {} }, { error: { code: 502, message: "Upstream failed" }, usage: USAGE }),
      "[DONE]",
    ),
  }),
  recording("chat: finish_reason error beside an error", "openai-chat", {
    sse: data(
      chunk({ delta: { role: "assistant", content: "Hal" } }),
      chunk({ delta: {}, finish_reason: "error" }, { error: { code: 429, message: "Rate limit exceeded" } }),
      "[DONE]",
    ),
  }),
  recording("chat: ends in the middle of a frame", "openai-chat", {
    sse: data(chunk({ delta: { role: "assistant", content: "Hal" } })) + 'data: {"id":"c1","choi',
  }),
  recording("messages: message_start twice", "anthropic-messages", {
    sse: named(messageStart, messageStart, ...messageText, ...messageEnd("end_turn")),
  }),
  recording("messages: a search without result inside a refusal", "anthropic-messages", {
    sse: named(
      messageStart,
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
      },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: '{"query":"x"}' },
      },
      { type: "content_block_stop", index: 0 },
      ...messageEnd("refusal", { stop_details: { type: "refusal", category: null, explanation: null } }),
    ),
  }),
  recording("messages: events and stop reasons that nobody knows yet", "anthropic-messages", {
    sse: named(
      messageStart,
      { type: "content_block_status", index: 0, status: "new" },
      ...messageText,
      ...messageEnd("model_context_window_exceeded"),
    ),
  }),
  recording("responses: ids that change with every event", "openai-responses", {
    sse: named(
      ...opened,
      ...messageEvents(0, "ids mean nothing", () => `item-${changing++}`),
      {
        type: "response.completed",
        response: response("completed", [message("item-x", "ids mean nothing")]),
      },
    ),
  }),
  recording("responses: items that interleave, without event lines, with [DONE]", "openai-responses", {
    sse: data(
      ...opened,
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { id: "rs_1", type: "reasoning", summary: [] },
      },
      {
        type: "response.reasoning_summary_part.added",
        item_id: "rs_1",
        output_index: 0,
        summary_index: 0,
        part: { type: "summary_text", text: "" },
      },
      {
        type: "response.reasoning_summary_text.delta",
        item_id: "rs_1",
        output_index: 0,
        summary_index: 0,
        delta: "Hm.",
      },
      ...messageEvents(1, "Both at once", () => "msg_1").slice(0, 3),
      {
        type: "response.reasoning_summary_text.done",
        item_id: "rs_1",
        output_index: 0,
        summary_index: 0,
        text: "Hm.",
      },
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] },
      },
      ...messageEvents(1, "Both at once", () => "msg_1").slice(3),
      {
        type: "response.completed",
        response: response("completed", [
          { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] },
          message("msg_1", "Both at once"),
        ]),
      },
      "[DONE]",
    ),
  }),
  recording("responses: a comment and a final answer, two messages", "openai-responses", {
    response: response("completed", [
      message("msg_1", "Let me see. ", { phase: "commentary" }),
      message("msg_2", "It is 4.", { phase: "final_answer" }),
    ]),
  }),
  recording("responses: a search told by its item alone", "openai-responses", {
    sse: named(
      ...opened,
      ...(["added", "done"] as const).map((end) => ({
        type: `response.output_item.${end}`,
        output_index: 0,
        item: {
          id: "ws_1",
          type: "web_search_call",
          status: end === "done" ? "completed" : "in_progress",
          action: { type: "search", query: "ruby", sources: [] },
        },
      })),
      ...messageEvents(1, "Found it", () => "msg_1"),
      {
        type: "response.completed",
        response: response("completed", [
          {
            id: "ws_1",
            type: "web_search_call",
            status: "completed",
            action: { type: "search", query: "ruby", sources: [] },
          },
          message("msg_1", "Found it"),
        ]),
      },
    ),
  }),
  recording("responses: failed without an error event", "openai-responses", {
    sse: named(
      ...opened,
      {
        type: "response.failed",
        response: response("failed", [], {
          usage: null,
          error: { code: "server_is_overloaded", message: "Our servers are overloaded." },
        }),
      },
    ),
  }),
  recording("responses: a flat error event", "openai-responses", {
    sse: named(...opened, {
      type: "error",
      code: "rate_limit_exceeded",
      message: "Rate limit reached for requests",
      param: null,
    }),
  }),
  recording("responses: content filter", "openai-responses", {
    response: response("incomplete", [message("msg_1", "Once", { status: "incomplete" })], {
      incomplete_details: { reason: "content_filter" },
    }),
  }),
  recording("responses: a refusal", "openai-responses", {
    response: response("completed", [
      message("msg_1", "", { content: [{ type: "refusal", refusal: "I cannot help with that." }] }),
    ]),
  }),
  recording("gemini: withheld for safety, no content", "gemini-generate", {
    response: gemini({ finishReason: "SAFETY", safetyRatings: [] }),
  }),
  recording("gemini: withheld by a guard, with its words", "gemini-generate", {
    response: gemini({ finishReason: "MODEL_ARMOR", finishMessage: "Blocked by Model Armor." }),
  }),
  recording("gemini: recitation in the middle of a stream", "gemini-generate", {
    sse: data(
      gemini({ content: { role: "model", parts: [{ text: "It was the best" }] } }),
      gemini({ finishReason: "RECITATION" }),
    ).replaceAll("\n", "\r\n"),
  }),
  recording("gemini: sources in a middle chunk", "gemini-generate", {
    sse: data(
      gemini({ content: { role: "model", parts: [{ text: "Spain won. " }] } }),
      gemini({
        content: { role: "model", parts: [{ text: "Twice." }] },
        groundingMetadata: {
          groundingChunks: [{ web: { uri: "https://example.com/a", title: "A" } }],
          groundingSupports: [{ segment: { startIndex: 0, endIndex: 10 }, groundingChunkIndices: [0] }],
        },
      }),
      gemini({ content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP" }),
    ).replaceAll("\n", "\r\n"),
  }),
];

export const REFUSED: readonly Recording[] = [
  recording("xai: a wrong key with status 400", "openai-responses", {
    status: 400,
    response: {
      code: "invalid_api_key",
      error: "Incorrect API key provided: xai-abc123def. See https://console.x.ai",
    },
  }),
  recording("perplexity: too many prompt tokens", "openai-chat", {
    status: 400,
    response: { error: { message: "Too many prompt tokens", type: "too_many_prompt_tokens", code: 400 } },
  }),
  recording("openrouter: no credentials", "openai-chat", {
    status: 401,
    response: { error: { message: "User not found.", code: 401 }, user_id: "user_abc" },
  }),
  recording("openrouter: out of credits", "openai-chat", {
    status: 402,
    response: {
      error: { message: "Insufficient credits. Add more at https://openrouter.ai/credits", code: 402 },
    },
  }),
  recording("anthropic: a model that is none", "anthropic-messages", {
    status: 404,
    response: { type: "error", error: { type: "not_found_error", message: "model: claude-x" } },
  }),
  recording("a gateway between, in HTML", "openai-chat", {
    status: 502,
    response_headers: { "content-type": "text/html" },
    response: "<html><body>nginx at https://10.0.0.7/</body></html>",
  }),
  recording("an empty body", "gemini-generate", { status: 500, response: "" }),
  recording("an answer that is no JSON", "openai-chat", { response: "<html>OK</html>" }),
  recording("an answer that is JSON and no answer", "anthropic-messages", { response: { hello: "world" } }),
];
