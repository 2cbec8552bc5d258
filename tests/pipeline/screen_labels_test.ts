/** What is shown of a call's tags and session where data-loss prevention has a say in them. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const ADMIN = "admin-key-0123456789abcdef";
const CARD = "4111111111111111";
const MAIL = "jane@corp.example";
const LABELLED = { user: MAIL, metadata: { card: CARD }, prompt_cache_key: CARD };

/** The events of one call that a watcher of the console gets, with its end. */
async function watched(path: string, body: unknown): Promise<string> {
  const provider = loopbackProvider(() => Response.json({}, { status: 400 }));
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, { admin_key: ADMIN });
  try {
    const live = await fetch(`${gateway.url}/admin/live`, { headers: { authorization: `Bearer ${ADMIN}` } });
    await gateway.post(path, body).then((response) => response.body?.cancel());
    let events = "";
    for await (const text of live.body!.pipeThrough(new TextDecoderStream())) {
      events += text;
      if (events.includes("event: end")) break;
    }
    return events;
  } finally {
    await gateway.close();
    await provider.close();
  }
}

for (const path of ["/v1/chat/completions", "/v1/responses"]) {
  Deno.test(`a call to ${path} that screening refuses shows no value as its tag or session`, async () => {
    const events = await watched(path, {
      model: "p/model",
      ...(path === "/v1/responses" ? { input: "a" } : { messages: [{ role: "user", content: "a" }] }),
      ...LABELLED,
      plugins: { dlp: { mode: "block" } },
    });
    assertStringIncludes(events, `"error_code":"dlp_violation"`);
    assert(!events.includes(MAIL) && !events.includes(CARD), events);
  });
}

Deno.test("a call that is refused behind its screening keeps its tags, masked", async () => {
  const events = await watched("/v1/chat/completions", {
    model: "p/none",
    messages: [{ role: "user", content: "a" }],
    ...LABELLED,
    plugins: { dlp: { mode: "mask" } },
  });
  const end = JSON.parse(events.slice(events.indexOf("event: end")).split("data: ")[1]);
  assertMatch(end.tags.user, /^<EMAIL_ADDRESS_1>#[0-9a-f]{12}$/);
  assertMatch(end.tags.card, /^<CREDIT_CARD_1>#[0-9a-f]{12}$/);
  assertEquals(end.error_code, "model_not_found");
});

for (const path of ["/v1/chat/completions", "/v1/messages", "/v1/responses"]) {
  Deno.test(`${path}: users and sessions that a mask hides have a label and a budget each, the same in every request`, async () => {
    const provider = loopbackProvider(leastAnswer);
    const gateway = await testGateway({
      p: {
        api: "openai-chat",
        url: `${provider.url}/v1`,
        model: { pricing: { prompt: "0.00001", completion: "0.00001" } },
      },
    }, {
      dlp_policies: { safe: { mode: "mask", entity_types: ["EMAIL_ADDRESS"] } },
      keys: [{
        name: "test",
        secret: SECRET,
        dlp_policy: "safe",
        tag_limits: [{ tag: "user", amount: "0.01", period: "total" }],
      }],
    });
    const request = (mail: string, text: string) => ({
      model: "p/model",
      ...(path === "/v1/responses"
        ? { input: text, max_output_tokens: 16 }
        : { messages: [{ role: "user", content: text }], max_tokens: 16 }),
      ...(path === "/v1/messages" ? { metadata: { user_id: mail } } : { user: mail, prompt_cache_key: mail }),
    });
    const ask = async (mail: string, text: string) => {
      const response = await gateway.post(path, request(mail, text));
      await response.body?.cancel();
      return response.status;
    };
    const isAllowed = async (mail: string, text: string) => {
      const format = path.slice(4).replace("/", "_");
      const response = await gateway.post(`/v1/estimate?format=${format}`, request(mail, text));
      return (await response.json()).allowed;
    };
    const long = "word ".repeat(150);
    // An estimate reads the request as it came, and a pseudonym may be longer than what it stands for.
    const longer = "word ".repeat(160);
    assertEquals(await ask(MAIL, "Hello"), 200);
    // Its placeholder has another number here.
    assertEquals(await ask(MAIL, "Write to bob@corp.example"), 200);
    assertEquals(await ask("bob@corp.example", "Hello"), 200);
    // What one has spent is not missing for another.
    let asked = 0;
    while (await ask(MAIL, long) === 200) assert(++asked < 1000);
    assertEquals([await isAllowed(MAIL, longer), await isAllowed("carol@corp.example", longer)], [
      false,
      true,
    ]);
    assertEquals(await ask("carol@corp.example", long), 200);
    const { data } = await gateway.gateway.accounts.generations({ limit: 1000 });
    const [carol] = data;
    const [first, second, bob] = data.toReversed();
    const tags = [first, bob, carol].map(({ tags }) => tags.user);
    assertEquals(new Set(tags).size, 3);
    for (const tag of tags) assertMatch(tag, /^<EMAIL_ADDRESS_1>#[0-9a-f]{12}$/);
    assertEquals([second.tags, second.session], [first.tags, first.session]);
    if (path !== "/v1/messages") assertEquals(first.session, tags[0]);
    assert(!JSON.stringify(data).includes("@corp.example"));
    await gateway.close();
    await provider.close();
  });
}
