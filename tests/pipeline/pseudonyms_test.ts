/** Where a mask hides who asks, providers still tell users, sessions and cached prefixes apart. */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { type LoopbackProvider, loopbackProvider } from "../support/provider.ts";
import { identitiesOf, setPseudonyms } from "../../src/pipeline/admission/pseudonyms.ts";

const OTHER = "sk_live_otheraccountotheraccountother00";
const JANE = "jane@corp.example";
const BOB = "bob@corp.example";
const PSEUDONYM = /^<EMAIL_ADDRESS_1>#[0-9a-f]{12}$/;

type Fields = (mail: string) => Record<string, unknown>;

/** The fields of each format, at a provider of the same format. */
const WAYS: {
  path: string;
  api: "openai-chat" | "openai-responses" | "anthropic-messages";
  fields: Fields;
}[] = [{
  path: "/v1/chat/completions",
  api: "openai-chat",
  fields: (mail) => ({
    user: mail,
    safety_identifier: mail,
    prompt_cache_key: mail,
    session_id: mail,
    metadata: { owner: mail },
  }),
}, {
  path: "/v1/responses",
  api: "openai-responses",
  fields: (mail) => ({
    user: mail,
    safety_identifier: mail,
    prompt_cache_key: mail,
    metadata: { owner: mail },
    client_metadata: { installation: mail },
  }),
}, {
  path: "/v1/messages",
  api: "anthropic-messages",
  fields: (mail) => ({ metadata: { user_id: mail } }),
}];

/** All values of the fields as they came to the provider. */
function valuesOf(body: Record<string, unknown>, fields: Record<string, unknown>): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const there = body[name] as string | Record<string, string>;
    return typeof there === "string" ? [there] : Object.keys(value as object).map((inner) => there[inner]);
  });
}

async function withGateway(
  api: (typeof WAYS)[number]["api"],
  use: (gateway: TestGateway, provider: LoopbackProvider) => Promise<void>,
): Promise<void> {
  const provider = loopbackProvider(leastAnswer);
  const gateway = await testGateway({ p: { api, url: `${provider.url}/v1` } }, {
    dlp_policies: { safe: { mode: "mask", entity_types: ["EMAIL_ADDRESS"] } },
    accounts: [{ name: "default", credits: null }, { name: "other", credits: null }],
    keys: [
      { name: "test", secret: SECRET, dlp_policy: "safe" },
      { name: "other", secret: OTHER, account: "other", dlp_policy: "safe" },
    ],
  });
  try {
    await use(gateway, provider);
  } finally {
    await gateway.close();
    await provider.close();
  }
}

for (const { path, api, fields } of WAYS) {
  Deno.test(`${path}: each masked user has a pseudonym at the provider, the same in every request of the account`, () =>
    withGateway(api, async (gateway, provider) => {
      const ask = async (mail: string, text: string, secret = SECRET) => {
        const response = await gateway.post(path, {
          model: "p/model",
          ...(path === "/v1/responses"
            ? { input: text }
            : { messages: [{ role: "user", content: text }], max_tokens: 16 }),
          ...fields(mail),
        }, { headers: { authorization: `Bearer ${secret}` } });
        const answer = await response.json();
        assertEquals(response.status, 200, JSON.stringify(answer));
        const { body, text: sent } = provider.seen.at(-1)!;
        assert(!sent.includes("@corp.example"), sent);
        if (path === "/v1/responses") assertEquals(answer.user, body.user);
        return valuesOf(body, fields(mail));
      };
      const jane = await ask(JANE, "Hello");
      for (const value of jane) assertMatch(value, PSEUDONYM);
      assertEquals(new Set(jane).size, 1);
      // Her placeholder has another number here.
      assertEquals(await ask(JANE, `Write to ${BOB}`), jane);
      const bob = await ask(BOB, "Hello");
      for (const value of bob) assertMatch(value, PSEUDONYM);
      assertNotEquals(bob, jane);
      // Nobody can tell from the pseudonyms of two accounts that they have a user in common.
      assertNotEquals(await ask(JANE, "Hello", OTHER), jane);
      // What is not masked stays as it is.
      assertEquals(new Set(await ask("user-17", "Hello")), new Set(["user-17"]));
    }));
}

