/** Calls whose fields are drawn by chance are billed no more than is held for them. */
import { assert } from "@std/assert";
import { SECRET } from "../support/gateway.ts";
import { heldMoney } from "../support/held_money.ts";
import {
  answerOf,
  type Case,
  chat,
  type Dearest,
  LONG,
  LONG_HI,
  type Loose,
  messages,
  MUCH,
  providersOf,
  responses,
  screenshot,
  SEARCH,
  TIERS,
} from "./held_money_rig.ts";

/** Numbers that look drawn by chance, the same in each run. */
function drawing(seed: number) {
  const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  return { next, of: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] };
}

/** Fields that callers may add, each with what it makes of a bill. */
const ADDED: Record<Case["path"], readonly [Loose, Dearest?][]> = {
  "/v1/chat/completions": [
    [{ n: 3 }],
    [{ max_tokens: undefined }],
    [{ service_tier: "auto" }, { tier: "priority" }],
    [{ service_tier: "Fast" }, { tier: "fast" }],
    [{ service_tier: "priority" }, { tier: "priority" }],
    [{ models: ["other"] }],
    [{ enable_search: true }, MUCH],
    [{ messages: LONG_HI }],
    [{ messages: [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }] }, MUCH],
    [{ response_format: { type: "json_schema", json_schema: { name: "s", schema: { description: LONG } } } }],
    [{ web_search_options: {} }],
  ],
  "/v1/messages": [
    [{ speed: "fast" }],
    [{ service_tier: "standard_only" }],
    [{ max_tokens: 8000, tools: SEARCH }, { rounds: 6 }],
    [{ max_tokens: 8000, messages: LONG_HI, tools: SEARCH }, { rounds: 3 }],
    [{ fallbacks: [{ model: "other" }] }],
    [{ fallbacks: [{ model: "other", max_tokens: 500 }] }],
    [{ context_management: { edits: [{ type: "compact_20260112" }] } }, { summary: 900 }],
    [{ mcp_servers: [{ type: "url", url: "https://a.test", name: "a" }] }],
    [{ system: [{ type: "text", text: LONG, cache_control: { type: "ephemeral", ttl: "1h" } }] }],
  ],
  "/v1/responses": [
    [{ service_tier: "default" }],
    [{ service_tier: "fast" }, { tier: "fast" }],
    [{ service_tier: "auto" }, { tier: "priority" }],
    [{ max_output_tokens: undefined }],
    [{ prompt: { id: "pmpt_1" } }, MUCH],
    [{ input: LONG }],
    [{ input: screenshot({ file_id: "file_1" }) }],
    [{ tools: [{ type: "file_search", vector_store_ids: ["v"] }] }, MUCH],
  ],
};

Deno.test("calls drawn by chance spend no more than is held, and all of them no more than the limit", async () => {
  const { next, of } = drawing(20260727);
  let dearest: Dearest = {};
  let nth = 0;
  const bases = [chat({}), messages({}), responses({})];
  const limit = 40;
  for (const [base, tiers] of bases.flatMap((base) => [[base, TIERS], [base, []]] as const)) {
    const money = await heldMoney((seen) => answerOf(seen, nth++, dearest), providersOf(base, tiers), {
      keys: [{ name: "test", secret: SECRET, spend_limit: { amount: String(limit), period: "total" } }],
    });
    let [spent, answered, refused] = [0, 0, 0];
    try {
      for (let i = 0; i < 60; i++) {
        dearest = {};
        nth = 0;
        let body: Loose = { model: of(["p/model", "p/model", "o/model"]), ...base.body };
        for (const [fields, more = {}] of ADDED[base.path]) {
          if (next() > 0.25) continue;
          body = { ...body, ...fields };
          dearest = { ...dearest, ...more };
        }
        const { status, code, cost, held } = await money.ask(base.path, body);
        if (status === 200) answered++;
        else refused++;
        const what = JSON.stringify(body).replaceAll(LONG, "LONG");
        assert([200, 400, 404, 429].includes(status), `${status} ${code}: ${what}`);
        assert(cost <= held, `${cost} of ${held}: ${what}`);
        spent += cost;
      }
      assert(spent <= limit && answered > 10, `${base.path}: ${spent} by ${answered}, ${refused} refused`);
    } finally {
      await money.close();
    }
  }
});
