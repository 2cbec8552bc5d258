/** Clients that are about to fail: how each asks the question, and the class that it throws for a status. */
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
import { QUESTION, SECRET, type Stage } from "./support.ts";

(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
setTracingDisabled(true);

export interface Ask {
  key?: string;
  model?: string;
  retries?: number;
}

type ErrorClass = abstract new (...args: never[]) => Error;

export interface Client {
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

export const CLIENTS: readonly Client[] = [
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
export async function thrownBy(client: Client, status: number, ask: () => Promise<unknown>): Promise<Error> {
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
export function codeOf(error: unknown): unknown {
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
