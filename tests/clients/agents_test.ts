/** `@openai/agents` over responses and over chat-completions, in front of every provider API. */
import { assertEquals } from "@std/assert";
import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
  tool,
  user,
} from "@openai/agents";
import OpenAI from "openai";
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

setTracingDisabled(true);

function openai(at: Stage): OpenAI {
  return new OpenAI({ apiKey: SECRET, baseURL: `${at.url}/v1`, maxRetries: 0 });
}

const CLIENTS = [
  {
    name: "responses",
    model: (at: Stage) => new OpenAIResponsesModel(openai(at), at.model),
    carries: true,
  },
  {
    name: "chat-completions",
    model: (at: Stage) => new OpenAIChatCompletionsModel(openai(at), at.model),
    carries: false,
  },
] as const;

for (const client of CLIENTS) {
  for (const api of APIS) {
    for (const stream of [false, true]) {
      Deno.test(`agents ${stream ? "streams" : "runs"} a tool loop of ${api} over ${client.name}`, async () => {
        await using at = await stage(api, DIALOGUE);
        const asked: string[] = [];
        const agent = new Agent({
          name: "Packer",
          instructions: "Say what to pack.",
          model: client.model(at),
          modelSettings: { reasoning: { effort: "medium", summary: "auto" } },
          tools: [tool({
            name: WEATHER_TOOL.name,
            description: WEATHER_TOOL.description,
            parameters: z.object({ city: z.string() }),
            execute: ({ city }) => {
              asked.push(city);
              return WEATHER;
            },
          })],
        });
        const turn = async (input: Parameters<typeof run>[1]) => {
          if (!stream) return await run(agent, input);
          const result = await run(agent, input, { stream: true });
          let said = "";
          for await (const text of result.toTextStream()) said += text;
          await result.completed;
          assertEquals(said, result.finalOutput);
          return result;
        };
        const first = await turn(QUESTION);
        assertEquals(first.finalOutput, ANSWER);
        assertEquals(asked, [CITY]);
        // Over chat-completions a whole answer's calls keep the proofs that stand on them.
        if (client.carries || !stream) assertCarried(at, 1, [PROOFS[0]]);
        else assertGoesOnWithout(at, 1);
        const second = await turn([...first.history, user(THANKS)]);
        assertEquals(second.finalOutput, LAST);
        if (client.carries) assertCarried(at, 2, PROOFS);
        else if (!stream) assertCarried(at, 2, [PROOFS[0]]);
      });
    }
  }
}
