/**
 * What clients make of failures: each its own class of error, with the status and the code, and no second try where the
 * gateway says that one is useless.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, OpenAIResponsesModel, run, setTracingDisabled } from "@openai/agents";
import { APICallError, generateText, type LanguageModel, streamText } from "ai";
import OpenAI from "openai";
import { APIS, QUESTION, refusal, SECRET, type Stage, stage } from "./support.ts";

(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
setTracingDisabled(true);

interface Ask {
  key?: string;
  model?: string;
  retries?: number;
}

type ErrorClass = abstract new (...args: never[]) => Error;

interface Client {
  name: string;
  /** Asks the question; reads a stream to its end. */
  whole(at: Stage, ask: Ask): Promise<unknown>;
  streamed(at: Stage, ask: Ask): Promise<unknown>;
  /** What the client throws for a status. Null: a class that says nothing of the status. */
  thrown(status: number): ErrorClass | null;
  surface: "chat" | "messages" | "responses";
  /** It reads `x-should-retry`. AI SDK goes by the status alone, so it tries a 429 again whatever it is told. */
  listens: boolean;
}

function openai(at: Stage, { key = SECRET, retries = 0 }: Ask): OpenAI {
  return new OpenAI({ apiKey: key, baseURL: `${at.url}/v1`, maxRetries: retries });
}

function anthropic(at: Stage, { key = SECRET, retries = 0 }: Ask): Anthropic {
  return new Anthropic({ apiKey: key, baseURL: at.url, maxRetries: retries });
}

const OPENAI_ERRORS: Record<number, ErrorClass> = {
  401: OpenAI.AuthenticationError,
  403: OpenAI.PermissionDeniedError,
  422: OpenAI.UnprocessableEntityError,
  429: OpenAI.RateLimitError,
  502: OpenAI.InternalServerError,
};
const ANTHROPIC_ERRORS: Record<number, ErrorClass> = {
  401: Anthropic.AuthenticationError,
  403: Anthropic.PermissionDeniedError,
  422: Anthropic.UnprocessableEntityError,
  429: Anthropic.RateLimitError,
  502: Anthropic.InternalServerError,
};

const openaiError = (status: number): ErrorClass => OPENAI_ERRORS[status] ?? OpenAI.APIError;
const anthropicError = (status: number): ErrorClass => ANTHROPIC_ERRORS[status] ?? Anthropic.APIError;

const messages = [{ role: "user" as const, content: QUESTION }];

/** A client of AI SDK, by the model that one of its providers makes. */
function aiSdk(
  name: string,
  surface: Client["surface"],
  languageModel: (url: string, key: string) => (model: string) => LanguageModel,
): Client {
  const options = (at: Stage, { key = SECRET, model = at.model, retries = 0 }: Ask) => ({
    model: languageModel(`${at.url}/v1`, key)(model),
    prompt: QUESTION,
    maxRetries: retries,
  });
  return {
    name,
    surface,
    listens: false,
    whole: async (at, ask) => await generateText(options(at, ask)),
    async streamed(at, ask) {
      const errors: unknown[] = [];
      const result = streamText({ ...options(at, ask), onError: ({ error }) => void errors.push(error) });
      await result.consumeStream();
      if (errors.length > 0) throw errors[0];
    },
    thrown: () => APICallError,
  };
}

