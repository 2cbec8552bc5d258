/**
 * One loop over every situation: each caller format reads its request as the same prompt, every provider API is told all of
 * it or it is named, every API's answer is read as the same parts, and every caller is shown them.
 */
import { assert, assertEquals } from "@std/assert";
import { collect } from "../src/exchange/answer.ts";
import { Failure } from "../src/exchange/failure.ts";
import { array, type Loose, object } from "../src/exchange/json.ts";
import type { Part } from "../src/exchange/part.ts";
import type { Prompt } from "../src/exchange/prompt.ts";
import { flattenTools } from "../src/exchange/tools.ts";
import type { EncodeAnswer } from "../src/formats/format.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../src/formats/mod.ts";
import { AnswerReader, readWhole } from "../src/pipeline/generation/answer_reader.ts";
import { sealer } from "../src/pipeline/seal.ts";
import { API_OF } from "./support/apis.ts";
import { type CallerReading, readCaller } from "./corpus/caller.ts";
import { readChatRequest } from "./corpus/carried_chat.ts";
import { losses } from "./corpus/carried_compare.ts";
import { readConverseRequest } from "./corpus/carried_converse.ts";
import { readGeminiRequest } from "./corpus/carried_gemini.ts";
import { readMessagesRequest } from "./corpus/carried_messages.ts";
import { readResponsesRequest } from "./corpus/carried_responses.ts";
import { checkChatRequest } from "./corpus/check_chat_request.ts";
import { checkConverseRequest } from "./corpus/check_converse_request.ts";
import { checkMessagesRequest } from "./corpus/check_messages_request.ts";
import { checkResponsesRequest } from "./corpus/check_responses_request.ts";
import { checkRequest as checkGeminiRequest } from "./formats/gemini/request_checker.ts";
import { assertLegal } from "./formats/gemini/legal_parts.ts";
import {
  type Caller,
  CALLERS,
  meaning,
  read,
  readJson,
  scenarios,
  sense,
  type Target,
  TARGETS,
} from "./support/scenarios.ts";
import { DROPPED, LACKS, REFUSED } from "./support/scenario_exceptions.ts";

/** Marks are no part of the responses format, and OpenAI refuses them; they are for providers that know them. */
function withoutMarks(prompt: Prompt): Prompt {
  return JSON.parse(JSON.stringify(prompt, (key, value) => key === "cache" ? undefined : value));
}

const READ = {
  chat_completions: readChatRequest,
  messages: readMessagesRequest,
  responses: readResponsesRequest,
  gemini: readGeminiRequest,
  converse: readConverseRequest,
} as const;
const CHECK = {
  chat_completions: checkChatRequest,
  messages: checkMessagesRequest,
  responses: checkResponsesRequest,
  gemini: checkGeminiRequest,
  converse: checkConverseRequest,
} as const;
const MODELS: Readonly<Record<Target, string>> = {
  chat_completions: "gpt-5-mini",
  messages: "claude-haiku-4-5",
  responses: "gpt-5-mini",
  gemini: "gemini-3-pro-preview",
  converse: "us.anthropic.claude-haiku-4-5-20251001-v1:0",
};

const { seal, unseal } = sealer(new Uint8Array(32).fill(1)).of("default");

function decode(caller: Caller, body: unknown): Prompt {
  return CALLER_FORMATS[caller].decodeRequest(body, { unseal, headers: () => ({}) });
}

const OWN_MODELS: Readonly<Partial<Record<Target, string>>> = { messages: "claude-opus-4-8" };

function encode(prompt: Prompt, target: Target, model = MODELS[target]): { body: Loose; dropped: string[] } {
  const context = { model, stream: prompt.stream, maxOutput: null, features: null, efforts: null };
  const { body, dropped } = PROVIDER_FORMATS[target].encodeRequest(
    flattenTools(prompt, API_OF[target].toolForms(prompt.format)).prompt,
    context,
  );
  return { body: JSON.parse(JSON.stringify(body)), dropped };
}

function answering(prompt: Prompt): EncodeAnswer {
  return { id: "gen_1", created: 1_700_000_000, model: () => "acme/one", prompt, seal };
}

