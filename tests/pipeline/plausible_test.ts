/** What a provider reports of its tokens may be anything: it is never billed beyond what the model holds, and marked. */
import { assert, assertEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { binaryOf } from "../support/event_stream.ts";
import { testGateway, type TestProvider } from "../support/gateway.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";

const CONTEXT = 1000;
const MODEL = { context_length: CONTEXT, pricing: { prompt: "0.001", completion: "0.001", web_search: "1" } };

/** A provider of each API at an address. */
function providers(url: string, model: TestProvider["model"] = MODEL): Record<string, TestProvider> {
  return {
    chat: { api: "openai-chat", url, model },
    messages: { api: "anthropic-messages", url, model },
    responses: { api: "openai-responses", url, model },
    gemini: { api: "gemini", url, model },
    converse: { api: "bedrock-converse", url, model, more: { preset: "bedrock", region: "eu-central-1" } },
  };
}
/** As JSON, which can hold more than a number. */
const ABSURD = ["9e15", "1e300", "1e999", "90071992547409931234", "-5", '"many"', "true", "{}", "[7]"];
const FIELDS = {
  input: /"(prompt_tokens|input_tokens|promptTokenCount|inputTokens)":3/g,
  output: /"(completion_tokens|output_tokens|candidatesTokenCount|outputTokens)":1/g,
};

type Field = keyof typeof FIELDS;

/** An answer whose counts say `value`. */
async function answerWith(seen: Seen, value: string, fields: Field[]): Promise<Response> {
  const converse = seen.path.includes("/converse");
  const answer = converse ? null : leastAnswer(seen);
  const streamed = seen.path.endsWith("-stream");
  const said = answer === null ? converseAnswer(streamed) : await answer.text();
  let text = said.replace(/,"total(_tokens|TokenCount|Tokens)":4/g, "");
  for (const field of fields) text = text.replace(FIELDS[field], `"$1":${value}`);
  return streamed
    ? new Response(binaryOf(text), { headers: { "content-type": "application/vnd.amazon.eventstream" } })
    : new Response(text, { headers: answer?.headers ?? { "content-type": "application/json" } });
}

/** "hi", 3 tokens in and 1 out. */
function converseAnswer(streamed: boolean): string {
  const usage = { inputTokens: 3, outputTokens: 1, totalTokens: 4 };
  if (!streamed) {
    const message = { role: "assistant", content: [{ text: "hi" }] };
    return JSON.stringify({ output: { message }, stopReason: "end_turn", usage });
  }
  const event = (type: string, data: unknown) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  return event("messageStart", { role: "assistant" }) +
    event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "hi" } }) +
    event("contentBlockStop", { contentBlockIndex: 0 }) +
    event("messageStop", { stopReason: "end_turn" }) + event("metadata", { usage });
}

Deno.test("reports of tokens that no model can have are bounded, marked and said, in every format", async () => {
  let value = "";
  let fields: Field[] = [];
  const provider = loopbackProvider((seen) => answerWith(seen, value, fields));
  const apis = providers(provider.url);
  const gateway = await testGateway(apis);
  try {
    let calls = 0;
    let billed = 0;
    for (const name of Object.keys(apis)) {
      for (value of ABSURD) {
        for (fields of [["input"], ["output"], ["input", "output"]] as Field[][]) {
          for (const stream of [true, false]) {
            const what = `${name} ${value} ${fields} stream ${stream}`;
            gateway.logged.length = 0;
            const response = await gateway.post("/v1/chat/completions", {
              model: `${name}/model`,
              stream,
              max_tokens: 20,
              messages: [{ role: "user", content: "a few words to begin with" }],
            });
            const text = await response.text();
            assertEquals(response.status, 200, what + text);
            assert(!text.includes('"error"'), what + text);
            calls++;
            const { accounts } = gateway.gateway;
            await accounts.flush();
            const id = response.headers.get("x-request-id")!;
            const { usage, cost, usage_estimated } = await accounts.generation(id);
            assert(usage, what);
            const { input_tokens: input, output_tokens: output } = usage as Record<string, number>;
            assert(
              input > 0 && input <= CONTEXT && output > 0 && output <= CONTEXT,
              `${what}: ${input} ${output}`,
            );
            assertEquals(Number(cost), (input + output) / 1000, what);
            billed += input + output;
            assertEquals(usage_estimated, true, what);
            // The caller is told what is billed.
            assert(text.includes(`"completion_tokens":${output}`), what + text);
          }
        }
      }
    }
    const [sum] = (await gateway.gateway.accounts.usage({ by: "key" })).data;
    assertEquals([sum.generations, sum.input_tokens + sum.output_tokens], [calls, billed]);
  } finally {
    await gateway.close();
    await provider.close();
  }
});

Deno.test("a fraction of a token is none, and a cap that the caller names does not raise what a model can hold", async () => {
  let value = "2.7";
  const provider = loopbackProvider((seen) => answerWith(seen, value, ["output"]));
  const gateway = await testGateway({
    p: { api: "openai-chat", url: provider.url, model: { context_length: CONTEXT } },
  });
  try {
    const ask = async () => {
      const response = await gateway.post("/v1/chat/completions", {
        model: "p/model",
        max_tokens: 1_000_000,
        messages: [{ role: "user", content: "hi" }],
      });
      return (await response.json()).usage.completion_tokens;
    };
    assertEquals(await ask(), 2);
    value = "500000";
    assertEquals(await ask(), CONTEXT);
  } finally {
    await gateway.close();
    await provider.close();
  }
});

Deno.test("searches that a provider says it made are billed, with its own tools and without them, as far as they can be true", async () => {
  let told = "";
  const provider = loopbackProvider(async (seen) => {
    const answer = leastAnswer(seen);
    const text = (await answer.text()).replaceAll(
      '"input_tokens":3',
      `"input_tokens":3,"server_tool_use":{"web_search_requests":${told}}`,
    );
    return new Response(text, { headers: answer.headers });
  });
  const gateway = await testGateway({ p: { api: "anthropic-messages", url: provider.url, model: MODEL } });
  const tools = [{ type: "mcp_toolset", mcp_server_name: "elsewhere" }];
  try {
    for (told of ["9e15", "1e300", "1001", "1000", "50", "2.7", "-5", '"7"', '"x"', "null"]) {
      for (const more of [{}, { tools }]) {
        for (const stream of [true, false]) {
          const response = await gateway.post("/v1/messages", {
            model: "p/model",
            max_tokens: 20,
            messages: [{ role: "user", content: "hi" }],
            stream,
            ...more,
          });
          const text = await response.text();
          assertEquals(response.status, 200, text);
          const { accounts } = gateway.gateway;
          await accounts.flush();
          const record = await accounts.generation(response.headers.get("x-request-id")!);
          const count = Math.floor(Number(told.replaceAll('"', "")));
          const searches = count > 1000 ? 20 : count > 0 ? count : 0;
          assertEquals(record.searches, searches, `${told} ${text}`);
          assertEquals(Number(record.cost), searches + 0.004, told);
          const shown = /"web_search_requests":(\d+)/.exec(text)?.[1] ?? "0";
          assertEquals(Number(shown), searches, text);
        }
      }
    }
  } finally {
    await gateway.close();
    await provider.close();
  }
});
