/** What a call is billed is never more than what its budgets hold for it, whatever the caller writes and the provider does. */
import { assert, assertEquals } from "@std/assert";
import { longNumber } from "../../src/exchange/json.ts";
import { heldMoney } from "../support/held_money.ts";
import {
  answerOf,
  type Case,
  chat,
  CONTEXT,
  HI,
  LONG_HI,
  messages,
  MUCH,
  providersOf,
  responses,
  screenshot,
  SEARCH,
  TIERS,
} from "./held_money_rig.ts";

const MCP_CALL = { type: "mcp_tool_use", id: "mcptoolu_1", name: "f", server_name: "s", input: {} };
const found = (content: unknown[]) => [
  { role: "user", content: "look" },
  {
    role: "assistant",
    content: [MCP_CALL, { type: "mcp_tool_result", tool_use_id: "mcptoolu_1", is_error: false, content }],
  },
  { role: "user", content: "go on" },
];
const IMAGE = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=".repeat(50) };
/** Of a model with prices for other tiers, which leave room for all else. */
const TIERED: Record<string, Case> = {
  "fast mode beside the usual tier": messages({ service_tier: "standard_only", speed: "fast" }),
  "fast mode": messages({ speed: "fast" }),
  "a tier in capitals": chat({ service_tier: "PRIORITY" }, { tier: "priority" }),
  "a tier without a name": chat({ service_tier: "" }, { tier: "priority" }),
  "a tier that nobody knows": chat({ service_tier: "whatever" }, { tier: "priority" }),
  "a tier without a price": responses({ service_tier: "flex" }, { tier: "priority" }),
  "the provider's choice of a tier": responses({ service_tier: "auto" }, { tier: "priority" }),
  "a tier that another format drops": messages({ service_tier: "standard_only" }, { tier: "priority" }, {
    api: "openai-chat",
  }),
  "a tier that Gemini is not told": chat({ service_tier: "default" }, { tier: "priority" }, {
    api: "gemini",
  }),
};

const CASES: Record<string, Case> = {
  "a search whose rounds another model answers too": messages(
    { max_tokens: 8000, messages: LONG_HI, fallbacks: [{ model: "other" }], tools: SEARCH },
    { rounds: 15 },
  ),
  "a search whose rounds the provider compacts": messages(
    {
      max_tokens: 8000,
      messages: LONG_HI,
      context_management: { edits: [{ type: "compact_20260112" }] },
      tools: SEARCH,
    },
    { rounds: 15, summary: 500 },
  ),
  "a free model with a dear one beside, without a cap": chat(
    { max_tokens: undefined, models: ["other"] },
    {},
    {
      model: { pricing: { prompt: "0", completion: "0" }, max_completion_tokens: null },
    },
  ),
  "a model of unknown output beside, without a cap": chat({ max_tokens: undefined, models: ["other"] }, {
    uncapped: 100_000,
  }, {
    other: { max_completion_tokens: null },
  }),
  "a maximum by another API's name": responses({ max_tokens: 7000, max_output_tokens: 100 }),
  "several answers where the format has one": responses({ n: 20 }),
  "a maximum in options": chat({ max_tokens: 100, options: { num_predict: 7000 } }),
  "a maximum by a server's own name": chat({ max_tokens: 100, max_new_tokens: 7000 }),
  "a maximum with more digits than a double": chat({
    max_tokens: 100,
    max_new_tokens: longNumber("99999999999999999999"),
  }),
  "the best of several answers": chat({ best_of: 10 }),
  "a stored prompt": responses({ prompt: { id: "pmpt_1" } }, MUCH),
  "documents of the provider's": chat({ data_sources: [{ type: "azure_search" }] }, MUCH),
  "a search of the provider's": chat({ search_parameters: { mode: "on" } }, MUCH),
  "a search of the provider's with its defaults": chat({ search_parameters: {} }, MUCH),
  "a search of the provider's by its tool's name": chat({ web_search: { enable: true } }, MUCH),
  "a search among fields of the provider's own": chat({ extra_body: { enable_search: true } }, MUCH),
  "servers without a toolset": messages(
    { mcp_servers: [{ type: "url", url: "https://a.test", name: "a" }] },
    { unseen: 10 * CONTEXT },
  ),
  "a screenshot by its address": responses(
    { input: screenshot({ image_url: "https://a.test/x.png" }) },
    { unseen: 1600 },
  ),
  "a screenshot by its id": responses({ input: screenshot({ file_id: "file_1" }) }, { unseen: 1600 }),
  "an image that was made before": responses(
    { input: [...HI, { type: "image_generation_call", id: "ig_1" }, ...HI] },
    { unseen: 1600 },
  ),
  "images that a server found": messages(
    { messages: found(Array(9).fill({ type: "image", source: IMAGE })) },
    { unseen: 9 * 1600 },
  ),
  "a document that a server found": messages(
    { messages: found([{ type: "document", source: { type: "url", url: "https://a.test/x.pdf" } }]) },
    MUCH,
  ),
  "a file for a container": messages({
    messages: [{ role: "user", content: [{ type: "container_upload", file_id: "file_1" }] }],
  }, MUCH),
};