const CLIENTS: readonly Client[] = [
  {
    name: "openai chat",
    surface: "chat",
    listens: true,
    whole: (at, ask) => openai(at, ask).chat.completions.create({ model: ask.model ?? at.model, messages }),
    streamed: (at, ask) =>
      openai(at, ask).chat.completions.stream({ model: ask.model ?? at.model, messages }).finalMessage(),
    thrown: openaiError,
  },
  {
    name: "openai responses",
    surface: "responses",
    listens: true,
    whole: (at, ask) => openai(at, ask).responses.create({ model: ask.model ?? at.model, input: QUESTION }),
    streamed: (at, ask) =>
      openai(at, ask).responses.stream({ model: ask.model ?? at.model, input: QUESTION }).finalResponse(),
    thrown: openaiError,
  },
  {
    name: "anthropic",
    surface: "messages",
    listens: true,
    whole: (at, ask) =>
      anthropic(at, ask).messages.create({ model: ask.model ?? at.model, max_tokens: 100, messages }),
    streamed: (at, ask) =>
      anthropic(at, ask).messages.stream({ model: ask.model ?? at.model, max_tokens: 100, messages })
        .finalMessage(),
    thrown: anthropicError,
  },
  aiSdk("ai with openai chat", "chat", (baseURL, apiKey) => createOpenAI({ apiKey, baseURL }).chat),
  aiSdk(
    "ai with openai responses",
    "responses",
    (baseURL, apiKey) => createOpenAI({ apiKey, baseURL }).responses,
  ),
  aiSdk("ai with anthropic", "messages", (baseURL, apiKey) => createAnthropic({ apiKey, baseURL })),
  aiSdk(
    "ai with openai-compatible",
    "chat",
    (baseURL, apiKey) => createOpenAICompatible({ name: "sluice", apiKey, baseURL }),
  ),
  {
    name: "langchain ChatOpenAI",
    surface: "chat",
    listens: true,
    whole: (at, ask) => chatOpenAI(at, ask, false).invoke(QUESTION),
    streamed: async (at, ask) => await drain(await chatOpenAI(at, ask, false).stream(QUESTION)),
    thrown: openaiError,
  },
  {
    name: "langchain ChatOpenAI with responses",
    surface: "responses",
    listens: true,
    whole: (at, ask) => chatOpenAI(at, ask, true).invoke(QUESTION),
    streamed: async (at, ask) => await drain(await chatOpenAI(at, ask, true).stream(QUESTION)),
    thrown: openaiError,
  },
  {
    name: "langchain ChatAnthropic",
    surface: "messages",
    listens: true,
    whole: (at, ask) => chatAnthropic(at, ask).invoke(QUESTION),
    streamed: async (at, ask) => await drain(await chatAnthropic(at, ask).stream(QUESTION)),
    // It brings a copy of the official client of its own, whose classes are not those imported here.
    thrown: () => null,
  },
  {
    name: "agents",
    surface: "responses",
    listens: true,
    whole: (at, ask) => run(agent(at, ask), QUESTION),
    async streamed(at, ask) {
      const result = await run(agent(at, ask), QUESTION, { stream: true });
      await drain(result);
      await result.completed;
    },
    thrown: openaiError,
  },
];

function chatOpenAI(
  at: Stage,
  { key = SECRET, model = at.model, retries = 0 }: Ask,
  useResponsesApi: boolean,
) {
  return new ChatOpenAI({
    model,
    apiKey: key,
    configuration: { baseURL: `${at.url}/v1` },
    maxRetries: retries,
    useResponsesApi,
  });
}

function chatAnthropic(at: Stage, { key = SECRET, model = at.model, retries = 0 }: Ask) {
  return new ChatAnthropic({ model, apiKey: key, anthropicApiUrl: at.url, maxRetries: retries });
}

function agent(at: Stage, ask: Ask) {
  return new Agent({ name: "A", model: new OpenAIResponsesModel(openai(at, ask), ask.model ?? at.model) });
}

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

/** What is thrown, of the class that the client has for the status. */
async function thrownBy(client: Client, status: number, ask: () => Promise<unknown>): Promise<Error> {
  const expected = client.thrown(status);
  const error = await assertRejects(ask, Error);
  if (expected) assert(error instanceof expected, `${error.name} for ${status}`);
  assertEquals(
    (error as { status?: number }).status ?? (error as { statusCode?: number }).statusCode,
    status,
  );
  return error;
}

