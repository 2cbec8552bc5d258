/** What a provider reports of its tokens may be anything: it is never billed beyond what the model holds, and marked. */
import { assert, assertEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { type Api, testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";

const CONTEXT = 1000;
const APIS: Record<string, Api> = {
  chat: "openai-chat",
  messages: "anthropic-messages",
  responses: "openai-responses",
  gemini: "gemini",
};
/** As JSON, which can hold more than a number. */
const ABSURD = ["9e15", "1e300", "1e999", "90071992547409931234", "-5", '"12"', "true", "{}", "[7]"];
const FIELDS = {
  input: /"(prompt_tokens|input_tokens|promptTokenCount)":3/g,
  output: /"(completion_tokens|output_tokens|candidatesTokenCount)":1/g,
};

type Field = keyof typeof FIELDS;

/** An answer whose counts say `value`. */
async function answerWith(seen: Seen, value: string, fields: Field[]): Promise<Response> {
  const answer = leastAnswer(seen);
  let text = (await answer.text()).replace(/,"total(_tokens|TokenCount)":4/g, "");
  for (const field of fields) text = text.replace(FIELDS[field], `"$1":${value}`);
  return new Response(text, { headers: answer.headers });
}

Deno.test("reports of tokens that no model can have are bounded, marked and said, in every format", async () => {
  let value = "";
  let fields: Field[] = [];
  const provider = loopbackProvider((seen) => answerWith(seen, value, fields));
  const model = { context_length: CONTEXT, pricing: { prompt: "0.001", completion: "0.001" } };
  const gateway = await testGateway(
    Object.fromEntries(
      Object.entries(APIS).map(([name, api]) => [name, { api, url: provider.url, model }]),
    ),
  );
  try {
    let calls = 0;
    let billed = 0;
    for (const name of Object.keys(APIS)) {
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
