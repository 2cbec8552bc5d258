/**
 * Mistral's models refuse a message of the user directly after the result of a tool ("Unexpected role 'user' after role
 * 'tool'", code 3230), system messages within a conversation, and a conversation that ends with the assistant.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Failure } from "../../../src/exchange/failure.ts";
import { CALLERS } from "../../formats/conversions.ts";
import { REQUESTS } from "../../formats/random_requests.ts";
import { sentRequest } from "./sent_request.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const PLACES = [["mistral", "mistral-large-latest"], ["openrouter", "mistralai/devstral-small"], [
  "vllm",
  "mistralai/Ministral-8B-Instruct-2410",
]] as const;
const OK = { role: "assistant", content: "OK." };
const CALL = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "abcdefghi", type: "function", function: { name: "look", arguments: "{}" } }],
};
const RESULT = { role: "tool", tool_call_id: "abcdefghi", content: "1" };
const user = (content: string) => ({ role: "user", content });

Deno.test("a user who speaks directly after a tool does so after a word of the assistant, to Mistral's models", () => {
  const messages = [user("a"), CALL, RESULT, user("b")];
  for (const [preset, model] of PLACES) {
    const { body } = sentRequest(preset, "chat_completions", { messages }, model);
    assertEquals(body.messages, [user("a"), CALL, RESULT, OK, user("b")], preset);
  }
  // A deployment may be named by its region.
  for (const model of ["qwen/qwen3-coder", "gpt-5-mini-australiaeast", "astral-chat"]) {
    const other = sentRequest("openrouter", "chat_completions", { messages }, model);
    assertEquals(other.body.messages, messages, model);
  }
});

Deno.test("reminders that Claude Code puts beside results reach Mistral's models in an order that they accept", () => {
  const body = {
    max_tokens: 100,
    messages: [
      { role: "user", content: "a" },
      { role: "assistant", content: [{ type: "tool_use", id: "abcdefghi", name: "look", input: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "abcdefghi",
            content: [
              { type: "text", text: "1" },
              {
                type: "image",
                source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
              },
            ],
          },
          { type: "text", text: "<system-reminder>b</system-reminder>" },
        ],
      },
      { role: "system", content: "c" },
    ],
  };
  for (const [preset, model] of PLACES) {
    const { messages } = sentRequest(preset, "messages", body, model).body;
    assertEquals(messages.map(({ role }: Any) => role), [
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
      "user",
    ]);
    assert(JSON.stringify(messages.at(-1)).includes("<system>\\nc\\n</system>"), preset);
  }
});

Deno.test("an answer of the assistant is not the last message to Mistral's models, unless it is a prefix", () => {
  const last = { role: "assistant", content: "b" };
  const sent = (message: Any) =>
    sentRequest("mistral", "chat_completions", { messages: [user("a"), message] }).body.messages;
  const named = (message: Any) =>
    sentRequest("mistral", "chat_completions", { messages: [user("a"), message] }, "codestral-latest").body
      .messages;
  assertEquals(named(last), [user("a"), last, user("Continue.")]);
  assertEquals(named({ ...last, prefix: true }), [user("a"), { ...last, prefix: true }]);
  assertEquals(sent(last), [user("a"), last]);
});

const AFTER: Readonly<Record<string, readonly string[]>> = {
  system: ["user", "assistant"],
  user: ["user", "assistant"],
  assistant: ["assistant", "user", "tool"],
  tool: ["assistant", "tool"],
};

for (const caller of CALLERS) {
  Deno.test(`${caller}: requests by chance reach Mistral's models in an order that they accept`, () => {
    let sent = 0;
    for (const body of fc.sample(REQUESTS[caller], { numRuns: 200, seed: 3 })) {
      // Calls and results without each other in the caller's own format, which no server accepts.
      if (caller === "chat_completions" && /"role":"tool"|"tool_calls"/.test(JSON.stringify(body))) continue;
      for (const [preset, model] of PLACES) {
        try {
          const roles: string[] = sentRequest(preset, caller, body, model).body.messages
            .map(({ role }: Any) => role === "developer" ? "system" : role);
          sent++;
          for (const [i, role] of roles.entries()) {
            assert(i === 0 || AFTER[roles[i - 1]].includes(role), `${preset}: ${roles}`);
          }
          assert(roles.length === 1 || ["user", "tool"].includes(roles.at(-1)!), `${preset}: ${roles}`);
        } catch (thrown) {
          if (!(thrown instanceof Failure)) throw thrown;
        }
      }
    }
    assert(sent > 100, String(sent));
  });
}
