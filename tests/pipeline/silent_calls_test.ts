/** Requests of several calls, of which a provider reports the tokens of some or of none: each is billed, in its own tier. */
import { assertEquals } from "@std/assert";
import { loopbackProvider } from "../support/provider.ts";
import { SECRET, testGateway } from "../support/gateway.ts";

const CHARS = 4000;
const WORDS = "hello there my friend";
const REPORTED = { input_tokens: 900, output_tokens: 5 };
// By estimate a call has 1000 tokens of input and 6 of output.
const CASES = [
  { reports: [true, true, true], input: 2700, output: 15, estimated: false },
  { reports: [true, false, true], input: 2800, output: 16, estimated: true },
  { reports: [false, false, false], input: 3000, output: 18, estimated: true },
];

for (const { reports, input, output, estimated } of CASES) {
  const told = reports.filter((one) => one).length;
  Deno.test(`three answers, of which the provider reports ${told}, are billed as three calls`, async () => {
    const provider = loopbackProvider((_, nth) =>
      Response.json({
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "model",
        content: [{ type: "text", text: WORDS }],
        stop_reason: "end_turn",
        ...(reports[nth] && { usage: REPORTED }),
      })
    );
    const gateway = await testGateway({
      p: {
        api: "anthropic-messages",
        url: provider.url,
        model: {
          pricing: { prompt: "0.01", completion: "0.01" },
          // All together have more, none of them has.
          pricing_tiers: [{ above_input_tokens: 2000, prompt: "0.1", completion: "0.1" }],
        },
      },
    });
    const response = await gateway.post("/v1/chat/completions", {
      model: "p/model",
      n: reports.length,
      max_tokens: 50,
      messages: [{ role: "user", content: "x".repeat(CHARS) }],
    });
    const { usage } = await response.json();
    assertEquals([usage.prompt_tokens, usage.completion_tokens], [input, output]);
    const id = response.headers.get("x-request-id");
    const headers = { authorization: `Bearer ${SECRET}` };
    const record = await (await fetch(`${gateway.url}/v1/generations/${id}`, { headers })).json();
    assertEquals([record.usage.input_tokens, record.usage.output_tokens], [input, output]);
    assertEquals(record.usage_estimated, estimated);
    assertEquals(Number(record.cost), (input + output) / 100);
    await gateway.close();
    await provider.close();
  });
}
