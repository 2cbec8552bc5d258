/** LangChain's `ChatOpenAI` (chat and responses) and `ChatAnthropic`, in front of every provider API. */
import { assertEquals, assertMatch } from "@std/assert";
import { ChatAnthropic } from "@langchain/anthropic";
import { type AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
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
  SECRET,
  type Stage,
  stage,
  THANKS,
  WEATHER,
  WEATHER_TOOL,
} from "./support.ts";

interface Client {
  name: string;
  model(at: Stage, thinking?: boolean): ChatOpenAI | ChatAnthropic;
  /** It sends proofs back. */
  carries: boolean;
}

const CLIENTS: readonly Client[] = [
  {
    name: "ChatOpenAI",
    model: (at) =>
      new ChatOpenAI({
        model: at.model,
        apiKey: SECRET,
        configuration: { baseURL: `${at.url}/v1` },
        maxRetries: 0,
      }),
    carries: false,
  },
  {
    name: "ChatOpenAI with responses",
    model: (at) =>
      new ChatOpenAI({
        model: at.model,
        apiKey: SECRET,
        configuration: { baseURL: `${at.url}/v1` },
        maxRetries: 0,
        useResponsesApi: true,
        reasoning: { effort: "medium", summary: "auto" },
      }),
    carries: true,
  },
  {
    name: "ChatAnthropic",
    model: (at, thinking = true) =>
      new ChatAnthropic({
        model: at.model,
        apiKey: SECRET,
        anthropicApiUrl: at.url,
        maxRetries: 0,
        maxTokens: 8000,
        thinking: thinking ? { type: "enabled", budget_tokens: 2000 } : { type: "disabled" },
      }),
    carries: true,
  },
];

const WEATHER_OF = tool(({ city }: { city: string }) => {
  assertEquals(city, CITY);
  return WEATHER;
}, {
  name: WEATHER_TOOL.name,
  description: WEATHER_TOOL.description,
  schema: z.object({ city: z.string() }),
});

for (const client of CLIENTS) {
  for (const api of APIS) {
    for (const stream of [false, true]) {
      const method = stream ? "stream()" : "invoke()";
      Deno.test(`langchain ${client.name} ${method} runs a tool loop of ${api}`, async () => {
        await using at = await stage(api, DIALOGUE);
        const model = client.model(at).bindTools([WEATHER_OF]);
        const messages: BaseMessage[] = [new HumanMessage(QUESTION)];
        const turn = async () => {
          const answer = stream ? await joined(await model.stream(messages)) : await model.invoke(messages);
          messages.push(answer);
          return answer;
        };
        const first = await turn();
        assertEquals(first.tool_calls?.map((c) => [c.name, c.args]), [[WEATHER_TOOL.name, { city: CITY }]]);
        for (const call of first.tool_calls ?? []) {
          messages.push(await WEATHER_OF.invoke(call) as ToolMessage);
        }
        const second = await turn();
        assertEquals(second.text, ANSWER);
        assertEquals((second.usage_metadata?.output_tokens ?? 0) > 0, true);
        if (client.carries) assertCarried(at, 1, [PROOFS[0]]);
        else assertGoesOnWithout(at, 1);
        messages.push(new HumanMessage(THANKS));
        assertEquals((await turn()).text, LAST);
        if (client.carries) assertCarried(at, 2, PROOFS);
      });
    }

    Deno.test(`langchain ${client.name} withStructuredOutput() reads an answer of ${api}`, async () => {
      const event = { name: "Fair", people: ["Ann", "Bo"] };
      // ChatAnthropic asks for it through a tool, which cannot be forced while the model thinks.
      await using at = await stage(api, [
        client.name === "ChatAnthropic"
          ? { calls: [{ id: "call_J1", name: "event", input: event }] }
          : { text: JSON.stringify(event) },
      ]);
      const schema = z.object({ name: z.string(), people: z.array(z.string()) });
      const model = client.model(at, false).withStructuredOutput(schema, { name: "event" });
      assertEquals(await model.invoke("Ann and Bo go to a fair."), event);
      assertMatch(JSON.stringify(at.seen[0].body), /"people\\?"/);
    });
  }
}

/** A stream's chunks as one message. */
async function joined(chunks: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | undefined;
  for await (const chunk of chunks) whole = whole ? whole.concat(chunk) : chunk;
  if (!whole) throw new Error("nothing was streamed");
  return whole;
}
