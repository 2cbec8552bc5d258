/** A question with a tool in each format, and the request that carries the tool's result. */
import type { Caller } from "../../support/scenarios.ts";

// deno-lint-ignore no-explicit-any
export type Any = any;

export const PATHS = {
  chat_completions: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
};
const IDS = ["call_1", "call_2"];
export const PROOF = "UFJPT0Y=";
const PARAMETERS = { type: "object", properties: { city: { type: "string" } } };

export function question(caller: Caller, model: string, stream: boolean): Any {
  const tools = ["weather", "clock"];
  switch (caller) {
    case "chat_completions":
      return {
        model,
        stream,
        messages: [{ role: "user", content: "Hi" }],
        tools: tools.map((name) => ({ type: "function", function: { name, parameters: PARAMETERS } })),
      };
    case "messages":
      return {
        model,
        stream,
        max_tokens: 4000,
        messages: [{ role: "user", content: "Hi" }],
        tools: tools.map((name) => ({ name, input_schema: PARAMETERS })),
      };
    case "responses":
      return {
        model,
        stream,
        input: [{ role: "user", content: "Hi" }],
        tools: tools.map((name) => ({ type: "function", name, parameters: PARAMETERS })),
      };
  }
}

/** The answer sent back with results of its calls. */
export function next(caller: Caller, asked: Any, answer: Any): Any {
  switch (caller) {
    case "chat_completions":
      return {
        ...asked,
        messages: [
          ...asked.messages,
          answer.choices[0].message,
          ...IDS.map((id) => ({ role: "tool", tool_call_id: id, content: "R" })),
        ],
      };
    case "messages":
      return {
        ...asked,
        messages: [
          ...asked.messages,
          { role: "assistant", content: answer.content },
          {
            role: "user",
            content: IDS.map((id) => ({ type: "tool_result", tool_use_id: id, content: "R" })),
          },
        ],
      };
    case "responses":
      return {
        ...asked,
        input: [
          ...asked.input,
          ...answer.output,
          ...IDS.map((id) => ({ type: "function_call_output", call_id: id, output: "R" })),
        ],
      };
  }
}
