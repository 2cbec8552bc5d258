/** Thinking without a signature, as models other than Claude give it over this API: DeepSeek refuses a call whose thinking is missing. */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { assistant, decodeRequest, encoding, foreign, seal } from "./support.ts";

const CALL = { type: "tool_use", id: "c", name: "f", input: {} };
const thinking = (more: Loose) => ({ type: "thinking", thinking: "Call it.", ...more });

/** The assistant's blocks as a provider of this model gets them. */
function sent(model: string, ...content: Loose[]): unknown {
  const { body } = messages.encodeRequest(decodeRequest(assistant(...content)), encoding({ model }));
  return (body.messages as Loose[])[1].content;
}

Deno.test("messages: thinking without a signature goes back to models that sign none, and to no Claude", () => {
  for (const signature of [{ signature: "" }, {}]) {
    for (const model of ["deepseek-v4-pro", "kimi-k3", "gpt-oss:20b"]) {
      assertEquals(sent(model, thinking(signature), CALL), [thinking({ signature: "" }), CALL]);
    }
    for (const model of ["claude-opus-5", "us.anthropic.claude-x", "arn:aws:bedrock:us-east-1:1:profile/a"]) {
      assertEquals(sent(model, thinking(signature), CALL), [CALL]);
    }
  }
});

const EMPTY = { type: "thinking", thinking: "", signature: "" };

Deno.test("messages: thinking that another API has signed goes to no model of this one", () => {
  const signature = seal({ api: "responses", kind: "encrypted", data: "E" });
  assertEquals(sent("gpt-oss:20b", thinking({ signature }), CALL), [CALL]);
  assertEquals(sent("deepseek-v4-pro", thinking({ signature }), CALL), [EMPTY, CALL]);
});

Deno.test("messages: models that reject a call without thinking get it with an empty one", () => {
  const TEXT = { type: "text", text: "Well." };
  for (const model of ["deepseek-v4-pro", "kimi-for-coding", "mimo-v2.5-pro"]) {
    assertEquals(sent(model, CALL), [EMPTY, CALL]);
    assertEquals(sent(model, TEXT, CALL), [EMPTY, TEXT, CALL]);
    assertEquals(sent(model, TEXT), [TEXT]);
  }
  for (const model of ["claude-opus-5", "MiniMax-M2.7", "glm-5"]) assertEquals(sent(model, CALL), [CALL]);
});

Deno.test("messages: no empty thinking is added where the caller has turned thinking off", () => {
  const request = { ...assistant(CALL), thinking: { type: "disabled" } };
  const { body } = messages.encodeRequest(decodeRequest(request), encoding({ model: "deepseek-v4-pro" }));
  assertEquals((body.messages as Loose[])[1].content, [CALL]);
});

Deno.test("messages: thinking of callers of other formats goes to no model without a proof of its own", () => {
  const prompt = foreign({
    turns: [
      { role: "user", content: [{ type: "text", text: "Hi" }] },
      {
        role: "assistant",
        content: [{ type: "reasoning", sections: ["Hm."], kind: "text" }, { type: "text", text: "Ok" }],
      },
      { role: "user", content: [{ type: "text", text: "Go on" }] },
    ],
  });
  const { body } = messages.encodeRequest(prompt, encoding({ model: "deepseek-v4-pro" }));
  assertEquals(JSON.stringify(body).includes("Hm."), false);
});
