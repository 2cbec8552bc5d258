/** AI SDK with its OpenAI (chat and responses), Anthropic and OpenAI-compatible providers, in front of every provider API. */
import { assertEquals, assertMatch } from "@std/assert";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  generateObject,
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  streamText,
  tool,
} from "ai";
import { z } from "zod";
import {
  ANSWER,
  APIS,
  assertCarried,
  assertGoesOnWithout,
  CITY,
  DIALOGUE,
  LAST,
  PROOFS,
  QUESTION,
  REASONINGS,
  SECRET,
  type Stage,
  stage,
  THANKS,
  WEATHER,
  WEATHER_TOOL,
} from "./support.ts";

// The package writes warnings to the console about models that it does not know.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

interface Client {
  name: string;
  model(at: Stage): LanguageModel;
  options: Parameters<typeof generateText>[0]["providerOptions"];
  /** The provider shows the model's reasoning. */
  shows: boolean;
  /** Which proofs the provider sends back: those of tool calls alone, or all. */
  carries: "none" | "of calls" | "all";
}

const CLIENTS: readonly Client[] = [
  {
    name: "openai chat",
    model: (at) => createOpenAI({ apiKey: SECRET, baseURL: `${at.url}/v1` }).chat(at.model),
    options: { openai: { forceReasoning: true, reasoningEffort: "medium" } },
    shows: false,
    carries: "none",
  },
  {
    name: "openai responses",
    model: (at) => createOpenAI({ apiKey: SECRET, baseURL: `${at.url}/v1` }).responses(at.model),
    options: {
      openai: { forceReasoning: true, reasoningEffort: "medium", reasoningSummary: "auto", store: false },
    },
    shows: true,
    carries: "all",
  },
  {
    name: "anthropic",
    model: (at) => createAnthropic({ apiKey: SECRET, baseURL: `${at.url}/v1` })(at.model),
    options: { anthropic: { thinking: { type: "enabled", budgetTokens: 2000 } } },
    shows: true,
    carries: "all",
  },
  {
    name: "openai-compatible",
    model: (at) =>
      createOpenAICompatible({
        name: "sluice",
        apiKey: SECRET,
        baseURL: `${at.url}/v1`,
        supportsStructuredOutputs: true,
      })(at.model),
    options: { sluice: { reasoningEffort: "medium" } },
    shows: true,
    carries: "of calls",
  },
];

function tools(asked: string[]) {
  return {
    [WEATHER_TOOL.name]: tool({
      description: WEATHER_TOOL.description,
      inputSchema: jsonSchema<{ city: string }>(WEATHER_TOOL.schema),
      execute: ({ city }) => {
        asked.push(city);
        return WEATHER;
      },
    }),
  };
}

for (const client of CLIENTS) {
  for (const api of APIS) {
    for (const stream of [false, true]) {
      const method = stream ? "streamText()" : "generateText()";
      Deno.test(`ai ${method} with ${client.name} runs a tool loop of ${api}`, async () => {
        await using at = await stage(api, DIALOGUE);
        const asked: string[] = [];
        const turn = async (messages: ModelMessage[]) => {
          const ask = {
            model: client.model(at),
            messages,
            tools: tools(asked),
            stopWhen: isStepCount(5),
            maxOutputTokens: 8000,
            maxRetries: 0,
            providerOptions: client.options,
          };
          if (!stream) {
            const { text, steps, responseMessages } = await generateText(ask);
            return { text, steps, responseMessages };
          }
          const errors: unknown[] = [];
          const result = streamText({ ...ask, onError: ({ error }) => void errors.push(error) });
          await result.consumeStream();
          assertEquals(errors, []);
          return {
            text: await result.text,
            steps: await result.steps,
            responseMessages: await result.responseMessages,
          };
        };
        const messages: ModelMessage[] = [{ role: "user", content: QUESTION }];
        const first = await turn(messages);
        assertEquals(first.text, ANSWER);
        assertEquals(asked, [CITY]);
        assertEquals(first.steps.map((step) => step.finishReason), ["tool-calls", "stop"]);
        assertEquals(
          first.steps.map((step) => step.reasoningText ?? ""),
          client.shows ? REASONINGS : ["", ""],
        );
        assertEquals((first.steps[1].usage.outputTokens ?? 0) > 0, true);
        if (client.carries === "none") assertGoesOnWithout(at, 1);
        else assertCarried(at, 1, [PROOFS[0]]);
        messages.push(...first.responseMessages, { role: "user", content: THANKS });
        assertEquals((await turn(messages)).text, LAST);
        if (client.carries !== "none") {
          assertCarried(at, 2, client.carries === "all" ? PROOFS : [PROOFS[0]]);
        }
      });
    }

    Deno.test(`ai generateObject() with ${client.name} reads a structured answer of ${api}`, async () => {
      const event = { name: "Fair", people: ["Ann", "Bo"] };
      // Where it does not know the model, the Anthropic provider forces a tool whose input is the object.
      const said = client.name === "anthropic"
        ? { calls: [{ id: "call_J1", name: "json", input: event }] }
        : { text: JSON.stringify(event) };
      await using at = await stage(api, [said]);
      const { object } = await generateObject({
        model: client.model(at),
        prompt: "Ann and Bo go to a fair.",
        schema: z.object({ name: z.string(), people: z.array(z.string()) }),
        maxRetries: 0,
      });
      assertEquals(object, event);
      assertMatch(JSON.stringify(at.seen[0].body), /"people\\?"/);
    });
  }
}

Deno.test("ai generateText() with openai responses goes on when it refers to what nobody stored", async () => {
  await using at = await stage("anthropic-messages", DIALOGUE);
  const ask = {
    model: createOpenAI({ apiKey: SECRET, baseURL: `${at.url}/v1` }).responses(at.model),
    tools: tools([]),
    stopWhen: isStepCount(5),
    maxRetries: 0,
  };
  const { text, responseMessages } = await generateText({ ...ask, prompt: QUESTION });
  assertEquals(text, ANSWER);
  const messages: ModelMessage[] = [
    { role: "user", content: QUESTION },
    ...responseMessages,
    { role: "user", content: THANKS },
  ];
  assertEquals((await generateText({ ...ask, messages })).text, LAST);
});
