/** The answer that an official client decodes, streamed or not, and the next request that it sends. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { collect } from "../../src/exchange/answer.ts";
import { array, type Loose, object, string } from "../../src/exchange/json.ts";
import type { Part } from "../../src/exchange/part.ts";
import { CALLER_FORMATS } from "../../src/formats/mod.ts";
import { sealer } from "../../src/pipeline/seal.ts";
import type { Caller } from "./conversions.ts";

const { seal, unseal } = sealer(new Uint8Array(32).fill(3)).of("default");

/** A decoded answer: the messages that the client would send back, and their content. */
export interface ClientAnswer {
  kept: Loose[];
  text: string;
  reasoning: string;
  calls: { id: string; name: string; args: unknown }[];
  end: unknown;
  /** Input and output tokens, and the input tokens that were read from a cache or written to it. */
  usage: unknown[];
}

const SCHEMA = { type: "object" as const };
const ASK = { role: "user" as const, content: "Hi" };

function request(caller: Caller, more: Loose[] = []): Loose {
  const model = "acme/one";
  switch (caller) {
    case "chat_completions":
      return {
        model,
        messages: [ASK, ...more],
        tools: [{ type: "function", function: { name: "look", parameters: SCHEMA } }],
      };
    case "messages":
      return {
        model,
        max_tokens: 99,
        messages: [ASK, ...more],
        tools: [{ name: "look", input_schema: SCHEMA }],
      };
    case "responses":
      return {
        model,
        input: [ASK, ...more],
        tools: [{ type: "function", name: "look", parameters: SCHEMA, strict: false }],
      };
  }
}

export function decode(caller: Caller, body: Loose) {
  return CALLER_FORMATS[caller].decodeRequest(body, { unseal, headers: () => ({}) });
}

function context(caller: Caller) {
  const prompt = decode(caller, request(caller));
  return { id: "gen_1", created: 1, model: () => "acme/one", prompt, seal };
}

// deno-lint-ignore no-explicit-any
type Any = any;

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

function openai(body: string, type: string): OpenAI {
  const fetch = () => Promise.resolve(new Response(body, { headers: { "content-type": type } }));
  return new OpenAI({ apiKey: "x", baseURL: "http://gateway.test/v1", maxRetries: 0, fetch });
}

function anthropic(body: string, type: string): Anthropic {
  const fetch = () => Promise.resolve(new Response(body, { headers: { "content-type": type } }));
  return new Anthropic({ apiKey: "x", baseURL: "http://gateway.test", maxRetries: 0, fetch });
}

export async function whole(caller: Caller, parts: readonly Part[]): Promise<ClientAnswer> {
  const body = JSON.stringify(CALLER_FORMATS[caller].encodeAnswer(collect(parts), context(caller)));
  const asked = request(caller) as Any;
  const type = "application/json";
  switch (caller) {
    case "chat_completions":
      return chat(plain(await openai(body, type).chat.completions.create(asked)));
    case "messages":
      return message(plain(await anthropic(body, type).messages.create(asked)));
    case "responses":
      return response(plain(await openai(body, type).responses.create(asked)));
  }
}

/** Encodes each part separately. */
export async function streamed(caller: Caller, parts: readonly Part[]): Promise<ClientAnswer> {
  const encoder = CALLER_FORMATS[caller].encodeStream(context(caller));
  const body = parts.map((part) => encoder.encode([part])).join("") + encoder.end();
  const asked = request(caller) as Any;
  const type = "text/event-stream";
  switch (caller) {
    case "chat_completions": {
      const final = plain(await openai(body, type).chat.completions.stream(asked).finalChatCompletion());
      // The client's helper keeps only the last delta of unknown fields.
      const folded: Loose = {};
      for await (
        const chunk of await openai(body, type).chat.completions.create({ ...asked, stream: true }) as Any
      ) {
        const delta = chunk.choices[0]?.delta ?? {};
        for (const field of ["reasoning", "reasoning_content"]) {
          if (delta[field] !== undefined) folded[field] = `${folded[field] ?? ""}${delta[field]}`;
        }
      }
      Object.assign(final.choices[0].message, folded);
      return chat(final);
    }
    case "messages":
      return message(plain(await anthropic(body, type).messages.stream(asked).finalMessage()));
    case "responses":
      return response(plain(await openai(body, type).responses.stream(asked).finalResponse()));
  }
}

function chat({ choices: [{ message, finish_reason }], usage }: Any): ClientAnswer {
  delete message.parsed;
  // Without text next to calls, some clients return null, others an empty string.
  message.content ||= null;
  for (const call of message.tool_calls ?? []) delete call.function.parsed_arguments;
  return {
    kept: [message],
    text: message.content ?? "",
    reasoning: message.reasoning ?? "",
    calls: (message.tool_calls ?? []).map((c: Any) => ({
      id: c.id,
      name: c.function.name,
      args: JSON.parse(c.function.arguments),
    })),
    end: finish_reason,
    usage: [
      usage.prompt_tokens,
      usage.completion_tokens,
      usage.prompt_tokens_details.cached_tokens,
      usage.prompt_tokens_details.cache_write_tokens,
    ],
  };
}

function message({ content, stop_reason, usage: u }: Any): ClientAnswer {
  for (const block of content) delete block.parsed_output;
  const of = (type: string) => content.filter((block: Any) => block.type === type);
  return {
    kept: content.length > 0 ? [{ role: "assistant", content }] : [],
    text: of("text").map((b: Any) => b.text).join(""),
    reasoning: of("thinking").map((b: Any) => b.thinking).join(""),
    calls: of("tool_use").map((b: Any) => ({ id: b.id, name: b.name, args: b.input })),
    end: stop_reason,
    usage: [
      u.input_tokens + u.cache_read_input_tokens + u.cache_creation_input_tokens,
      u.output_tokens,
      u.cache_read_input_tokens,
      u.cache_creation_input_tokens,
    ],
  };
}

function response({ output, status, usage }: Any): ClientAnswer {
  const of = (type: string) => output.filter((item: Any) => item.type === type);
  for (const item of output) {
    delete item.parsed_arguments;
    for (const part of array(item.content).map(object)) delete part.parsed;
  }
  return {
    kept: output,
    text: of("message").flatMap((i: Any) => i.content).map((c: Any) => string(c.text) ?? "").join(""),
    reasoning: of("reasoning").flatMap((i: Any) => i.summary).map((s: Any) => s.text).join(""),
    calls: of("function_call").map((i: Any) => ({
      id: i.call_id,
      name: i.name,
      args: JSON.parse(i.arguments),
    })),
    end: status,
    usage: [
      usage.input_tokens,
      usage.output_tokens,
      usage.input_tokens_details.cached_tokens,
      usage.input_tokens_details.cache_write_tokens,
    ],
  };
}

/** The request after the answer: results for its calls, or else another user message. */
export function nextRequest(caller: Caller, { kept, calls }: ClientAnswer): Loose {
  const go = { role: "user", content: "Go on" };
  if (calls.length === 0) return request(caller, [...kept, go]);
  const results = calls.map(({ id }): Loose => {
    if (caller === "chat_completions") return { role: "tool", tool_call_id: id, content: "R" };
    if (caller === "responses") return { type: "function_call_output", call_id: id, output: "R" };
    return { type: "tool_result", tool_use_id: id, content: "R" };
  });
  return request(caller, [
    ...kept,
    ...(caller === "messages" ? [{ role: "user", content: results }] : results),
  ]);
}
