/** The catalog that lists, known facts and the file come to. */
import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { loadValue } from "../../../src/config/load.ts";
import type { FactsTable, ModelFacts } from "../../../src/models/facts/facts.ts";
import { type ListedProvider, mergeCatalog } from "../../../src/models/discovered/merge.ts";
import type { Model } from "../../../src/models/catalog.ts";

const sheets = (prompt: string) => [{
  source: "known",
  from: 0,
  hours: null,
  prices: { prompt, completion: "1" },
  tiers: [],
}];

const KNOWN: Record<string, ModelFacts | null> = {
  "anthropic claude-x-20250101": {
    name: "Claude X",
    contextLength: 200,
    maxCompletion: 50,
    inputs: ["text", "image"],
    features: ["tools", "reasoning"],
    efforts: ["low", "high"],
    parameters: { temperature: false },
    sheets: sheets("3"),
  },
  "bedrock us.anthropic.claude-x-20250101-v1:0": { name: "X on Bedrock", sheets: sheets("3.3") },
  "openai gpt-a": { name: "A", contextLength: 100, sheets: sheets("2") },
  "openai embeds": null,
};
const facts: FactsTable = { find: (preset, model) => KNOWN[`${preset} ${model}`], names: () => [] };

const listing = (
  provider: string,
  preset: string | null,
  ...models: (string | Record<string, unknown>)[]
): ListedProvider => ({
  provider,
  preset,
  models: models.map((m) => typeof m === "string" ? { id: m } : m as { id: string }),
});

const written = (...models: Record<string, unknown>[]): readonly Model[] =>
  loadValue({
    providers: {
      openai: { api: "openai-chat", base_url: "http://127.0.0.1:1" },
      p: { api: "openai-chat", base_url: "http://127.0.0.1:1" },
    },
    models,
    catalog: { discover: true },
  }, { env: () => undefined }).config.models;

const merge = (
  models: readonly Model[],
  providers: ListedProvider[],
  unpriced: "refuse" | "free" = "refuse",
) => mergeCatalog(models, { unpriced }, { providers, facts, now: 0 });
const routes = (model: Model) => model.routes.map((r) => `${r.provider}:${r.model}`);

const CLAUDES = [
  listing("anthropic", "anthropic", "claude-x-20250101"),
  listing("bedrock", "bedrock", "us.anthropic.claude-x-20250101-v1:0", "eu.anthropic.claude-x-20250101-v1:0"),
  listing("openrouter", "openrouter", "anthropic/claude-x"),
];

Deno.test("the same model behind several providers is one, with routes in the order of the configuration", () => {
  const [model, ...others] = merge([], CLAUDES);
  assertEquals(others, []);
  assertEquals(model.id, "anthropic/claude-x-20250101");
  assertEquals(routes(model), [
    "anthropic:claude-x-20250101",
    "bedrock:us.anthropic.claude-x-20250101-v1:0",
    "openrouter:anthropic/claude-x",
  ]);
  // The first route that knows something says it.
  assertEquals([model.name, model.pricing.prompt, model.contextLength], ["Claude X", "3", 200]);
  assertEquals(model.aliases, ["anthropic/claude-x"]);
  assertEquals(model.shortNames, ["claude-x-20250101", "claude-x"]);
  const [turned] = merge([], CLAUDES.toReversed());
  assertEquals(routes(turned)[0], "openrouter:anthropic/claude-x");
  assertEquals(turned.pricing.prompt, "3.3");
});

Deno.test("the context of a model is the largest of its routes", () => {
  const of = (provider: string, contextLength?: number) => ({
    provider,
    preset: "openrouter",
    models: [{ id: "v/unknown", contextLength }],
  });
  const context = (...lengths: (number | undefined)[]) =>
    merge([], lengths.map((length, i) => of(`p${i}`, length)))[0].contextLength;
  assertEquals([context(8000, 128_000), context(128_000, 8000)], [128_000, 128_000]);
  assertEquals([context(undefined, 8000), context(undefined)], [8000, null]);
});

Deno.test("a name with and one without a date stay apart where one provider lists both, or there are two dates", () => {
  const ids = (...names: string[]) => merge([], [listing("o", "openai", ...names)]).map((m) => m.id);
  assertEquals(ids("gpt-b", "gpt-b-2024-08-06"), ["openai/gpt-b", "openai/gpt-b-2024-08-06"]);
  const two = merge([], [
    listing("o", "openai", "gpt-b-2024-08-06", "gpt-b-2024-11-20"),
    listing("r", "openrouter", "openai/gpt-b"),
  ]);
  assertEquals(two.length, 3);
  assertEquals(two.flatMap((m) => m.aliases ?? []), []);
});

Deno.test("what the file says of a model wins field by field", () => {
  const models = written(
    { id: "anthropic/claude-x-20250101", name: "Ours", capabilities: { features: ["tools"] } },
    { id: "openai/gpt-a", pricing: { prompt: "9", completion: "9" } },
  );
  const [claude, gpt] = merge(models, [...CLAUDES, listing("openai", "openai", "gpt-a")]);
  assertEquals([claude.name, [...claude.features], claude.inputs], ["Ours", ["tools"], ["text", "image"]]);
  assertEquals([claude.contextLength, claude.pricing.prompt, claude.parameters], [200, "3", {
    temperature: false,
  }]);
  assertEquals(routes(claude).length, 3);
  assertEquals([gpt.pricing.prompt, gpt.contextLength, gpt.name], ["9", 100, "A"]);
});

