/** Headers of a provider's calls: whose win, and requests that fit the version of the API that they are sent under. */
import { assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const ANSWER = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "Hello" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};
const ASK = [{ role: "user", content: "Hi" }];

async function exchange(
  more: Record<string, unknown>,
  path: string,
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
) {
  const provider = loopbackProvider(() => Response.json(ANSWER));
  const gateway = await testGateway({ p: { api: "anthropic-messages", url: `${provider.url}/v1`, more } });
  try {
    const response = await gateway.post(path, { model: "p/model", max_tokens: 99, messages: ASK, ...body }, {
      headers,
    });
    assertEquals(response.status, 200, await response.clone().text());
    await response.body?.cancel();
    const [seen] = provider.seen;
    return { seen, dropped: response.headers.get("x-svc-dropped") };
  } finally {
    await gateway.close();
    await provider.close();
  }
}

Deno.test("the operator's headers win over the caller's, and lists of betas join", async () => {
  const headers = {
    "Anthropic-Version": "2023-06-01",
    "anthropic-beta": "a, b",
    "anthropic-custom": "operator",
  };
  const { seen } = await exchange({ headers }, "/v1/messages", {}, {
    "anthropic-version": "2026-10-21",
    "anthropic-beta": "b,c",
    "anthropic-custom": "caller",
    "anthropic-other": "caller",
  });
  assertEquals(seen.headers.get("anthropic-version"), "2023-06-01");
  assertEquals(seen.headers.get("anthropic-beta"), "a,b,c");
  assertEquals(seen.headers.get("anthropic-custom"), "operator");
  assertEquals(seen.headers.get("anthropic-other"), "caller");
});

Deno.test("a caller's version goes on unless the provider does not know it", async () => {
  const asked = { "anthropic-version": "2026-10-21" };
  const version = async (more: Record<string, unknown>, headers: Record<string, string>) =>
    (await exchange(more, "/v1/messages", {}, headers)).seen.headers.get("anthropic-version");
  assertEquals(await version({}, asked), "2026-10-21");
  assertEquals(await version({}, {}), "2023-06-01");
  assertEquals(await version({ max_version: "2023-06-01" }, asked), "2023-06-01");
  assertEquals(await version({ max_version: "2026-10-21" }, asked), "2026-10-21");
  assertEquals(await version({ max_version: "2026-10-21" }, {}), "2023-06-01");
});

Deno.test("requests fit a newer version that the operator chose, and what is left out is listed", async () => {
  const headers = { "anthropic-version": "2026-10-21" };
  const citations = [{
    type: "char_location",
    cited_text: "x",
    document_index: 0,
    start_char_index: 0,
    end_char_index: 1,
  }];
  const document = { type: "document", source: { type: "text", media_type: "text/plain", data: "x" } };
  const body = {
    temperature: 1,
    top_k: 4,
    stop_sequences: ["END"],
    messages: [
      { role: "user", content: [{ type: "text", text: "Hi", citations }] },
      { role: "assistant", content: [{ type: "text", text: "Hello" }, document] },
      { role: "user", content: "Go on" },
    ],
  };
  const { seen, dropped } = await exchange({ headers }, "/v1/messages", body);
  assertEquals(seen.body.temperature, undefined);
  assertEquals(seen.body.stop_sequences, ["END"]);
  assertEquals(dropped, "temperature, top_k, citations");
  assertEquals(seen.body.messages, [
    { role: "user", content: [{ type: "text", text: "Hi" }] },
    { role: "assistant", content: [{ type: "text", text: "Hello" }] },
    { role: "user", content: [{ type: "text", text: "Go on" }, document] },
  ]);
  // Whoever writes for the version gets it as it is.
  const own = await exchange({ headers }, "/v1/messages", body, { "anthropic-version": "2026-10-21" });
  assertEquals([own.seen.body.temperature, own.dropped], [1, null]);
  const chat = await exchange({ headers }, "/v1/chat/completions", { temperature: 0.5 });
  assertEquals([chat.seen.body.temperature, chat.dropped], [undefined, "temperature"]);
});
