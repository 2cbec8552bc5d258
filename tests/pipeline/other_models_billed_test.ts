/** Calls that another model answers than the asked one, since the request names it: what is reserved, and what is billed. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SECRET } from "../support/gateway.ts";
import { answerOf, type Format, FORMATS, type Ground, LISTED, onGateway } from "./other_models_rig.ts";

async function recordOf({ gateway }: Ground, response: Response) {
  const headers = { authorization: `Bearer ${SECRET}` };
  const record = await fetch(`${gateway.url}/v1/generations/${response.headers.get("x-request-id")}`, {
    headers,
  });
  return await record.json();
}

const ADMIN = "the-admin-key";
const OTHERS = {
  chat: { models: ["large-1"] },
  messages: { fallbacks: [{ model: "large-1" }] },
  responses: { models: ["large-1"] },
};

for (const format of Object.keys(FORMATS) as Format[]) {
  for (const stream of [false, true]) {
    Deno.test(`${format}, ${stream ? "streamed" : "whole"}: a call is billed at the prices of the model that answered`, () => {
      let served = "";
      return onGateway(
        (format) => answerOf(format, served, { input_tokens: 100, output_tokens: 10 }, stream),
        async (ground) => {
          // By turns: what is like an answer before is not parsed.
          for (
            const [name, id, cost] of [
              ["small-1", "small", "0.00011"],
              ["large-1", "large", "0.0011"],
              ["large-1-20261001", "large", "0.0011"],
              ["large-1", "large", "0.0011"],
              ["small-1", "small", "0.00011"],
              ["of-nobody", "small", "0.00011"],
            ]
          ) {
            served = name;
            const response = await ground.ask(format, { stream, ...OTHERS[format] });
            const text = await response.text();
            const record = await recordOf(ground, response);
            assertEquals([record.model, record.cost, record.requested_model], [
              `${format}/${id}`,
              cost,
              `${format}/small`,
            ], `${name}: ${text}`);
            assertStringIncludes(text, `"model":"${format}/${id}"`);
          }
          // Nobody asked for another model: a name that is not known is the asked model's.
          served = "large-1";
          const plain = await ground.ask(format, { stream });
          await plain.text();
          assertEquals((await recordOf(ground, plain)).cost, "0.00011");
        },
      );
    });
  }
}

/** Prices for input that the month's statement names. */
async function pricesOf({ gateway: { url, gateway } }: Ground): Promise<string[]> {
  await gateway.accounts.flush();
  const path = `/admin/accounts/default/statement?month=${
    new Date().toISOString().slice(0, 7)
  }&by=generation`;
  const statement = await (await fetch(url + path, { headers: { authorization: `Bearer ${ADMIN}` } })).json();
  return statement.prices.map(({ prices }: { prices: Record<string, string> | null }) =>
    prices?.prompt ?? ""
  );
}

const iteration = (type: string, model: string | null, input_tokens: number, output_tokens: number) => ({
  type,
  model,
  input_tokens,
  output_tokens,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
});

for (const stream of [false, true]) {
  Deno.test(`messages, ${stream ? "streamed" : "whole"}: advice and what declined models wrote is billed at their own prices`, () => {
    let usage: Record<string, unknown> = {};
    return onGateway(
      (format) => answerOf(format, "small-1", usage, stream),
      async (ground) => {
        const billed = async (more: Record<string, unknown>) => {
          const response = await ground.ask("messages", { stream, ...more });
          const text = await response.text();
          return { ...await recordOf(ground, response), text };
        };
        usage = {
          input_tokens: 100,
          output_tokens: 10,
          iterations: [
            iteration("message", null, 60, 4),
            iteration("advisor_message", "large-1", 1000, 200),
            iteration("message", null, 40, 6),
          ],
        };
        const advised = await billed({
          tools: [{ type: "advisor_20260301", name: "advisor", model: "large-1" }],
        });
        assertEquals([advised.model, advised.cost], ["messages/small", "0.01211"]);
        assertEquals([advised.usage.input_tokens, advised.usage.output_tokens], [1100, 210]);
        assertEquals(advised.price_version.split(", ").length, 2, advised.price_version);
        assertStringIncludes(advised.price_version, "of messages/large");
        assertEquals((await pricesOf(ground)).toSorted(), ["0.000001", "0.00001"]);

        usage = {
          input_tokens: 2,
          output_tokens: 300,
          iterations: [
            iteration("message", "small-1", 500, 70),
            iteration("fallback_message", "large-1", 2, 300),
          ],
        };
        const fallen = await billed({ fallbacks: [{ model: "large-1" }] });
        assertEquals([fallen.model, fallen.cost], ["messages/large", "0.00359"]);
        assertEquals([fallen.usage.input_tokens, fallen.usage.output_tokens], [502, 370]);
        assertStringIncludes(fallen.price_version, "of messages/small");
        // The caller reads the totals as the provider has them.
        assertStringIncludes(fallen.text, '"output_tokens":300');

        // Nothing was written before it declined: it is not billed.
        usage = {
          input_tokens: 2,
          output_tokens: 300,
          iterations: [
            iteration("message", "small-1", 500, 0),
            iteration("fallback_message", "large-1", 2, 300),
          ],
        };
        assertEquals((await billed({ fallbacks: "default" })).cost, "0.00302");
      },
      { admin_key: ADMIN },
    );
  });
}

for (const format of ["chat", "messages"] as const) {
  Deno.test(`${format}: what is reserved covers the dearest of the models that may answer`, () =>
    onGateway(
      (format, { body }) =>
        answerOf(format, "hidden-1", { input_tokens: 20, output_tokens: Number(body.max_tokens) }, false),
      async (ground) => {
        const { gateway: { gateway } } = ground;
        const more = format === "chat" ? { models: ["hidden-1"] } : { fallbacks: [{ model: "hidden-1" }] };
        const answers = await Promise.all(
          Array.from({ length: 60 }, () => ground.ask(format, { ...more, max_tokens: 1000 })),
        );
        for (const answer of answers) await answer.body?.cancel();
        assert(answers.some(({ ok }) => ok));
        await gateway.accounts.flush();
        const [{ cost }] = (await gateway.accounts.usage({ by: "key" })).data;
        assert(Number(cost) <= 1, cost);
      },
      { keys: [{ name: "free", secret: SECRET, spend_limit: { amount: "1", period: "total" } }], teams: [] },
    ));
}

Deno.test("an estimate tells the dearest model's cost, and refuses what the request would be refused for", () =>
  onGateway(
    (format) => answerOf(format, "small-1", { input_tokens: 1, output_tokens: 1 }, false),
    async ({ gateway }) => {
      const estimate = async (more: Record<string, unknown>, key: string) => {
        const body = { model: "chat/small", ...FORMATS.chat.body, ...more };
        const response = await gateway.post("/v1/estimate?format=chat_completions", body, {
          headers: { authorization: `Bearer ${key}` },
        });
        return await response.json();
      };
      const alone = await estimate({}, SECRET);
      const dearer = await estimate({ models: ["large-1"] }, SECRET);
      assert(Number(dearer.candidates[0].cost_max) >= 10 * Number(alone.candidates[0].cost_max));
      assertEquals(dearer.allowed, true);
      const refused = await estimate({ models: ["hidden-1"] }, LISTED);
      assertEquals([refused.allowed, refused.refusal.code], [false, "model_not_found"]);
    },
  ));