for (const [what, one] of Object.entries({ ...TIERED, ...CASES })) {
  Deno.test(`${what}: no more is billed than is held`, async () => {
    const money = await heldMoney(
      (seen, nth) => answerOf(seen, nth, one.dearest ?? {}),
      providersOf(one, what in TIERED ? TIERS : []),
    );
    try {
      const { status, code, cost, held } = await money.ask(one.path, { model: "p/model", ...one.body });
      assertEquals([status, code], [200, null]);
      assert(cost > 0.001 && cost <= held, `${cost} of ${held}`);
    } finally {
      await money.close();
    }
  });
}

Deno.test("a request that is surely served in the usual tier is not held at the price of another", async () => {
  for (
    const one of [
      chat({ service_tier: "default" }),
      responses({ service_tier: "default" }),
      messages({ service_tier: "standard_only" }),
      // Asked for in the words of another API.
      chat({ service_tier: "default" }, {}, { api: "openai-responses" }),
      chat({ service_tier: "default" }, {}, { api: "anthropic-messages" }),
      responses({ service_tier: "default" }, {}, { api: "openai-chat" }),
      responses({ service_tier: "default" }, {}, { api: "anthropic-messages" }),
      messages({ service_tier: "standard_only" }, {}, { api: "openai-responses" }),
    ]
  ) {
    const money = await heldMoney(
      (seen, nth) => answerOf(seen, nth, { tier: "default" }),
      providersOf(one, TIERS),
    );
    const { cost, held } = await money.ask(one.path, { model: "p/model", ...one.body });
    assert(cost <= held && held < 1.2 * cost, `${cost} of ${held}`);
    await money.close();
  }
});

Deno.test("fields that say that the provider adds nothing hold nothing more", async () => {
  const money = await heldMoney((seen, nth) => answerOf(seen, nth, {}), providersOf(chat({}), []));
  try {
    const { held: plain } = await money.ask("/v1/chat/completions", { model: "p/model", ...chat({}).body });
    for (
      const off of [
        { search_parameters: { mode: "off" } },
        { web_search: { enable: false } },
        { web_search: { enabled: false, count: 5 } },
        { search: { type: "disabled" } },
        { enable_search: false },
        { search: "none" },
        { plugins: {} },
        { data_sources: [] },
      ]
    ) {
      const { held } = await money.ask("/v1/chat/completions", { model: "p/model", ...chat(off).body });
      assert(held < 1.1 * plain, `${JSON.stringify(off)}: ${held}, not ${plain}`);
    }
  } finally {
    await money.close();
  }
});

Deno.test("a smaller maximum that is granted for several answers is one of each", async () => {
  const one = responses({ n: 4, max_output_tokens: undefined });
  const accounts = [{ name: "default", credits: "1.00" }];
  const money = await heldMoney((seen, nth) => answerOf(seen, nth, {}), providersOf(one, []), { accounts });
  const { status, cost, held } = await money.ask(one.path, { model: "p/model", ...one.body });
  assertEquals(status, 200);
  assert(cost > 0.5 && cost <= held && held <= 1, `${cost} of ${held}`);
  await money.close();
});
