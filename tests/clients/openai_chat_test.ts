/** The `openai` package over chat-completions, in front of every provider API. */
import { assertEquals, assertMatch } from "@std/assert";
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
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

function client(at: Stage): OpenAI {
  return new OpenAI({ apiKey: SECRET, baseURL: `${at.url}/v1`, maxRetries: 0 });
}

const TOOL = {
  type: "function" as const,
  function: {
    name: WEATHER_TOOL.name,
    description: WEATHER_TOOL.description,
    parameters: WEATHER_TOOL.schema,
  },
};

/** The same with what the package's runner calls. `asked` gets the cities. */
function runnable(asked: string[]) {
  return {
    type: "function" as const,
    function: {
      ...TOOL.function,
      parse: JSON.parse,
      function: ({ city }: { city: string }) => {
        asked.push(city);
        return WEATHER;
      },
    },
  };
}

for (const api of APIS) {
  Deno.test(`openai chat.completions.create() carries reasoning through a tool loop of ${api}`, async () => {
    await using at = await stage(api, DIALOGUE);
    const { completions } = client(at).chat;
    const ask = { model: at.model, tools: [TOOL], reasoning_effort: "medium" as const };
    const messages: ChatCompletionMessageParam[] = [{ role: "user", content: QUESTION }];
    const first = await completions.create({ ...ask, messages });
    const [choice] = first.choices;
    assertEquals(choice.finish_reason, "tool_calls");
    const [call] = choice.message.tool_calls ?? [];
    assertEquals(call.type === "function" && JSON.parse(call.function.arguments), { city: CITY });
    messages.push(choice.message, { role: "tool", tool_call_id: call.id, content: WEATHER });
    const second = await completions.create({ ...ask, messages });
    assertEquals(second.choices[0].message.content, ANSWER);
    assertCarried(at, 1, [PROOFS[0]]);
    messages.push(second.choices[0].message, { role: "user", content: THANKS });
    const third = await completions.create({ ...ask, messages });
    assertEquals(third.choices[0].message.content, LAST);
    assertEquals(third.usage && third.usage.total_tokens > 0, true);
    assertCarried(at, 2, PROOFS);
  });

  Deno.test(`openai chat.completions.runTools() runs a tool loop of ${api}`, async () => {
    await using at = await stage(api, DIALOGUE);
    const asked: string[] = [];
    const runner = client(at).chat.completions.runTools({
      model: at.model,
      messages: [{ role: "user", content: QUESTION }],
      tools: [runnable(asked)],
      reasoning_effort: "medium",
    });
    assertEquals(await runner.finalContent(), ANSWER);
    assertEquals(asked, [CITY]);
    assertGoesOnWithout(at, 1);
  });

  Deno.test(`openai chat.completions.runTools() runs a streamed tool loop of ${api}`, async () => {
    await using at = await stage(api, DIALOGUE);
    const asked: string[] = [];
    const runner = client(at).chat.completions.runTools({
      model: at.model,
      messages: [{ role: "user", content: QUESTION }],
      tools: [runnable(asked)],
      reasoning_effort: "medium",
      stream: true,
    });
    assertEquals(await runner.finalContent(), ANSWER);
    assertEquals(asked, [CITY]);
    assertGoesOnWithout(at, 1);
  });

  Deno.test(`openai chat.completions.stream() adds up what ${api} streams`, async () => {
    await using at = await stage(api, [DIALOGUE[1]]);
    const stream = client(at).chat.completions.stream({
      model: at.model,
      messages: [{ role: "user", content: QUESTION }],
    });
    const deltas: string[] = [];
    stream.on("content", (delta) => deltas.push(delta));
    const completion = await stream.finalChatCompletion();
    assertEquals(deltas.join(""), ANSWER);
    assertEquals(deltas.length > 1, true);
    assertEquals(completion.choices[0].message.content, ANSWER);
    assertEquals(completion.choices[0].finish_reason, "stop");
    assertEquals(completion.model, at.model);
    // Nobody asked for it: the last chunk has it anyway.
    assertEquals(completion.usage && completion.usage.completion_tokens > 0, true);
    assertMatch(completion.id, /^(chatcmpl|gen)/);
  });

  Deno.test(`openai chat.completions.parse() reads a structured answer of ${api}`, async () => {
    const event = { name: "Fair", people: ["Ann", "Bo"] };
    await using at = await stage(api, [{ text: JSON.stringify(event) }]);
    const schema = z.object({ name: z.string(), people: z.array(z.string()) });
    const completion = await client(at).chat.completions.parse({
      model: at.model,
      messages: [{ role: "user", content: "Ann and Bo go to a fair." }],
      response_format: zodResponseFormat(schema, "event"),
    });
    assertEquals(completion.choices[0].message.parsed, event);
    assertMatch(JSON.stringify(at.seen[0].body), /"people\\?"/);
  });
}
