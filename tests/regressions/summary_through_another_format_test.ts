/**
 * The summary of a responses provider's reasoning came back from callers of other formats as the reasoning's own text, and
 * OpenAI refuses a text beside encrypted content.
 */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../src/exchange/json.ts";
import { messages } from "../../src/formats/messages/mod.ts";
import { responses } from "../../src/formats/responses/mod.ts";

Deno.test("responses.encodeRequest() a summary that a messages caller sends back is a summary", () => {
  const prompt = messages.decodeRequest({
    model: "a/b",
    max_tokens: 9,
    messages: [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: [{ type: "thinking", thinking: "hm", signature: "sealed" }, { type: "text", text: "Hello" }],
      },
      { role: "user", content: "Go on" },
    ],
  }, {
    unseal: () => ({ api: "responses", kind: "encrypted", data: "gAAA", id: "rs_1" }),
    headers: () => ({}),
  });
  const { body } = responses.encodeRequest(prompt, {
    model: "m",
    stream: false,
    maxOutput: null,
    features: null,
    efforts: null,
  });
  // Its id would ask for the message that it came with, by that one's id.
  assertEquals((body.input as Loose[])[1], {
    type: "reasoning",
    summary: [{ type: "summary_text", text: "hm" }],
    encrypted_content: "gAAA",
  });
});
