/**
 * Fields of answers that only their own format has (types of npm `openai` 7.57): a caller of that format gets them, and the
 * official clients make the same answer of the stream and of the whole.
 */
import { assertEquals } from "@std/assert";
import OpenAI from "openai";
import { collect } from "../../src/exchange/answer.ts";
import type { Loose } from "../../src/exchange/json.ts";
import type { Part } from "../../src/exchange/part.ts";
import type { CallerFormat, EncodeAnswer, Frame, ProviderFormat } from "../../src/formats/format.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { decode } from "./conversions.ts";

const ASK = [{ role: "user", content: "Hi" }] as const;

const frame = (value: unknown): Frame => ({
  event: "",
  data: typeof value === "string" ? value : JSON.stringify(value),
});

function context(caller: "chat_completions" | "responses"): EncodeAnswer {
  const body = caller === "responses" ? { input: "Hi" } : { messages: [...ASK] };
  const prompt = decode(caller, { model: "acme/one", ...body });
  return { id: "gen_1", created: 1, model: () => "acme/one", prompt, seal: () => "sealed" };
}

function client(stream: string): OpenAI {
  const headers = { "content-type": "text/event-stream" };
  const fetch = () => Promise.resolve(new Response(stream, { headers }));
  return new OpenAI({ apiKey: "x", baseURL: "http://gateway.test/v1", maxRetries: 0, fetch });
}

interface Told {
  whole: Loose;
  stream: string;
}

function told(name: "chat_completions" | "responses", answer: Loose, frames: readonly Frame[]): Told {
  const provider: ProviderFormat = PROVIDER_FORMATS[name];
  const caller: CallerFormat = CALLER_FORMATS[name];
  const whole = caller.encodeAnswer(collect(provider.decodeAnswer(answer)), context(name));
  const decoder = provider.decodeStream();
  const parts: Part[] = [];
  for (const one of frames) decoder.push(one, parts);
  decoder.end(parts);
  const encoder = caller.encodeStream(context(name));
  return { whole: JSON.parse(JSON.stringify(whole)), stream: encoder.encode(parts) + encoder.end() };
}

const MODERATION = {
  input: { type: "moderation_results", model: "omni-moderation-latest", results: [{ flagged: false }] },
  output: { type: "error", code: "x", message: "y" },
};

Deno.test("chat_completions: moderation of the answer comes through, also in a late chunk of its own", async () => {
  const head = { id: "chatcmpl-1", created: 1, model: "m" };
  const answer = {
    ...head,
    object: "chat.completion",
    choices: [{
      index: 0,
      message: { role: "assistant", content: "Ok", refusal: null },
      finish_reason: "stop",
      logprobs: null,
    }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    moderation: MODERATION,
  };
  const chunk = { ...head, object: "chat.completion.chunk" };
  const { whole, stream } = told("chat_completions", answer, [
    frame({
      ...chunk,
      choices: [{ index: 0, delta: { role: "assistant", content: "Ok" }, finish_reason: null }],
    }),
    frame({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
    frame({ ...chunk, choices: [], moderation: MODERATION }),
    frame({ ...chunk, choices: [], usage: answer.usage }),
    frame("[DONE]"),
  ]);
  assertEquals(whole.moderation, MODERATION);
  assertEquals((whole.choices as Loose[])[0].moderation, undefined);
  const final = await client(stream).chat.completions.stream({ model: "acme/one", messages: [...ASK] })
    .finalChatCompletion();
  const { choices, ...rest } = JSON.parse(JSON.stringify(final));
  const { choices: wholeChoices, ...wholeRest } = whole;
  assertEquals(rest, wholeRest);
  for (const choice of choices) delete choice.message.parsed;
  assertEquals(choices, wholeChoices);
});

Deno.test("responses: what a call says of its caller and of when its result may come goes through", async () => {
  const call = {
    id: "fc_1",
    type: "function_call",
    status: "completed",
    call_id: "c1",
    name: "f",
    arguments: "{}",
    async: true,
    caller: { type: "program", caller_id: "p1" },
  };
  const custom = {
    id: "ctc_1",
    type: "custom_tool_call",
    status: "completed",
    call_id: "c2",
    name: "c",
    input: "x",
    async: true,
  };
  const answer = {
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "m",
    status: "completed",
    output: [call, custom],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
  const events = [call, custom].flatMap((item, output_index) => [
    { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress" } },
    { type: "response.output_item.done", output_index, item },
  ]);
  const { whole, stream } = told("responses", answer, [
    frame({ type: "response.created", response: { ...answer, status: "in_progress", output: [] } }),
    ...events.map(frame),
    frame({ type: "response.completed", response: answer }),
  ]);
  assertEquals(whole.output, [call, custom]);
  const final = await client(stream).responses.stream({ model: "acme/one", input: "Hi" }).finalResponse();
  const output = JSON.parse(JSON.stringify(final.output)) as Loose[];
  for (const item of output) delete item.parsed_arguments;
  assertEquals(output, [call, custom] as Loose[]);
});