/** The code, wherever the client keeps it: on the error, in the body it read, or in the body's text. */
function codeOf(error: unknown): unknown {
  const e = error as Record<string, unknown> & { error?: Record<string, unknown> };
  const bodies = [e.error?.error, e.error, parsed(e.responseBody)?.error, e.data, e];
  for (const body of bodies) {
    const code = (body as Record<string, unknown> | undefined)?.code;
    if (typeof code === "string") return code;
  }
}

function parsed(text: unknown): Record<string, unknown> | undefined {
  return typeof text === "string" ? JSON.parse(text) : undefined;
}

const KEY = { name: "test", secret: SECRET };
/** Refusals that no repetition mends: status, code, and the configuration that makes them. */
const USELESS: readonly [number, string, Record<string, unknown>][] = [
  [402, "insufficient_funds", { accounts: [{ name: "default", credits: "0" }] }],
  [403, "policy_violation", {
    access_policies: { none: { deny: ["*"] } },
    keys: [{ ...KEY, access_policy: "none" }],
  }],
  [429, "api_key_limit_exceeded", { keys: [{ ...KEY, spend_limit: { amount: "0", period: "month" } }] }],
];

for (const client of CLIENTS) {
  for (const method of ["whole", "streamed"] as const) {
    Deno.test(`${client.name} ${method} throws its own error for 401, 422 and 429`, async () => {
      await using at = await stage("anthropic-messages", [
        refusal(429, "Slow down.", { "retry-after": "7" }),
      ]);
      const wrong = await thrownBy(client, 401, () => client[method](at, { key: "sk_live_wrong" }));
      // The other two surfaces answer in the short form, without a code.
      if (client.surface === "responses") assertEquals(codeOf(wrong), "invalid_api_key");

      // On messages a name without a provider may be a short one, so this one is unknown there and not a mistake.
      const [status, code] = client.surface === "messages"
        ? [404, "model_not_found"]
        : [422, "validation_error"];
      const unnamed = await thrownBy(client, status, () => client[method](at, { model: "gpt-5" }));
      assertEquals(codeOf(unnamed), code);

      const limited = await thrownBy(client, 429, () => client[method](at, {}));
      assertEquals(codeOf(limited), "provider_rate_limited");
      assertEquals(retryAfter(limited), "7");
    });
  }

  Deno.test(`${client.name} does not try again where that is useless`, async () => {
    for (const [status, code, config] of USELESS) {
      if (status === 429 && !client.listens) continue;
      await using at = await stage("gemini", [], config);
      const error = await thrownBy(client, status, () => client.whole(at, { retries: 2 }));
      assertEquals(codeOf(error), code);
      // Each try is one more refusal that the gateway counts.
      const refusals = await refusalsOf(at);
      assertEquals(refusals, 1, code);
    }
  });

  for (const api of APIS) {
    Deno.test(`${client.name} throws when the stream of ${api} breaks or ends in an error`, async () => {
      const text = "A long answer that never comes to its end.";
      await using at = await stage(api, [
        { text, breaksAfter: 7 },
        { text, failsWith: "The server had an error." },
      ]);
      for (let i = 0; i < 2; i++) {
        const error = await assertRejects(() => client.streamed(at, {}), Error);
        assertEquals(at.seen.length, i + 1);
        // Gemini's error names a status that means overload.
        const code = api === "gemini" && i === 1 ? "provider_model_down" : "provider_unavailable";
        assertEquals(codeOf(error), code);
      }
    });
  }
}

/** Answers with an error status that the gateway has given. */
async function refusalsOf(at: Stage): Promise<number> {
  const text = await (await fetch(`${at.url}/metrics`)).text();
  let sum = 0;
  for (
    const [, status, count] of text.matchAll(/^sluice_\w*responses\w*\{[^}]*status="(\d+)"[^}]*\} (\d+)$/gm)
  ) {
    if (Number(status) >= 400) sum += Number(count);
  }
  return sum;
}

function retryAfter(error: unknown): unknown {
  const e = error as { headers?: Headers; responseHeaders?: Record<string, string> };
  return e.responseHeaders?.["retry-after"] ?? e.headers?.get("retry-after");
}