Deno.test("a user of the messages format has the same pseudonym at a provider of another format", () =>
  withGateway("openai-chat", async (gateway, provider) => {
    for (const mail of [JANE, BOB]) {
      const response = await gateway.post("/v1/messages", {
        model: "p/model",
        max_tokens: 16,
        messages: [{ role: "user", content: "Hello" }],
        metadata: { user_id: mail },
      });
      await response.body?.cancel();
    }
    const [jane, bob] = provider.seen.map(({ body }) => body.user as string);
    assertMatch(jane, PSEUDONYM);
    assertMatch(bob, PSEUDONYM);
    assertNotEquals(jane, bob);
  }));

Deno.test("conversations with masked cache keys share no route for their cache", async () => {
  const providers = [loopbackProvider(leastAnswer), loopbackProvider(leastAnswer)];
  const upstream = ({ url }: LoopbackProvider) => ({ api: "openai-chat" as const, url: `${url}/v1` });
  const gateway = await testGateway({
    p: {
      ...upstream(providers[0]),
      model: {
        routes: [{ provider: "p", model: "m", weight: 1 }, { provider: "q", model: "m", weight: 1 }],
      },
    },
    q: upstream(providers[1]),
  }, {
    dlp_policies: { safe: { mode: "mask", entity_types: ["EMAIL_ADDRESS"] } },
    keys: [{ name: "test", secret: SECRET, dlp_policy: "safe" }],
  });
  for (let i = 0; i < 40; i++) {
    const response = await gateway.post("/v1/chat/completions", {
      model: "p/model",
      prompt_cache_key: `user${i}@corp.example`,
      messages: [{ role: "user", content: "Hello" }],
    });
    await response.body?.cancel();
  }
  assert(providers.every(({ seen }) => seen.length > 0), providers.map(({ seen }) => seen.length).join());
  await gateway.close();
  for (const provider of providers) await provider.close();
});

/** What becomes of a field when its value has been masked. */
function told(before: unknown, masked: string): string {
  const sent = identitiesOf({ user: before })!;
  const body = { user: masked };
  setPseudonyms(body, sent, () => "0123456789ab");
  return body.user;
}

Deno.test("setPseudonyms() keeps JSON and the limits of providers", () => {
  const clients = (account: string) => JSON.stringify({ device_id: "d".repeat(40), account_uuid: account });
  const sent = identitiesOf({ metadata: { user_id: clients(JANE) } })!;
  const body = { metadata: { user_id: clients("<EMAIL_ADDRESS_3>") } };
  setPseudonyms(body, sent, () => "0123456789ab");
  const json = body.metadata.user_id;
  assertEquals(JSON.parse(json).account_uuid, "<EMAIL_ADDRESS_1>#0123456789ab");
  assertEquals(
    told(`${JANE}, ${BOB}`, "<EMAIL_ADDRESS_4>, <EMAIL_ADDRESS_2>"),
    "<EMAIL_ADDRESS_1>#0123456789ab, <EMAIL_ADDRESS_2>",
  );
  assertEquals(
    told("1.2.3.4 1.2.3.4", "<IP_ADDRESS_2> <IP_ADDRESS_2>"),
    "<IP_ADDRESS_1>#0123456789ab <IP_ADDRESS_1>",
  );
  assertEquals(told(4111111111111111, "<CREDIT_CARD_1>"), "<CREDIT_CARD_1>#0123456789ab");
  // OpenAI refuses more than 64 characters.
  const before = `team-${"x".repeat(50)}-a@b.co`;
  const long = told(before, `team-${"x".repeat(50)}-<EMAIL_ADDRESS_1>`);
  assertEquals(long, `team-${"x".repeat(46)}#0123456789ab`);
  // The rest of a value that begins in another field.
  assertEquals(told("rest", ""), "#0123456789ab");
  assertEquals(told("as it was", "as it was"), "as it was");
});

Deno.test("setPseudonyms() cuts no character in two", () => {
  for (let before = 0; before < 4; before++) {
    const body = { user: `${" ".repeat(before)}${"😀".repeat(60)}` };
    const sent = { "": { user: "jane" } };
    setPseudonyms(body, sent, () => "0123456789ab");
    assert(body.user.isWellFormed() && body.user.length <= 64, body.user);
    assert(body.user.endsWith("#0123456789ab"), body.user);
  }
});
