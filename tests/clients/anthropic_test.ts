/** The `@anthropic-ai/sdk` package, in front of every provider API. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import {
  ANSWER,
  APIS,
  assertCarried,
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

function client(at: Stage): Anthropic {
  return new Anthropic({ apiKey: SECRET, baseURL: at.url, maxRetries: 0 });
}

const TOOL: Anthropic.Tool = {
  name: WEATHER_TOOL.name,
  description: WEATHER_TOOL.description,
  input_schema: WEATHER_TOOL.schema,
};

const ASK = {
  max_tokens: 8000,
  thinking: { type: "enabled", budget_tokens: 2000 },
} as const;

Deno.test("models.list(), models.retrieve()", async () => {
  await using at = await stage(APIS[0], []);
  const anthropic = client(at);
  const ids: string[] = [];
  for await (const { id } of anthropic.models.list()) ids.push(id);
  assert(ids.length > 0 && ids.every((id) => id.includes("/")), String(ids));
  assertEquals((await anthropic.models.retrieve(ids[0])).id, ids[0]);
});

/** The results that a caller owes for a message's calls. */
function results(message: Anthropic.Message): Anthropic.MessageParam {
  assertEquals(message.stop_reason, "tool_use");
  return {
    role: "user",
    content: message.content.filter((block) => block.type === "tool_use").map((block) => {
      assertEquals(block.input, { city: CITY });
      return { type: "tool_result", tool_use_id: block.id, content: WEATHER };
    }),
  };
}

function textOf(message: { content: { type: string }[] }): string {
  return message.content.map((block) => "text" in block ? block.text : "").join("");
}

function thinkingOf(message: Anthropic.Message): string {
  return message.content.map((block) => block.type === "thinking" ? block.thinking : "").join("");
}

for (const api of APIS) {
  for (const stream of [false, true]) {
    const method = stream ? "stream()" : "create()";
    Deno.test(`anthropic messages.${method} keeps thinking over a tool loop of ${api}`, async () => {
      await using at = await stage(api, DIALOGUE);
      const anthropic = client(at);
      const messages: Anthropic.MessageParam[] = [{ role: "user", content: QUESTION }];
      const turn = (): Promise<Anthropic.Message> => {
        const ask = { ...ASK, model: at.model, tools: [TOOL], messages };
        return stream ? anthropic.messages.stream(ask).finalMessage() : anthropic.messages.create(ask);
      };
      const first = await turn();
      assertEquals(thinkingOf(first), REASONINGS[0]);
      messages.push({ role: "assistant", content: first.content }, results(first));
      const second = await turn();
      assertEquals(thinkingOf(second), REASONINGS[1]);
      assertEquals(textOf(second), ANSWER);
      assertCarried(at, 1, [PROOFS[0]]);
      messages.push({ role: "assistant", content: second.content }, { role: "user", content: THANKS });
      const third = await turn();
      assertEquals(textOf(third), LAST);
      assertEquals(third.stop_reason, "end_turn");
      assertEquals(third.usage.output_tokens > 0, true);
      assertCarried(at, 2, PROOFS);
    });

    Deno.test(`anthropic beta toolRunner() runs a tool loop of ${api} with ${method}`, async () => {
      await using at = await stage(api, DIALOGUE);
      const asked: string[] = [];
      const runner = client(at).beta.messages.toolRunner({
        ...ASK,
        model: at.model,
        messages: [{ role: "user", content: QUESTION }],
        tools: [betaTool({
          name: WEATHER_TOOL.name,
          description: WEATHER_TOOL.description,
          inputSchema: WEATHER_TOOL.schema,
          run: ({ city }) => {
            asked.push(city);
            return WEATHER;
          },
        })],
        stream,
      });
      assertEquals(textOf(await runner.runUntilDone()), ANSWER);
      assertEquals(asked, [CITY]);
      assertCarried(at, 1, [PROOFS[0]]);
    });
  }

  Deno.test(`anthropic messages.create() reads a structured answer of ${api}`, async () => {
    const event = { name: "Fair", people: ["Ann", "Bo"] };
    await using at = await stage(api, [{ text: JSON.stringify(event) }]);
    const message = await client(at).messages.create({
      model: at.model,
      max_tokens: 500,
      messages: [{ role: "user", content: "Ann and Bo go to a fair." }],
      output_config: {
        format: {
          type: "json_schema",
          schema: {
            type: "object",
            properties: { name: { type: "string" }, people: { type: "array", items: { type: "string" } } },
            required: ["name", "people"],
            additionalProperties: false,
          },
        },
      },
    });
    assertEquals(JSON.parse(textOf(message)), event);
    assertMatch(JSON.stringify(at.seen[0].body), /"people\\?"/);
  });
}

Deno.test("anthropic messages.countTokens() gets a count", async () => {
  await using at = await stage("gemini", []);
  const { input_tokens } = await client(at).messages.countTokens({
    model: at.model,
    messages: [{ role: "user", content: QUESTION }],
  });
  assertEquals(input_tokens > 5 && input_tokens < 50, true);
});
