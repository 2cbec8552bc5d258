/** Clients that test a model with an output limit of one token, as Claude Code's /model does. */
import { assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { scriptedProvider } from "../support/script/mod.ts";

const refusal = (message: string) => () =>
  Response.json({ error: { message, type: "invalid_request_error", param: null, code: null } }, {
    status: 400,
  });
const SPENT = "Could not finish the message because max_tokens or model output limit was reached. " +
  "Please try again with higher max_tokens.";

const BODIES = {
  "/v1/chat/completions": { max_tokens: 1, messages: [{ role: "user", content: "hi" }] },
  "/v1/messages": { max_tokens: 1, messages: [{ role: "user", content: "hi" }] },
  "/v1/responses": { max_output_tokens: 1, input: "hi" },
};

// deno-lint-ignore no-explicit-any
type Any = any;

/** Why the answer ends, in its format. */
function reason(path: string, answer: Any): string {
  if (path.endsWith("completions")) return answer.choices[0].finish_reason;
  return path.endsWith("messages") ? answer.stop_reason : answer.incomplete_details.reason;
}

const REASONS = {
  "/v1/chat/completions": "length",
  "/v1/messages": "max_tokens",
  "/v1/responses": "max_output_tokens",
};

for (const [path, body] of Object.entries(BODIES)) {
  Deno.test(`an output limit that leaves room for nothing cuts the answer: ${path}`, async () => {
    const provider = scriptedProvider("openai-chat", Array.from({ length: 2 }, () => refusal(SPENT)));
    const gateway = await testGateway({
      p: { api: "openai-chat", url: provider.url, model: { routes: [{ provider: "p", model: "gpt-5.2" }] } },
    });
    const whole = await gateway.post(path, { model: "p/model", ...body });
    assertEquals(whole.status, 200);
    assertEquals(reason(path, await whole.json()), REASONS[path as keyof typeof REASONS]);
    const streamed = await gateway.post(path, { model: "p/model", stream: true, ...body });
    assertEquals(streamed.status, 200);
    const text = await streamed.text();
    const ends = text.split("\n").filter((line) => line.startsWith("data: {")).map((line) =>
      JSON.parse(line.slice(6))
    );
    assertEquals(ends.filter((e) => e.error !== undefined || e.type === "error"), [], text);
    assertEquals(text.includes(REASONS[path as keyof typeof REASONS]), true, text);
    const { data } = await gateway.gateway.accounts.generations({ limit: 5 });
    assertEquals(data, []);
    assertEquals(provider.seen.length, 2);
    await gateway.close();
    await provider.close();
  });
}

Deno.test("another refusal stays one", async () => {
  const provider = scriptedProvider("openai-chat", [
    refusal("Invalid 'max_tokens': integer below minimum value."),
  ]);
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  const answer = await gateway.post("/v1/messages", { model: "p/model", ...BODIES["/v1/messages"] });
  assertEquals([answer.status, (await answer.json()).error.code], [400, "provider_bad_request"]);
  await gateway.close();
  await provider.close();
});
