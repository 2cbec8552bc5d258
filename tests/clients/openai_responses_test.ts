/** The `openai` package over responses, in front of every provider API. */
import { assertEquals, assertMatch } from "@std/assert";
import OpenAI from "openai";
import { ResponsesToolRunner } from "openai/helpers/responses-tool-runner";
import { zodTextFormat } from "openai/helpers/zod";
import type { ResponseInputItem } from "openai/resources/responses/responses";
import { z } from "zod";
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

function client(at: Stage): OpenAI {
  return new OpenAI({ apiKey: SECRET, baseURL: `${at.url}/v1`, maxRetries: 0 });
}

const TOOL = {
  type: "function" as const,
  name: WEATHER_TOOL.name,
  description: WEATHER_TOOL.description,
  parameters: WEATHER_TOOL.schema,
  strict: true,
};

const REASONING = { effort: "medium", summary: "auto" } as const;

/** The results that a caller owes for an answer's calls. */
function outputs(output: OpenAI.Responses.ResponseOutputItem[]): ResponseInputItem[] {
  return output.filter((item) => item.type === "function_call").map((item) => {
    assertEquals(JSON.parse(item.arguments), { city: CITY });
    return { type: "function_call_output", call_id: item.call_id, output: WEATHER };
  });
}

for (const api of APIS) {
  Deno.test(`openai responses.create() carries reasoning through a tool loop of ${api}`, async () => {
    await using at = await stage(api, DIALOGUE);
    const { responses } = client(at);
    const ask = { model: at.model, tools: [TOOL], reasoning: REASONING };
    const input: ResponseInputItem[] = [{ role: "user", content: QUESTION }];
    const first = await responses.create({ ...ask, input });
    assertEquals(first.status, "completed");
    input.push(...first.output as ResponseInputItem[], ...outputs(first.output));
    const second = await responses.create({ ...ask, input });
    assertEquals(second.output_text, ANSWER);
    assertCarried(at, 1, [PROOFS[0]]);
    input.push(...second.output as ResponseInputItem[], { role: "user", content: THANKS });
    const third = await responses.create({ ...ask, input });
    assertEquals(third.output_text, LAST);
    assertEquals(third.usage && third.usage.total_tokens > 0, true);
    assertCarried(at, 2, PROOFS);
  });

  Deno.test(`openai responses.stream() carries reasoning through a tool loop of ${api}`, async () => {
    await using at = await stage(api, DIALOGUE);
    const { responses } = client(at);
    const ask = { model: at.model, tools: [TOOL], reasoning: REASONING };
    const input: ResponseInputItem[] = [{ role: "user", content: QUESTION }];
    const reasoned: string[] = [];
    const said: string[] = [];
    const turn = async () => {
      const stream = responses.stream({ ...ask, input })
        .on("response.output_text.delta", (event) => said.push(event.delta))
        .on("response.reasoning_summary_text.delta", (event) => reasoned.push(event.delta))
        .on("response.reasoning_text.delta", (event) => reasoned.push(event.delta));
      return await stream.finalResponse();
    };
    const first = await turn();
    // The helper adds a field of its own to calls, which real callers leave in place.
    input.push(...first.output as ResponseInputItem[], ...outputs(first.output));
    const second = await turn();
    assertEquals(second.output_text, ANSWER);
    assertEquals(said.join(""), ANSWER);
    assertEquals(reasoned.join("|").replaceAll("|", ""), REASONINGS.join(""));
    assertCarried(at, 1, [PROOFS[0]]);
    input.push(...second.output as ResponseInputItem[], { role: "user", content: THANKS });
    assertEquals((await turn()).output_text, LAST);
    assertCarried(at, 2, PROOFS);
  });

  for (const stream of [false, true]) {
    const how = stream ? "a streamed" : "a";
    Deno.test(`openai ResponsesToolRunner runs ${how} tool loop of ${api}`, async () => {
      await using at = await stage(api, DIALOGUE);
      const asked: unknown[] = [];
      const runner = new ResponsesToolRunner({
        functions: [{
          tool: TOOL,
          execute: ({ city }) => {
            asked.push(city);
            return WEATHER;
          },
        }],
      });
      const input = [{ type: "message" as const, role: "user" as const, content: QUESTION }];
      const final = await runner.run(client(at), { model: at.model, input, reasoning: REASONING }, {
        stream,
      });
      runner.close();
      assertEquals(final.output_text, ANSWER);
      assertEquals(asked, [CITY]);
      assertCarried(at, 1, [PROOFS[0]]);
    });
  }

  Deno.test(`openai responses.parse() reads a structured answer of ${api}`, async () => {
    const event = { name: "Fair", people: ["Ann", "Bo"] };
    await using at = await stage(api, [{ text: JSON.stringify(event) }]);
    const schema = z.object({ name: z.string(), people: z.array(z.string()) });
    const response = await client(at).responses.parse({
      model: at.model,
      instructions: "Take out the event.",
      input: "Ann and Bo go to a fair.",
      text: { format: zodTextFormat(schema, "event") },
    });
    assertEquals(response.output_parsed, event);
    assertMatch(JSON.stringify(at.seen[0].body), /"people\\?"/);
  });
}

Deno.test("openai responses.stream() ends an answer that a cap cut as incomplete", async () => {
  await using at = await stage("gemini", [{ text: ANSWER, cut: true }]);
  const response = await client(at).responses.stream({ model: at.model, input: QUESTION }).finalResponse();
  assertEquals(response.status, "incomplete");
  assertEquals(response.incomplete_details?.reason, "max_output_tokens");
  assertEquals(response.output_text, ANSWER);
});
