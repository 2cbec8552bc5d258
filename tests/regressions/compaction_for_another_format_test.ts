/**
 * A compaction of Anthropic's stands for all messages before it. A provider of another format, or Bedrock's Converse for the same
 * model, got the conversation without it, and the model had forgotten everything.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { TARGETS } from "../formats/check_model_request.ts";
import { convert } from "../formats/conversions.ts";

const COMPACTED = {
  max_tokens: 100,
  messages: [
    {
      role: "assistant",
      content: [{ type: "compaction", content: "The user's cat is called Ada.", signature: "c2ln" }],
    },
    { role: "user", content: "What is she called?" },
  ],
};

Deno.test("the summary of a compaction reaches providers of other formats as text", () => {
  for (const [target, model] of TARGETS) {
    const { body, dropped } = convert("messages", COMPACTED, target, model);
    if (target === "messages") assertEquals(body.messages, COMPACTED.messages);
    else assertMatch(JSON.stringify(body), /Summary of the conversation[^"]*The user's cat is called Ada\./);
    assertEquals(dropped, []);
  }
});

Deno.test("a compaction without a summary goes to its own format alone", () => {
  const [block] = COMPACTED.messages[0].content as { type: string }[];
  const request = {
    ...COMPACTED,
    messages: [{ role: "assistant", content: [{ ...block, content: null }] }, COMPACTED.messages[1]],
  };
  assertEquals(convert("messages", request, "messages", "claude-opus-4-7").body.messages, request.messages);
  assertEquals(convert("messages", request, "chat_completions", "gpt-4o").dropped, ["messages"]);
});
