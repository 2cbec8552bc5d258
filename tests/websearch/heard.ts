/** What a provider was told in a round, read from the request of its API. */
import type { Seen } from "../support/provider.ts";
import { list, text, wild } from "../corpus/wild.ts";
import { apiOf } from "./rounds.ts";

/** What a provider was told, whatever its API calls it. */
export interface Heard {
  tools: string[];
  /** Texts of all tool results, in order. */
  results: string[];
  /** Output cap. */
  cap: number | undefined;
  /** The choice among the tools, as the API has it. */
  choice: unknown;
  /** Ids of the calls in the history, and of the results that answer them. */
  calls: string[];
  answered: string[];
}

export function heard({ path, body }: Seen): Heard {
  switch (apiOf(path)) {
    case "openai-chat": {
      const messages = list(body.messages);
      const results = messages.filter((m) => m.role === "tool");
      return {
        tools: list(body.tools).map((t) => text(wild(t.function).name)),
        results: results.map((m) => text(m.content)),
        cap: (body.max_completion_tokens ?? body.max_tokens) as number | undefined,
        choice: body.tool_choice,
        calls: messages.flatMap((m) => list(m.tool_calls).map((c) => text(c.id))),
        answered: results.map((m) => text(m.tool_call_id)),
      };
    }
    case "openai-responses": {
      const input = list(body.input);
      const results = input.filter((i) => i.type === "function_call_output");
      return {
        tools: list(body.tools).map((t) => text(t.name)),
        results: results.map((i) => text(i.output)),
        cap: body.max_output_tokens as number | undefined,
        choice: body.tool_choice,
        calls: input.filter((i) => i.type === "function_call").map((i) => text(i.call_id)),
        answered: results.map((i) => text(i.call_id)),
      };
    }
    case "anthropic-messages": {
      const blocks = list(body.messages).flatMap((m) => list(m.content));
      const results = blocks.filter((b) => b.type === "tool_result");
      return {
        tools: list(body.tools).map((t) => text(t.name)),
        results: results.map((b) =>
          typeof b.content === "string" ? b.content : list(b.content).map((c) => text(c.text)).join("")
        ),
        cap: body.max_tokens as number | undefined,
        choice: body.tool_choice,
        calls: blocks.filter((b) => b.type === "tool_use").map((b) => text(b.id)),
        answered: results.map((b) => text(b.tool_use_id)),
      };
    }
    case "gemini": {
      const parts = list(body.contents).flatMap((c) => list(c.parts));
      const results = parts.map((p) => p.functionResponse).filter((r) => r !== undefined).map(wild);
      return {
        tools: list(body.tools).flatMap((t) => list(t.functionDeclarations).map((f) => text(f.name))),
        results: results.map((r) => text(wild(r.response).output)),
        cap: wild(body.generationConfig).maxOutputTokens as number | undefined,
        choice: wild(body.toolConfig).functionCallingConfig,
        calls: parts.filter((p) => p.functionCall).map((p) => text(wild(p.functionCall).id)),
        answered: results.map((r) => text(r.id)),
      };
    }
  }
}
