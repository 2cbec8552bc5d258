/** Calls that the end of an answer cut are `incomplete`, as OpenAI marks them, and no others; so is the limit named that ended it. */
import { assertEquals } from "@std/assert";
import OpenAI from "openai";
import { Failure } from "../../../src/exchange/failure.ts";
import { array, type Loose } from "../../../src/exchange/json.ts";
import type { FinishReason, Part } from "../../../src/exchange/part.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import { responses } from "../../../src/formats/responses/mod.ts";
import { answering, answerOf } from "./support.ts";

const call = (block: number, pieces: readonly string[], kind: "function" | "custom" = "function"): Part[] => [
  { type: "call-start", block, choice: 0, id: `call_${block}`, name: "look", kind },
  ...pieces.map((text): Part => ({ type: "call-delta", block, text })),
  { type: "call-end", block },
];

const answer = (reason: FinishReason, ...calls: Part[][]): Part[] => [
  { type: "start" },
  ...calls.flat(),
  { type: "finish", choice: 0, reason },
];

/** Each call's arguments and status, as the official client puts the stream together and as the whole answer has them. */
async function told(parts: readonly Part[]): Promise<unknown[][]> {
  const encoder = responses.encodeStream(answering());
  const stream = encoder.encode(parts) + encoder.end();
  const fetch = () =>
    Promise.resolve(new Response(stream, { headers: { "content-type": "text/event-stream" } }));
  const client = new OpenAI({ apiKey: "x", baseURL: "http://gateway.test/v1", maxRetries: 0, fetch });
  const done: Loose[] = [];
  const reading = client.responses.stream({ model: "acme/one", input: "Hi" });
  reading.on("event", (event) => {
    if (event.type === "response.output_item.done") done.push({ ...event.item });
  });
  const streamed = await reading.finalResponse();
  const whole = responses.encodeAnswer(answerOf(parts), answering());
  const calls = (items: unknown) => (array(items) as Loose[]).map((i) => [i.arguments ?? i.input, i.status]);
  assertEquals(calls(streamed.output), calls(whole.output));
  done.sort((a, b) =>
    streamed.output.findIndex((i) => i.id === a.id) - streamed.output.findIndex((i) => i.id === b.id)
  );
  assertEquals(calls(done), calls(whole.output));
  return calls(whole.output);
}

const CUT = ['{"city":"Pa', "ri"];

Deno.test("responses: a call that the end of the answer cut is incomplete, and those before it are not", async () => {
  const whole = call(0, ['{"city":', '"Paris"}']);
  assertEquals(await told(answer("length", whole, call(1, CUT))), [
    ['{"city":"Paris"}', "completed"],
    ['{"city":"Pari', "incomplete"],
  ]);
  assertEquals(await told(answer("content-filter", call(0, CUT))), [['{"city":"Pari', "incomplete"]]);
  // Its name came, and nothing behind it.
  assertEquals(await told(answer("length", call(0, []))), [["{}", "incomplete"]]);
  assertEquals(await told(answer("length", call(0, ["*** Begin"], "custom"))), [["*** Begin", "incomplete"]]);
});

Deno.test("responses: calls that were told side by side are all incomplete where they were cut", async () => {
  const [a, b, c] = [call(0, CUT), call(1, CUT), call(2, ['{"city":"Rome"}'])];
  const sideBySide = [a, b, c].map((parts) => parts.slice(0, -1));
  const ends = [a, b, c].map((parts) => parts.slice(-1));
  assertEquals(await told(answer("length", ...sideBySide, ...ends)), [
    ['{"city":"Pari', "incomplete"],
    ['{"city":"Pari', "incomplete"],
    ['{"city":"Rome"}', "completed"],
  ]);
});

Deno.test("responses: a cut call is incomplete beside sources that a provider names for the whole answer", async () => {
  const chunk = (fields: Loose, delta: Loose, finish_reason: string | null = null) =>
    JSON.stringify({ id: "c", model: "m", choices: [{ index: 0, delta, finish_reason }], ...fields });
  const pieces = (index: number) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function: { name: "look", arguments: CUT.join("") },
  });
  const decoder = chatCompletions.decodeStream();
  const parts: Part[] = [];
  for (
    const data of [
      chunk({}, { content: "So:" }),
      chunk({}, { tool_calls: [pieces(0)] }),
      chunk({ citations: ["https://a.example/"] }, {}, "length"),
      "[DONE]",
    ]
  ) decoder.push({ event: "", data }, parts);
  decoder.end(parts);
  const calls = (await told(parts)).filter(([text]) => text !== undefined);
  assertEquals(calls, [['{"city":"Pari', "incomplete"]]);
});

Deno.test("responses: a call with all its arguments is completed, also where the answer was cut behind it", async () => {
  assertEquals(await told(answer("length", call(0, ["{}"]))), [["{}", "completed"]]);
  assertEquals(await told(answer("tool-calls", call(0, []))), [["{}", "completed"]]);
  assertEquals(await told(answer("tool-calls", call(0, CUT))), [['{"city":"Pari', "completed"]]);
});

Deno.test("responses: a call that had ended when the answer broke off is told before the error", () => {
  const encoder = responses.encodeStream(answering());
  const stream = encoder.encode(answer("stop", call(0, ["{}"])).slice(0, -1)) +
    encoder.fail(new Failure("provider_unavailable", "It broke off."));
  const types = [...stream.matchAll(/^event: (.+)$/gm)].map(([, type]) => type);
  assertEquals(types.slice(-3), ["response.output_item.done", "error", "response.failed"]);
});

Deno.test("responses: the limit that ended an answer has the provider's name for callers of the same format", () => {
  const cut = (incomplete_details: Loose | null) => {
    const body = { id: "r", model: "m", status: "incomplete", incomplete_details, output: [] };
    return responses.encodeAnswer(answerOf(responses.decodeAnswer(body)), answering()).incomplete_details;
  };
  for (const reason of ["max_output_tokens", "content_filter", "max_messages", "steered"]) {
    assertEquals(cut({ reason }), { reason });
  }
  assertEquals(cut(null), { reason: "max_output_tokens" });
  assertEquals(cut({ reason: "" }), { reason: "max_output_tokens" });
});
