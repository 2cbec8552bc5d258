/** Records of calls that searched name the price of a search among those they were billed at. */
import { assert, assertEquals } from "@std/assert";
import { CALLERS, hitsOf, openSearchRig } from "../websearch/rig.ts";
import { loadValue } from "../../src/config/load.ts";
import { testConfig, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const USAGE = { input: 10, output: 3 };
const ADMIN = "admin-key-of-the-test-0001";

Deno.test("another price of a search is another version of prices, and is told with the record and the statement", async () => {
  const engine = loopbackProvider(() => hitsOf("a"));
  const folder = await Deno.makeTempDir({ prefix: "sluice-search-price-" });
  const store = { url: `sqlite:${folder}/s.db` };
  // deno-lint-ignore no-explicit-any
  const bill = async (price: string, searches: boolean): Promise<any> => {
    const search = { engine: "searxng", base_url: engine.url, price };
    const rig = await openSearchRig({ admin_key: ADMIN, store, search });
    try {
      const { response } = await rig.ask({ caller: CALLERS[0], api: "openai-chat", stream: false }, {
        answer: (round) =>
          searches && round === 0
            ? { calls: [{ id: "c1", name: "web_search", arguments: '{"query":"a"}' }], usage: USAGE }
            : { text: "hello", usage: USAGE },
      });
      await response.body?.cancel();
      await rig.gateway.gateway.idle();
      const headers = { authorization: `Bearer ${ADMIN}` };
      const read = async (path: string) => await (await fetch(rig.gateway.url + path, { headers })).json();
      const record = await read(`/admin/generations/${response.headers.get("x-request-id")}`);
      const statement = await read(
        `/admin/accounts/default/statement?month=${new Date().toISOString().slice(0, 7)}`,
      );
      return { record, statement };
    } finally {
      await rig.close();
    }
  };
  try {
    const versions = [];
    for (const price of ["0.01", "0.02", "0.01"]) {
      const { record, statement } = await bill(price, true);
      versions.push(record.price_version);
      assertEquals(record.searches, 1);
      const [searched] = record.prices.filter((one: { prices: object }) => "web_search" in one.prices);
      assertEquals(searched.prices, { web_search: price });
      assert(record.price_version.split(", ").includes(searched.version));
      const named = statement.prices.find(({ version }: { version: string }) => version === searched.version);
      assertEquals(named.prices, { web_search: price });
    }
    assertEquals(versions[0], versions[2]);
    assert(versions[0] !== versions[1], versions.join());
    const { record } = await bill("0.02", false);
    assertEquals(record.price_version, versions[0].split(", ")[0]);
  } finally {
    await engine.close();
    await Deno.remove(folder, { recursive: true });
  }
});

/** Of a model, for each input above 1000 tokens, and by tier; `flex` has none. */
const TIERED = {
  pricing: { prompt: "0.001", completion: "0.001", web_search: "0.5" },
  pricing_tiers: [
    { service_tier: "priority", prompt: "0.001", completion: "0.001", web_search: "0.7" },
    { service_tier: "flex", prompt: "0.001", completion: "0.001" },
    { above_input_tokens: 1000, prompt: "0.001", completion: "0.001", web_search: "0.9" },
  ],
  context_length: 100_000,
  max_completion_tokens: 100,
};

for (
  const [title, own, search] of [["", "0.5", "0.25"], [", or of the gateway", undefined, "0.25"]] as const
) {
  Deno.test(`searches cost what they cost in the tier in which the call was served, of its model${title}`, async () => {
    const usual = own ?? search;
    const long = "word ".repeat(2000);
    const cases: [asked: Record<string, unknown>, tier: string | undefined, input: number, price: string][] =
      [
        [{}, undefined, 100, usual],
        [{}, "default", 100, usual],
        [{ service_tier: "priority" }, "priority", 100, "0.7"],
        [{ service_tier: "priority" }, "default", 100, usual],
        [{ service_tier: "flex" }, "flex", 100, usual],
        [{}, undefined, 2000, "0.9"],
        [{ messages: [{ role: "user", content: long }] }, undefined, 100, usual],
      ];
    let [tier, input] = cases[0].slice(1, 3) as [string | undefined, number];
    const provider = loopbackProvider(() => {
      const usage = {
        prompt_tokens: input,
        completion_tokens: 0,
        total_tokens: input,
        num_search_queries: 2,
      };
      const choices = [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }];
      return Response.json({
        id: "c",
        object: "chat.completion",
        model: "m",
        choices,
        usage,
        service_tier: tier,
      });
    });
    const pricing = { ...TIERED.pricing, ...(own === undefined && { web_search: undefined }) };
    const model = JSON.parse(JSON.stringify({ ...TIERED, pricing }));
    const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url, model } }, {
      search: { engine: "none", price: search },
    });
    try {
      for (const [asked, given, tokens, price] of cases) {
        [tier, input] = [given, tokens];
        const messages = [{ role: "user", content: "hi" }];
        const response = await gateway.post("/v1/chat/completions", { model: "p/model", messages, ...asked });
        await response.body?.cancel();
        await gateway.gateway.accounts.flush();
        const id = response.headers.get("x-request-id");
        const { data } = await gateway.gateway.accounts.generations({});
        const record = data.find((one) => one.id === id)!;
        const what = JSON.stringify([asked, given, tokens]).slice(0, 100);
        assertEquals(Number(record.cost), Number((tokens * 0.001 + 2 * Number(price)).toFixed(6)), what);
      }
    } finally {
      await gateway.close();
      await provider.close();
    }
  });
}

Deno.test("searches of a call that waits while the configuration is reloaded cost what they cost when it came", async () => {
  const provider = loopbackProvider(() => {
    const usage = { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10, num_search_queries: 2 };
    const choices = [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }];
    return Response.json({ id: "c", object: "chat.completion", model: "m", choices, usage });
  });
  const model = { pricing: { prompt: "0.001", completion: "0.001" }, max_completion_tokens: 100 };
  const providers = { p: { api: "openai-chat", url: provider.url, model } } as const;
  const search = (price: string) => ({ search: { engine: "none", price } });
  const gateway = await testGateway(providers, search("0.25"));
  const { accounts } = gateway.gateway;
  const { admit } = accounts;
  try {
    accounts.admit = async (request) => {
      const reservation = await admit(request);
      const { config } = loadValue(testConfig(providers, search("0.75")), { env: () => undefined });
      await gateway.gateway.reload(config);
      return reservation;
    };
    const bill = async () => {
      const messages = [{ role: "user", content: "hi" }];
      const response = await gateway.post("/v1/chat/completions", { model: "p/model", messages });
      assertEquals(response.status, 200, await response.text());
      await accounts.flush();
      return (await accounts.generations({ limit: 1 })).data[0].cost;
    };
    assertEquals(await bill(), "0.51");
    assertEquals(await bill(), "1.51");
  } finally {
    accounts.admit = admit;
    await gateway.close();
    await provider.close();
  }
});