Deno.test("an entry that leaves its routes out exists while a provider lists it", () => {
  const models = written({ id: "openai/gpt-a", name: "Ours" });
  assertEquals(merge(models, [listing("openai", "openai")]), []);
  assertEquals(merge(models, [listing("openai", "openai", "gpt-a")]).map(routes), [["openai:gpt-a"]]);
});

Deno.test("an entry with routes is filled up with what is known, also while nobody lists it", () => {
  const entry = { id: "mine/a", routes: [{ provider: "openai", model: "gpt-a" }] };
  const [known] = merge(written(entry), [{ provider: "openai", preset: "openai", models: null }]);
  assertEquals([known.pricing.prompt, known.contextLength, known.id], ["2", 100, "mine/a"]);
  // At an unknown preset it costs what the file says by silence.
  const [unknown] = merge(written(entry), [{ provider: "openai", preset: null, models: null }]);
  assertEquals([unknown.pricing, unknown.contextLength], [{ prompt: "0", completion: "0" }, null]);
});

Deno.test("the context of an entry is the largest of its routes too, unless it names one", () => {
  const small = { provider: "openai", model: "gpt-a" };
  const large = { provider: "p", model: "claude-x-20250101" };
  const unknown = { provider: "p", model: "claude-y" };
  const providers = [
    { provider: "openai", preset: "openai", models: null },
    { provider: "p", preset: "anthropic", models: null },
  ];
  const context = (entry: Record<string, unknown>, listed = providers) => {
    const [model] = merge(written({ id: "mine/a", ...entry }), listed as ListedProvider[]);
    return [model.contextLength, model.pricing.prompt];
  };
  assertEquals(context({ routes: [small, large] }), [200, "2"]);
  assertEquals(context({ routes: [large, small] }), [200, "3"]);
  assertEquals(context({ routes: [small, unknown] }), [100, "2"]);
  assertEquals(context({ routes: [small, large], context_length: 64 }), [64, "2"]);
  // A model that is listed under the same id.
  const [found] = merge(written({ id: "openai/gpt-a", routes: [small, large] }), [
    listing("openai", "openai", "gpt-a"),
    listing("p", "anthropic"),
  ]);
  assertEquals([found.contextLength, found.pricing.prompt], [200, "2"]);
  // What a provider lists of a route counts more than what is known of it.
  const [listed] = merge(written({ id: "openai/gpt-a", routes: [small, unknown] }), [
    listing("openai", "openai", { id: "gpt-a", contextLength: 64 }),
    listing("p", "anthropic"),
  ]);
  assertEquals(listed.contextLength, 64);
});

Deno.test("a model that nobody knows the price of has none, or is free where the operator says so", () => {
  const providers = [
    listing("openai", "openai", "gpt-new"),
    listing("p", null, "gpt-a"),
    listing("o", "ollama", "qwen3:8b"),
  ];
  const [gpt, proxied, own] = merge([], providers);
  assertEquals([gpt.sheets, gpt.pricing], [[], {}]);
  assertEquals(proxied.sheets, []);
  assertEquals(own.pricing, { prompt: "0", completion: "0" });
  const [free] = merge([], providers, "free");
  assertEquals([free.sheets, free.pricing], [undefined, { prompt: "0", completion: "0" }]);
});

Deno.test("a price of the list counts before that of the table", () => {
  const listed = { id: "gpt-a", contextLength: 64, pricing: { prompt: "0.5", completion: "0.6" } };
  const [model] = merge([], [listing("openai", "openai", listed)]);
  assertEquals([model.pricing, model.contextLength], [{ prompt: "0.5", completion: "0.6" }, 64]);
  const sourceOf = (prompt: string) => {
    const [{ sheets: [sheet] = [] }] = merge([], [
      listing("openai", "openai", { ...listed, pricing: { ...listed.pricing, prompt } }),
    ]);
    return sheet.source;
  };
  assertMatch(sourceOf("0.5"), /^listed [0-9a-f]{8}$/);
  assertEquals(sourceOf("0.5"), model.sheets![0].source);
  assertNotEquals(sourceOf("0.7"), sourceOf("0.5"));
});

Deno.test("what is no conversation's model, and ids that no key could name, are left out", () => {
  const ids = merge([], [
    listing("openai", "openai", "embeds", "text-embedding-9", "gpt-a", "x*y", "a b", "é"),
    listing("svc", null, "auto"),
  ]).map((m) => m.id);
  assertEquals(ids, ["openai/gpt-a"]);
});

Deno.test("each route has the price of its own provider, by which callers may order", () => {
  const [claude] = merge([], CLAUDES);
  assertEquals(claude.routes.map(({ cost }) => cost), [3.3, 3.5999999999999996, undefined]);
  const [own] = merge(
    written({
      id: "mine/a",
      order: "price",
      routes: [
        { provider: "openai", model: "gpt-a" },
        { provider: "p", model: "x", pricing: { prompt: "1", completion: "0" } },
      ],
    }),
    [{ provider: "openai", preset: "openai", models: null }],
  );
  assertEquals([own.order, own.routes.map(({ cost }) => cost)], ["price", [2.3, 1]]);
});

Deno.test("a short name belongs to the first that has it, the file's before what is found out", () => {
  const models = written({
    id: "p/mine",
    routes: [{ provider: "p", model: "m" }],
    short_names: ["claude-x"],
  });
  const [mine, claude] = merge(models, CLAUDES);
  assertEquals([mine.shortNames, claude.shortNames], [["claude-x"], ["claude-x-20250101"]]);
});