const HELLO: Readonly<Record<Caller, Loose>> = {
  chat_completions: { model: "acme/one", messages: [{ role: "user", content: "Hi" }] },
  messages: { model: "acme/one", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
  responses: { model: "acme/one", input: "Hi" },
};

/** All parts of a provider's answer, in whichever of its two forms. */
function partsOf(target: Target, text: string, stream: boolean): Part[] {
  if (!stream) return readWhole(text, PROVIDER_FORMATS[target]);
  const reader = new AnswerReader(PROVIDER_FORMATS[target]);
  const parts: Part[] = [];
  const failure = reader.push(new TextEncoder().encode(text), parts) ?? reader.end(parts);
  if (failure) throw failure;
  return parts;
}

async function shownTo(caller: Caller, parts: readonly Part[], stream: boolean) {
  const format = CALLER_FORMATS[caller];
  const context = answering(decode(caller, HELLO[caller]));
  if (!stream) {
    return await readCaller(caller, Response.json(format.encodeAnswer(collect(parts), context)), false);
  }
  const encoder = format.encodeStream(context);
  const text = parts.map((part) => encoder.encode([part])).join("") + encoder.end();
  return await readCaller(
    caller,
    new Response(text, { headers: { "content-type": "text/event-stream" } }),
    true,
  );
}

for (const scenario of scenarios()) {
  const asked = readJson(scenario, "prompt.json");
  if (asked) {
    for (const caller of CALLERS) {
      const body = readJson(scenario, `${caller}.request.json`);
      if (!body) {
        assert(`${scenario}/${caller}` in LACKS, `${scenario} has no request of ${caller}, and no reason`);
        continue;
      }
      const wanted = readJson(scenario, `${caller}.prompt.json`) ?? asked;

      Deno.test(`${scenario}: ${caller}.decodeRequest() reads the prompt`, () => {
        const found = meaning(decode(caller, body));
        // The format demands a cap, others do not.
        if (caller === "messages" && wanted.maxOutput === undefined) delete found.maxOutput;
        assertEquals(found, meaning(wanted as unknown as Prompt));
      });

      for (const target of TARGETS) {
        Deno.test(`${scenario}: ${caller} -> ${target}.encodeRequest() says all of it, streamed or not`, () => {
          for (const stream of [true, false]) {
            const prompt = decode(caller, { ...body, stream });
            let sent;
            try {
              // Of its own format, a model that takes all that the format has.
              sent = encode(prompt, target, caller === target ? OWN_MODELS[target] : undefined);
            } catch (thrown) {
              if (!(thrown instanceof Failure)) throw thrown;
              const expected = REFUSED[`${scenario}/${target}`];
              assert(expected?.test(thrown.message), thrown.message);
              continue;
            }
            if (caller === target) {
              assertEquals(
                meaning(decode(caller, { ...sent.body, model: "a/b" })),
                meaning(target === "responses" ? withoutMarks(prompt) : prompt),
              );
            } else CHECK[target](sent.body);
            if (target === "chat_completions" || target === "messages") {
              assertEquals(sent.body.stream === true, stream);
            }
            assertEquals(losses(READ[caller](body), READ[target](sent.body), target, sent.dropped), []);
            assertEquals(sent.dropped.sort(), DROPPED[`${scenario}/${caller}/${target}`] ?? []);
          }
        });
      }
    }
  }

  const parts = JSON.parse(read(scenario, "parts.json") ?? "null") as Part[] | null;
  if (parts) {
    for (const target of TARGETS) {
      const own = read(scenario, `${target}.parts.json`);
      const wanted = sense(collect(own === null ? parts : JSON.parse(own)));
      const streamed = read(scenario, `${target}.sse`);
      const whole = read(scenario, `${target}.answer.json`);
      if (streamed === null || whole === null) {
        assert(`${scenario}/${target}` in LACKS, `${scenario} has no answer of ${target}, and no reason`);
        continue;
      }
      for (const [text, stream] of [[streamed, true], [whole, false]] as const) {
        Deno.test(`${scenario}: ${target} ${stream ? "stream" : "answer"} is read as the parts`, () => {
          const found = partsOf(target, text, stream);
          assertLegal(found);
          assertEquals(sense(collect(found)), wanted);
        });
        for (const caller of CALLERS) {
          Deno.test(`${scenario}: ${target} ${stream ? "stream" : "answer"} is shown to ${caller}`, async () => {
            const found = partsOf(target, text, stream);
            for (const streamed of [true, false]) {
              checkShown(await shownTo(caller, found, streamed), wanted, caller);
            }
          });
        }
      }
    }
    Deno.test(`${scenario}: the parts are shown to every caller`, async () => {
      for (const caller of CALLERS) {
        for (const stream of [true, false]) {
          checkShown(await shownTo(caller, parts, stream), sense(collect(parts)), caller);
        }
      }
    });
  }
}

const STOPS: Readonly<Record<string, Readonly<Record<Caller, string>>>> = {
  "stop": { chat_completions: "stop", messages: "end_turn", responses: "completed" },
  "tool-calls": { chat_completions: "tool_calls", messages: "tool_use", responses: "completed" },
  "length": {
    chat_completions: "length",
    messages: "max_tokens",
    responses: "incomplete: max_output_tokens",
  },
  "content-filter": {
    chat_completions: "content_filter",
    messages: "refusal",
    responses: "incomplete: content_filter",
  },
  "refusal": { chat_completions: "stop", messages: "refusal", responses: "completed" },
};

function checkShown(shown: CallerReading, wanted: Loose, caller: Caller): void {
  if (shown.kind === "error") throw new Error(`${shown.code}: ${shown.message}`);
  const [choice] = shown.choices;
  // Messages has no place of its own for what a model says in refusing.
  const said = caller === "messages" ? `${wanted.text}${wanted.refusal}` : wanted.text;
  assertEquals(choice.text, said);
  const silent = wanted.reason === "refusal" && wanted.refusal === "";
  // A provider's own word for why it withheld an answer stands there, too, or a word that it did.
  if (caller !== "messages" && wanted.reason !== "content-filter" && !silent) {
    assertEquals(choice.refusal, wanted.refusal);
  }
  assertEquals(choice.reasoning.join(""), wanted.reasoning);
  const calls = array(wanted.calls).map(object);
  assertEquals(
    choice.calls.map((c) => [c.name, JSON.parse(c.arguments)]),
    calls.map((c) => [c.name, c.arguments]),
  );
  const reason = silent && caller === "chat_completions" ? "content-filter" : String(wanted.reason);
  assertEquals(choice.stop, STOPS[reason][caller]);
  assertEquals(choice.citations.map((c) => c.url), array(wanted.citations).map((c) => object(c).url));
  const usage = object(wanted.usage);
  assertEquals([shown.usage?.input, shown.usage?.output], [usage.input, usage.output]);
  if (shown.usage?.reasoning !== undefined) assertEquals(shown.usage.reasoning, usage.reasoning);
  assertEquals(shown.usage?.cached, usage.cached);
}

/** As it stands in the answers of `full`. */
const PROOF = "UFJPT0Y=";

for (const target of TARGETS) {
  for (const caller of CALLERS) {
    Deno.test(`full: the proof of ${target} goes out to ${caller} and comes back to its provider`, () => {
      const format = CALLER_FORMATS[caller];
      for (const stream of [true, false]) {
        const text = read("full", stream ? `${target}.sse` : `${target}.answer.json`)!;
        const answer = collect(partsOf(target, text, stream));
        const shown = JSON.parse(
          JSON.stringify(format.encodeAnswer(answer, answering(decode(caller, HELLO[caller])))),
        );
        const prompt = decode(caller, nextRequest(caller, shown));
        const { body } = encode(prompt, target);
        const sent = JSON.stringify(body);
        assertEquals(sent.split(PROOF).length, 2, sent);
        if (caller !== target) CHECK_REPLAY[target]?.(body);
        for (const other of TARGETS) {
          if (other !== target) assert(!JSON.stringify(encode(prompt, other).body).includes(PROOF), other);
        }
      }
    });
  }
}

/** Chat-completions has no official place for a proof, so nothing official to hold it against. */
const CHECK_REPLAY: Partial<Record<Target, (body: unknown) => unknown>> = {
  ...CHECK,
  chat_completions: undefined,
};

/** The answer sent back as each format's clients do, with results for its two calls. */
function nextRequest(caller: Caller, answer: Loose): Loose {
  const tools = ["weather", "clock"];
  const ids = ["call_1", "call_2"];
  switch (caller) {
    case "chat_completions":
      return {
        ...HELLO[caller],
        tools: tools.map((name) => ({ type: "function", function: { name } })),
        messages: [
          { role: "user", content: "Hi" },
          object(array(answer.choices)[0]).message,
          ...ids.map((id) => ({ role: "tool", tool_call_id: id, content: "R" })),
        ],
      };
    case "messages":
      return {
        ...HELLO[caller],
        tools: tools.map((name) => ({ name, input_schema: { type: "object" } })),
        messages: [
          { role: "user", content: "Hi" },
          { role: "assistant", content: answer.content },
          {
            role: "user",
            content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "R" })),
          },
        ],
      };
    case "responses":
      return {
        ...HELLO[caller],
        tools: tools.map((name) => ({ type: "function", name, parameters: { type: "object" } })),
        input: [
          { role: "user", content: "Hi" },
          ...array(answer.output),
          ...ids.map((id) => ({ type: "function_call_output", call_id: id, output: "R" })),
        ],
      };
  }
}
