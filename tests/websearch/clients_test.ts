/**
 * Clients as people use them read a searched answer from the gateway: streamed without an error, and whole as far as they
 * can. Those that cannot are asserted too, so that the README's list of them stays true.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import Anthropic from "@anthropic-ai/sdk";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, OpenAIProvider, Runner, setTracingDisabled, webSearchTool } from "@openai/agents";
import { generateText, type LanguageModel, streamText } from "ai";
import OpenAI from "openai";
import { SECRET, type TestGateway } from "../support/gateway.ts";
import { searchStage } from "../clients/search_stage.ts";

setTracingDisabled(true);

const MODEL = "anthropic-messages/model";

async function withGateway(work: (gateway: TestGateway) => Promise<void>): Promise<void> {
  await using at = await searchStage();
  await work(at.gateway);
}

const versioned = (gateway: TestGateway) => ({ apiKey: SECRET, baseURL: `${gateway.url}/v1`, maxRetries: 0 });

// AI SDK

interface AiCase {
  model(gateway: TestGateway): LanguageModel;
  tools?: Record<string, unknown>;
  providerOptions?: Record<string, Record<string, unknown>>;
  /** Addresses of the sources that it shows. */
  sources: string[];
  /** Why it cannot read a whole answer. */
  failsWhole?: boolean;
}

const URLS = ["https://site.test/one", "https://site.test/two"];

const AI_SDK: Record<string, AiCase> = {
  "openai responses": {
    model: (gateway) => createOpenAI(versioned(gateway)).responses(MODEL),
    tools: { web_search: createOpenAI({ apiKey: "x" }).tools.webSearch({}) },
    sources: [],
    failsWhole: true,
  },
  "openai chat": {
    model: (gateway) => createOpenAI({ ...versioned(gateway), fetch: withOptions }).chat(MODEL),
    sources: URLS,
  },
  "openai-compatible": {
    model: (gateway) =>
      createOpenAICompatible({ name: "sluice", ...versioned(gateway), fetch: withOptions })(MODEL),
    sources: [],
  },
  anthropic: {
    model: (gateway) => createAnthropic(versioned(gateway))(MODEL),
    tools: { web_search: createAnthropic({ apiKey: "x" }).tools.webSearch_20250305({}) },
    sources: URLS,
  },
};

/** Clients without a word for `web_search_options` get it into their body. */
const withOptions: typeof fetch = (input, init) => {
  const body = { ...JSON.parse(String(init?.body)), web_search_options: {} };
  return fetch(input, { ...init, body: JSON.stringify(body) });
};

for (const [name, { model, tools, sources, failsWhole }] of Object.entries(AI_SDK)) {
  Deno.test(`a searched answer is read by the AI SDK, ${name}`, () =>
    withGateway(async (gateway) => {
      // deno-lint-ignore no-explicit-any
      const ask = { model: model(gateway), prompt: "Look it up.", tools: tools as any, maxRetries: 0 };
      const errors: unknown[] = [];
      const result = streamText({ ...ask, onError: ({ error }) => void errors.push(error) });
      let text = "";
      for await (const delta of result.textStream) text += delta;
      assertEquals(errors, []);
      assertEquals(text, "Wait. Found it.");
      const found = (await result.sources).map((s) => s.sourceType === "url" ? s.url : "");
      assertEquals(found.toSorted(), sources);
      if (failsWhole) await assertRejects(() => generateText(ask));
      else assert((await generateText(ask)).text.endsWith("Found it."));
    }));
}

// LangChain

Deno.test("a searched answer is read by LangChain", () =>
  withGateway(async (gateway) => {
    const options = { model: MODEL, apiKey: SECRET, maxRetries: 0 };
    const configuration = { baseURL: `${gateway.url}/v1` };
    const models = [
      new ChatOpenAI({ ...options, configuration, modelKwargs: { web_search_options: {} } }),
      new ChatOpenAI({ ...options, configuration, useResponsesApi: true }).bindTools([{
        type: "web_search",
      }]),
      new ChatAnthropic({ ...options, anthropicApiUrl: gateway.url }).bindTools([
        { type: "web_search_20250305", name: "web_search" },
      ]),
    ];
    for (const model of models) {
      let text = "";
      for await (const chunk of await model.stream("Look it up.")) text += chunk.text;
      assertEquals(text, "Wait. Found it.");
      assertEquals((await model.invoke("Look it up.")).text, "Wait. Found it.");
    }
  }));

// Agents

Deno.test("a searched answer is read by the Agents SDK", () =>
  withGateway(async (gateway) => {
    const openAIClient = new OpenAI(versioned(gateway));
    const modelProvider = new OpenAIProvider({ openAIClient, useResponses: true });
    const runner = new Runner({ modelProvider });
    const agent = new Agent({ name: "a", model: MODEL, tools: [webSearchTool()] });
    const stream = await runner.run(agent, "Look it up.", { stream: true });
    let text = "";
    for await (const delta of stream.toTextStream()) text += delta;
    await stream.completed;
    assertEquals(text, "Wait. Found it.");
    assertEquals((await runner.run(agent, "Look it up.")).finalOutput, "Found it.");
  }));

// Official clients, whole answers; their streams are read in all cells of the matrix

Deno.test("a searched answer is read whole by the official clients", () =>
  withGateway(async (gateway) => {
    const openai = new OpenAI(versioned(gateway));
    const chat = await openai.chat.completions.create({
      model: MODEL,
      messages: [{ role: "user", content: "Look it up." }],
      web_search_options: {},
    });
    assertEquals(chat.choices[0].message.content, "Wait. Found it.");
    assertEquals(chat.choices[0].message.annotations?.map((a) => a.url_citation.url), URLS);
    const response = await openai.responses.create({
      model: MODEL,
      input: "Look it up.",
      tools: [{ type: "web_search" }],
    });
    assertEquals(response.output_text, "Wait. Found it.");
    const anthropic = new Anthropic({ apiKey: SECRET, baseURL: gateway.url, maxRetries: 0 });
    const message = await anthropic.messages.create({
      model: MODEL,
      max_tokens: 100,
      messages: [{ role: "user", content: "Look it up." }],
      tools: [{ type: "web_search_20250305", name: "web_search" }],
    });
    assertEquals(message.content.map((b) => b.type).slice(-1), ["text"]);
    assertEquals(message.usage.server_tool_use?.web_search_requests, 2);
  }));
