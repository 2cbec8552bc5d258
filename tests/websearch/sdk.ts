/** The official client of each caller format, given a stream that a caller got, and what it makes of it. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import type { CallerName } from "../corpus/caller.ts";
import { list, text, type Wild, wild } from "../corpus/wild.ts";

export interface Final {
  text: string;
  searches: number | undefined;
  stop: string;
  /** Names of the tool calls that the caller is to answer. */
  calls: string[];
  /** Types of the items or blocks. */
  kinds: string[];
}

export async function readBySdk(caller: CallerName, body: string): Promise<Final> {
  const options = {
    apiKey: "sk",
    baseURL: "http://gateway.test",
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } })),
  };
  switch (caller) {
    case "chat_completions": {
      const stream = new OpenAI(options).chat.completions.stream({ model: "m", messages: [] });
      const final = wild(await stream.finalChatCompletion());
      const [choice] = list(final.choices);
      const message = wild(choice.message);
      return {
        text: text(message.content),
        searches: count(final),
        stop: text(choice.finish_reason),
        calls: list(message.tool_calls).map((c) => text(wild(c.function).name)),
        kinds: [],
      };
    }
    case "messages": {
      const stream = new Anthropic(options).messages.stream({ model: "m", max_tokens: 1, messages: [] });
      const final = wild(await stream.finalMessage());
      const blocks = list(final.content);
      return {
        text: blocks.map((b) => text(b.text)).join(""),
        searches: count(final),
        stop: text(final.stop_reason),
        calls: blocks.filter((b) => b.type === "tool_use").map((b) => text(b.name)),
        kinds: blocks.map((b) => text(b.type)),
      };
    }
    case "responses": {
      const stream = new OpenAI(options).responses.stream({ model: "m", input: "x" });
      const final = wild(await stream.finalResponse());
      const reason = text(wild(final.incomplete_details).reason);
      return {
        text: text(final.output_text),
        searches: count(final),
        stop: reason === "" ? text(final.status) : `${final.status}: ${reason}`,
        calls: list(final.output).filter((i) => i.type === "function_call").map((i) => text(i.name)),
        kinds: list(final.output).map((i) => text(i.type)),
      };
    }
  }
}

function count(final: Wild): number | undefined {
  return wild(wild(final.usage).server_tool_use).web_search_requests as number | undefined;
}
