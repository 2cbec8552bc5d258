/** Records of calls that searched name the price of a search among those they were billed at. */
import { assert, assertEquals } from "@std/assert";
import { CALLERS, hitsOf, openSearchRig } from "../websearch/rig.ts";
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
