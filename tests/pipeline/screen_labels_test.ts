/** What is shown of a call's tags and session where data-loss prevention has a say in them. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const ADMIN = "admin-key-0123456789abcdef";
const CARD = "4111111111111111";
const MAIL = "jane@corp.example";
const LABELLED = { user: MAIL, metadata: { card: CARD }, prompt_cache_key: CARD };

/** What a watcher of the console is told of one call, its end included. */
async function toldOf(path: string, body: unknown): Promise<string> {
  const provider = loopbackProvider(() => Response.json({}, { status: 400 }));
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, { admin_key: ADMIN });
  try {
    const live = await fetch(`${gateway.url}/admin/live`, { headers: { authorization: `Bearer ${ADMIN}` } });
    await gateway.post(path, body).then((response) => response.body?.cancel());
    let told = "";
    for await (const text of live.body!.pipeThrough(new TextDecoderStream())) {
      told += text;
      if (told.includes("event: end")) break;
    }
    return told;
  } finally {
    await gateway.close();
    await provider.close();
  }
}

for (const path of ["/v1/chat/completions", "/v1/responses"]) {
  Deno.test(`a call to ${path} that screening refuses shows no value as its tag or session`, async () => {
    const told = await toldOf(path, {
      model: "p/model",
      ...(path === "/v1/responses" ? { input: "a" } : { messages: [{ role: "user", content: "a" }] }),
      ...LABELLED,
      plugins: { dlp: { mode: "block" } },
    });
    assertStringIncludes(told, `"error_code":"dlp_violation"`);
    assert(!told.includes(MAIL) && !told.includes(CARD), told);
  });
}

Deno.test("a call that is refused behind its screening keeps its tags, masked", async () => {
  const told = await toldOf("/v1/chat/completions", {
    model: "p/none",
    messages: [{ role: "user", content: "a" }],
    ...LABELLED,
    plugins: { dlp: { mode: "mask" } },
  });
  const end = JSON.parse(told.slice(told.indexOf("event: end")).split("data: ")[1]);
  assertEquals(end.tags, { user: "<EMAIL_ADDRESS_1>", card: "<CREDIT_CARD_1>" });
  assertEquals(end.error_code, "model_not_found");
});
