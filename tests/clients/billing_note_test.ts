/**
 * The first text of Claude Code's system prompt is a note for Anthropic, with a number that differs in each request. It
 * reaches only Anthropic: Bedrock rejects it, and the prompt caches of others find nothing behind it.
 */
import { assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { scriptedProvider } from "../support/script/mod.ts";
import { cloud } from "../providers/credentials/cloud.ts";
import { models, rig } from "../providers/clouds/impostors.ts";
import { APIS } from "./support.ts";

const note = (cch: string) =>
  `x-anthropic-billing-header: cc_version=2.1.114.76c; cc_entrypoint=cli; cch=${cch};`;
const WORDS = "You are Claude Code.";
const block = (text: string, more = {}) => ({ type: "text", text, ...more });
const MARK = { cache_control: { type: "ephemeral" } };
const asked = (model: string, system: unknown) => ({
  model,
  max_tokens: 100,
  system,
  messages: [{ role: "user", content: "Hello" }],
});
const FORMS: ((cch: string) => unknown)[] = [
  (cch) => [block(note(cch)), block(WORDS, MARK)],
  (cch) => [block(`${note(cch)}\n${WORDS}`, MARK)],
  (cch) => `${note(cch)}\n\n${WORDS}`,
];

for (const api of APIS) {
  Deno.test(`the billing note of Claude Code does not reach other vendors: ${api}`, async () => {
    const provider = scriptedProvider(api, Array.from({ length: 8 }, () => ({ text: "Hi" })));
    // A model of another vendor, also with Anthropic's API.
    const gateway = await testGateway({ p: { api, url: provider.url } });
    for (const form of FORMS) {
      for (const cch of ["ea6aa", "71fea"]) {
        const response = await gateway.post("/v1/messages", asked("p/model", form(cch)));
        assertEquals([response.status, (await response.json()).content[0].text], [200, "Hi"]);
      }
      const [one, other] = provider.seen.slice(-2).map(({ text }) => text);
      assertEquals(one, other);
      assertEquals([one.includes("x-anthropic"), one.includes(WORDS)], [false, true]);
    }
    // Nothing but the note, and a text that only mentions it.
    for (const system of [[block(note("1"))], [block(`Explain ${note("1")}`)]]) {
      assertEquals(
        (await gateway.post("/v1/messages", asked("p/model", system)).then((r) => (r.json()))).type,
        "message",
      );
    }
    assertEquals(provider.seen.slice(-2).map(({ text }) => text.includes("x-anthropic")), [false, true]);
    await gateway.close();
    await provider.close();
  });
}

Deno.test("the billing note of Claude Code reaches Anthropic as it is", async () => {
  const provider = scriptedProvider("anthropic-messages", FORMS.map(() => ({ text: "Hi" })));
  const gateway = await testGateway({
    p: {
      api: "anthropic-messages",
      url: provider.url,
      model: { routes: [{ provider: "p", model: "claude-sonnet-4-6" }] },
    },
  });
  for (const form of FORMS) {
    await (await gateway.post("/v1/messages", asked("p/model", form("ea6aa")))).body?.cancel();
  }
  assertEquals(provider.seen.map(({ body }) => body.system), FORMS.map((form) => form("ea6aa")));
  await gateway.close();
  await provider.close();
});

Deno.test("the billing note of Claude Code does not reach the clouds", async () => {
  await using upstream = cloud(() => Response.json({}, { status: 400 }));
  await using gateway = await rig({
    providers: {
      bedrock: { region: "eu-central-1", base_url: upstream.origin, api_key: "k" },
      azure: { resource: "r", base_url: upstream.origin, api_key: "k" },
    },
    models: models([
      { provider: "bedrock", model: "anthropic.claude-sonnet-4-5-v1:0", api: "anthropic-messages" },
      { provider: "bedrock", model: "anthropic.claude-opus-4-7", api: "anthropic-messages" },
      { provider: "bedrock", model: "anthropic.claude-sonnet-4-5-v1:0" },
      { provider: "azure", model: "claude-opus-4-7", api: "anthropic-messages" },
    ]),
  }, {});
  for (const model of ["m/0", "m/1", "m/2", "m/3"]) {
    await gateway.ask("/v1/messages", asked(model, FORMS[0]("ea6aa")));
    const sent = upstream.seen.at(-1)!.body;
    assertEquals([sent.includes("x-anthropic-billing"), sent.includes(WORDS)], [false, true], model);
  }
});
