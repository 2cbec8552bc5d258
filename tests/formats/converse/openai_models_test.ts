/** OpenAI's models behind Converse, and what they have in common with others there. */
import { assertEquals } from "@std/assert";
import { array, type Loose, object } from "../../../src/exchange/json.ts";
import type { Effort } from "../../../src/exchange/prompt.ts";
import type { Part } from "../../../src/exchange/part.ts";
import type { Proof } from "../../../src/exchange/proof.ts";
import { converse } from "../../../src/formats/converse/mod.ts";
import { CALLER_FORMATS } from "../../../src/formats/mod.ts";
import { convert, encode } from "../conversions.ts";

const GPT = "us.openai.gpt-5.6-sol";
const CLAUDE = "global.anthropic.claude-sonnet-5";
const ASK = [{ role: "user", content: "Hi" }];

Deno.test("converse: OpenAI's models are told the effort as their own API has it, gpt-oss as a field", () => {
  const fields = (model: string, effort: string, efforts: readonly Effort[] | null = null) =>
    convert("chat_completions", { messages: ASK, reasoning_effort: effort }, "converse", model, { efforts })
      .body.additionalModelRequestFields;
  assertEquals(fields(GPT, "high"), { reasoning: { effort: "high" } });
  assertEquals(fields("global.openai.gpt-6-astra", "xhigh"), { reasoning: { effort: "xhigh" } });
  assertEquals(fields(GPT, "none", ["none", "low"]), { reasoning: { effort: "none" } });
  assertEquals(fields(GPT, "minimal", ["low", "max"]), { reasoning: { effort: "low" } });
  assertEquals(fields("openai.gpt-oss-120b-1:0", "high"), { reasoning_effort: "high" });
});

/** A conversation in which the assistant's turn is this reasoning and what is behind it. */
function turns(model: string, proof: Proof, behind: Loose[]): Loose[] {
  const thinking = proof.kind === "redacted"
    ? { type: "redacted_thinking", data: "sealed" }
    : { type: "thinking", thinking: "Hm", signature: "sealed" };
  const prompt = CALLER_FORMATS.messages.decodeRequest({
    model: "acme/one",
    max_tokens: 9,
    messages: [...ASK, { role: "assistant", content: [thinking, ...behind] }, {
      role: "user",
      content: "Go on",
    }],
  }, { unseal: () => proof, headers: () => ({}) });
  return array(encode(prompt, "converse", model).body.messages).map(object);
}

const SIGNED: Proof = { api: "converse", kind: "signature", data: "sig" };
const HIDDEN: Proof = { api: "converse", kind: "redacted", data: "cmVk" };
const WORDS = { type: "text", text: "Words" };

Deno.test("converse: a turn of nothing but reasoning is left out, and what stands around it is one turn", () => {
  for (const proof of [SIGNED, HIDDEN]) {
    assertEquals(turns(CLAUDE, proof, []), [
      { role: "user", content: [{ text: "Hi" }, { text: "Go on" }] },
    ]);
  }
  assertEquals(turns(CLAUDE, SIGNED, [WORDS])[1].content, [
    { reasoningContent: { reasoningText: { text: "Hm", signature: "sig" } } },
    { text: "Words" },
  ]);
});

Deno.test("converse: models that hide their reasoning get none back that has words", () => {
  for (const model of [GPT, "us.xai.grok-4-5"]) {
    assertEquals(turns(model, SIGNED, [WORDS])[1].content, [{ text: "Words" }]);
    assertEquals(turns(model, HIDDEN, [WORDS])[1].content, [
      { reasoningContent: { redactedContent: "cmVk" } },
      { text: "Words" },
    ]);
  }
});

Deno.test("converse: a stream of OpenAI's models counts what a cache held in its input, a whole answer apart", () => {
  const usage = (inputTokens: number, cacheReadInputTokens: number, cacheWriteInputTokens: number) => ({
    inputTokens,
    outputTokens: 5,
    totalTokens: inputTokens + cacheReadInputTokens + cacheWriteInputTokens + 5,
    cacheReadInputTokens,
    cacheWriteInputTokens,
  });
  const counts = (parts: Part[]) => {
    const told = parts.find((part) => part.type === "usage")!.usage;
    return [told.input, told.cached, told.cacheWrite];
  };
  const streamed = (model: string | undefined, told: Loose) => {
    const decoder = converse.decodeStream(model);
    const parts: Part[] = [];
    decoder.push({ event: "messageStop", data: '{"stopReason":"end_turn"}' }, parts);
    decoder.push({ event: "metadata", data: JSON.stringify({ usage: told }) }, parts);
    decoder.end(parts);
    return counts(parts);
  };
  assertEquals(streamed(GPT, usage(12_401, 8367, 4032)), [12_401, 8367, 4032]);
  assertEquals(streamed(GPT, usage(8369, 0, 8367)), [8369, 0, 8367]);
  assertEquals(streamed(GPT, usage(9, 0, 0)), [9, 0, 0]);
  for (const model of [CLAUDE, undefined]) {
    assertEquals(streamed(model, usage(9000, 8367, 0)), [17_367, 8367, 0]);
  }
  const whole = { output: { message: { role: "assistant", content: [] } }, stopReason: "end_turn" };
  assertEquals(counts(converse.decodeAnswer({ ...whole, usage: usage(2, 0, 4993) })), [4995, 0, 4993]);
});

Deno.test("converse: no cache points for models that have none, whatever their catalog entry says of caching", () => {
  const cache_control = { type: "ephemeral" };
  const sent = (model: string) =>
    convert(
      "messages",
      {
        max_tokens: 9,
        system: [{ type: "text", text: "Be brief", cache_control }],
        messages: [{ role: "user", content: [{ type: "text", text: "Hi", cache_control }] }],
      },
      "converse",
      model,
      { features: new Set(["prompt_caching"]) },
    );
  for (const model of [GPT, "xai.grok-4.3", "deepseek.v3.2"]) {
    const { body, dropped } = sent(model);
    assertEquals([JSON.stringify(body).includes("cachePoint"), dropped], [false, ["cache_control"]], model);
  }
  for (
    const model of [
      CLAUDE,
      "us.amazon.nova-pro-v1:0",
      "arn:aws:bedrock:us-east-1:1:application-inference-profile/x",
    ]
  ) {
    assertEquals(JSON.stringify(sent(model).body).match(/cachePoint/g)?.length, 2, model);
  }
});
