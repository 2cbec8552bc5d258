/** Searches that a provider runs and reports itself, in answers with and without searches of the gateway. */
import { assert, assertEquals } from "@std/assert";
import { readCaller } from "../corpus/caller.ts";
import { SECRET } from "../support/gateway.ts";
import { CALLERS, openSearchRig, PRICES, SEARCH_PRICE, searchCall } from "./rig.ts";
import type { SearchedApi } from "./rounds.ts";

const counted = (web_search_requests: number) => ({ server_tool_use: { web_search_requests } });

/** The spellings of a count of searches. */
const REPORTS:
  readonly (readonly [api: SearchedApi, report: (searches: number) => Record<string, unknown>])[] = [
    ["openai-chat", (num_search_queries) => ({ num_search_queries, search_context_size: "low" })],
    ["openai-chat", counted],
    ["anthropic-messages", counted],
    ["openai-responses", counted],
  ];

Deno.test("searches of a provider are counted and billed beside those of the gateway", async () => {
  const rig = await openSearchRig();
  try {
    for (const caller of CALLERS) {
      for (const [api, report] of REPORTS) {
        for (const stream of [false, true]) {
          for (const rounds of [0, 1, 2]) {
            const { response, queries } = await rig.ask({ caller, api, stream }, {
              answer: (round, _told, ticket) => ({
                ...(round < rounds ? { calls: [searchCall(`${ticket} ${round}`)] } : { text: "Done." }),
                usage: { input: 10, output: 3, more: report(round + 2) },
              }),
            });
            const what = `${caller} ${api} ${JSON.stringify(report(1))} ${stream} ${rounds}`;
            const read = await readCaller(caller, response, stream);
            if (read.kind !== "answer") throw new Error(`${what}: ${JSON.stringify(read)}`);
            assertEquals(queries.length, rounds, what);
            // Two in the first round, three in the second and four in the third.
            const expected = rounds + [2, 5, 9][rounds];
            await rig.gateway.gateway.idle();
            const { searches, cost, usage } = await rig.record(response) as Record<string, number>;
            assertEquals([searches, read.searches], [expected, expected], what);
            const tokens = (rounds + 1) * (10 * Number(PRICES.prompt) + 3 * Number(PRICES.completion));
            assertEquals(
              Number(cost),
              Number((tokens + expected * Number(SEARCH_PRICE)).toFixed(12)),
              `${what} ${JSON.stringify(usage)}`,
            );
          }
        }
      }
    }
  } finally {
    await rig.close();
  }
});

Deno.test("searches of a provider that no budget has room for are not billed, those of the gateway are", async () => {
  const LIMIT = 0.5;
  const rig = await openSearchRig({
    keys: [{ name: "test", secret: SECRET, spend_limit: { amount: String(LIMIT), period: "total" } }],
  });
  try {
    const ask = (own: number) =>
      rig.ask({ caller: "chat_completions", api: "openai-chat", stream: false }, {
        cap: 100,
        answer: (round, _told, ticket) => ({
          ...(round === 0 ? { calls: [searchCall(ticket)] } : { text: "Done." }),
          usage: { input: 10, output: 3, more: { num_search_queries: round === 0 ? 0 : own } },
        }),
      });
    const asked = await Promise.all(Array.from({ length: 40 }, () => ask(20)));
    let unbilled = 0;
    for (const { response, queries } of asked) {
      await response.body?.cancel();
      if (!response.ok) continue;
      await rig.gateway.gateway.idle();
      const { searches } = await rig.record(response) as Record<string, number>;
      assert([queries.length, queries.length + 20].includes(searches), `${searches} of ${queries.length}`);
      if (searches === queries.length) unbilled++;
    }
    assert(unbilled > 0);
    const { spend } = await (await rig.gateway.post("/v1/key", undefined, { method: "GET" })).json();
    assert(Number(spend.amount) <= LIMIT, spend.amount);
    assert(rig.gateway.logged.some((line) => /20 searches of its own.*none of them is billed/.test(line)));
  } finally {
    await rig.close();
  }
});
