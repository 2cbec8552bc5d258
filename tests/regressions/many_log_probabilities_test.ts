/** A whole answer with the log probabilities of more tokens than a function takes arguments could not be read: 500. */
import { assertEquals } from "@std/assert";
import { collect } from "../../src/exchange/answer.ts";
import type { Loose } from "../../src/exchange/json.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { decode } from "../formats/conversions.ts";

const MANY = 200_000;
const TEXT = "x".repeat(MANY);
const token = { token: "x", logprob: -1, bytes: [120], top_logprobs: [] };
const tokens = Array(MANY).fill(token);

const choice = (message: Loose, logprobs: Loose) => ({
  id: "c",
  model: "m",
  choices: [{ index: 0, message, logprobs, finish_reason: "stop" }],
});
const ANSWERS: Readonly<Record<string, readonly ["chat_completions" | "responses" | "gemini", Loose]>> = {
  "chat-completions": ["chat_completions", choice({ content: TEXT }, { content: tokens })],
  "chat-completions, a refusal": ["chat_completions", choice({ refusal: TEXT }, { refusal: tokens })],
  responses: ["responses", {
    status: "completed",
    output: [{
      type: "message",
      content: [{ type: "output_text", text: TEXT, annotations: [], logprobs: tokens }],
    }],
  }],
  gemini: ["gemini", {
    candidates: [{
      content: { parts: [{ text: TEXT }] },
      finishReason: "STOP",
      logprobsResult: { chosenCandidates: Array(MANY).fill({ token: "x", logProbability: -1 }) },
    }],
  }],
};

for (const [about, [name, body]] of Object.entries(ANSWERS)) {
  Deno.test(`the log probabilities of ${MANY} tokens in a whole answer: ${about}`, () => {
    const answer = collect(PROVIDER_FORMATS[name].decodeAnswer(body));
    const prompt = decode("chat_completions", { model: "a/b", messages: [{ role: "user", content: "Hi" }] });
    const context = { id: "gen_1", created: 1, model: () => "a/b", prompt, seal: () => "" };
    const [{ logprobs }] = CALLER_FORMATS.chat_completions.encodeAnswer(answer, context).choices as Loose[];
    const { content, refusal } = logprobs as { content: unknown[] | null; refusal: unknown[] | null };
    assertEquals((content ?? refusal)?.length, MANY);
  });
}
