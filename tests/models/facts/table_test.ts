/** The table of known models: what it says, and that it is what its sources make. */
import { assert, assertEquals } from "@std/assert";
import { priceTable } from "../../../src/accounts/budgets/money.ts";
import { PRESET_NAMES } from "../../../src/providers/presets.ts";
import { openFacts } from "../../../src/models/facts/facts.ts";
import { FACTS_PRESETS } from "../../../src/models/facts/facts_presets.ts";
import { perToken, type Row } from "../../../src/models/facts/row.ts";
import { compile } from "../../../src/models/facts/compile/merge.ts";
import { tableText } from "../../../src/models/facts/compile/main.ts";
import { DECISIONS } from "../../../src/models/facts/compile/decisions.ts";
import { PRICES_VERSION } from "../../../src/models/facts/compile/sources.ts";
import manifest from "../../../deno.json" with { type: "json" };
import { shared, sharedTest } from "../../support/shared.ts";

/** The day that the recorded disagreements are of. */
const TODAY = "2026-11-22";
const RECORDED = new URL("disagreements.txt", import.meta.url);

Deno.test("perToken() moves the point by six places, exactly", () => {
  const cases: [number, string][] = [
    [2.5, "0.0000025"],
    [0, "0"],
    [0.003625, "0.000000003625"],
    [1e-7, "0.0000000000001"],
    [10, "0.00001"],
    [100, "0.0001"],
    [75, "0.000075"],
    [1_000_000, "1"],
    [2_500_000, "2.5"],
  ];
  for (const [million, token] of cases) assertEquals(perToken(million), token);
});

Deno.test("the table has sizes, prices with their tiers, efforts and what models refuse", async () => {
  const facts = await openFacts();
  const gpt = facts.find("openai", "gpt-5.4")!;
  assertEquals(gpt.contextLength, 1_050_000);
  assertEquals(gpt.parameters, { temperature: false });
  assertEquals(gpt.efforts, ["none", "low", "medium", "high", "xhigh"]);
  const [sheet] = gpt.sheets!;
  assertEquals(sheet.prices, {
    prompt: "0.0000025",
    input_cache_read: "0.00000025",
    completion: "0.000015",
    file_search: "0.0025",
  });
  const tier = (above: number, service: string | null) =>
    sheet.tiers.find((t) => t.above === above && t.service === service)?.prices;
  assertEquals(tier(271_999, null)?.prompt, "0.000005");
  // A price of its own, and a factor.
  assertEquals(tier(0, "priority")?.completion, "0.00003");
  assertEquals(tier(0, "flex")?.completion, "0.0000075");
  assertEquals(tier(271_999, "flex")?.prompt, "0.0000025");
  // Uses of tools cost the same in each tier.
  assertEquals([...new Set(sheet.tiers.map(({ prices }) => prices.file_search))], ["0.0025"]);
  const { file_search, x_search, search_source } = facts.find("xai", "grok-4-fast")!.sheets![0].prices;
  assertEquals([file_search, x_search, search_source], ["0.0025", "0.005", "0.025"]);

  const claude = facts.find("anthropic", "claude-sonnet-4-5-20250929")!;
  assertEquals(claude.sheets![0].prices.input_cache_write_1h, "0.000006");
  const opus = facts.find("anthropic", "claude-opus-4-8")!.sheets![0].tiers;
  const [fast, both] = ["fast", "fast_us"].map((name) =>
    opus.find(({ service }) => service === name)!.prices
  );
  for (const kind of ["prompt", "completion"]) {
    assertEquals(Number(both[kind]), Number((1.1 * Number(fast[kind])).toFixed(12)), kind);
  }
  assert(claude.features!.includes("structured_outputs") && claude.features!.includes("prompt_caching"));
  // By a pattern; with dates; by the hour.
  assertEquals(facts.find("anthropic", "claude-haiku-4-5-20991231")!.sheets![0].prices.prompt, "0.000001");
  assertEquals(facts.find("openai", "gpt-5.6-luna")!.sheets!.map(({ from }) => from), [
    0,
    Date.parse("2026-07-30T00:00:00Z"),
  ]);
  assertEquals(facts.find("deepseek", "deepseek-v4-pro")!.sheets!.map(({ hours }) => hours), [
    null,
    null,
    [60, 240],
    [360, 600],
  ]);
  // Of a model that searches by itself; with tools, the gateway searches, at a price of its own.
  assertEquals(facts.find("perplexity", "sonar-deep-research")!.sheets![0].prices.web_search, "0.005");
  assertEquals(sheet.prices.web_search, undefined);
  assertEquals(facts.find("openai", "text-embedding-3-small"), null);
  assertEquals(facts.find("openai", "no-such-model"), undefined);
  assertEquals(facts.find("no-preset", "gpt-5.4"), undefined);
  assertEquals(facts.find("__proto__", "gpt-5.4"), undefined);
});

Deno.test("Perplexity's models have prices of a request, by the size of the search context", async () => {
  const facts = await openFacts();
  const requests = (model: string) => {
    const [{ prices, tiers }] = facts.find("perplexity", model)!.sheets!;
    assertEquals(tiers.every((tier) => tier.prices.prompt === prices.prompt), true);
    return [prices.request, ...tiers.map((tier) => `${tier.service} ${tier.prices.request}`)];
  };
  assertEquals(requests("sonar"), ["0.005", "search_medium 0.008", "search_high 0.012"]);
  assertEquals(requests("sonar-pro"), ["0.006", "search_medium 0.01", "search_high 0.014"]);
  assertEquals(requests("sonar-deep-research"), [undefined]);
});

Deno.test("every price of the table is one that money can count, at every tier", async () => {
  const { default: table } = await import("../../../src/models/facts/table.json", { with: { type: "json" } });
  const facts = await openFacts();
  let priced = 0;
  for (const [preset, rows] of Object.entries(table.presets as Record<string, string[]>)) {
    for (const text of rows) {
      const { id, source, sheets }: Row = JSON.parse(text);
      if (sheets === undefined) continue;
      assert(source !== undefined, `${preset} ${id}`);
      for (const { prices, tiers } of facts.find(preset, id)?.sheets ?? []) {
        for (const each of [prices, ...tiers.map((tier) => tier.prices)]) {
          const { prompt, completion } = priceTable(each);
          assertEquals([prompt === 0n, completion === 0n], [
            Number(each.prompt) === 0,
            Number(each.completion) === 0,
          ], id);
          // Above this a price was surely meant for a million tokens, or for a thousand searches or requests.
          for (const [name, price] of Object.entries(each)) {
            const most = /^(?:web_search|request|file_search|x_search|search_source)$/.test(name)
              ? 0.05
              : 0.002;
            assert(Number(price) <= most, `${preset} ${id}: ${price}`);
          }
          priced++;
        }
      }
    }
  }
  assert(priced > 2000, `${priced} prices`);
});

Deno.test("every facts preset is a provider preset, or a cloud's", () => {
  const clouds = ["azure", "bedrock", "vertex"];
  const strange = FACTS_PRESETS.filter(({ name }) => !PRESET_NAMES.includes(name) && !clouds.includes(name));
  assertEquals(strange, []);
});

Deno.test("the table's version of the price package is the one that the import map names", () => {
  assertEquals(
    manifest.scopes["./"]["@pydantic/genai-prices"],
    `npm:@pydantic/genai-prices@${PRICES_VERSION}`,
  );
});

sharedTest(
  "catalog/models-dev.json",
  "the table is what its sources make; `deno task catalog` writes it",
  async () => {
    const { table } = compile(JSON.parse(await Deno.readTextFile(shared("catalog/models-dev.json"))), TODAY);
    const written = await Deno.readTextFile(new URL("../../../src/models/facts/table.json", import.meta.url));
    assertEquals(written === tableText(table), true, "`deno task catalog` has to be run");
  },
);

sharedTest(
  "catalog/models-dev.json",
  "where the sources disagree on a price, the decision is written down",
  async () => {
    const { disagreements } = compile(
      JSON.parse(await Deno.readTextFile(shared("catalog/models-dev.json"))),
      TODAY,
    );
    const lines = disagreements.map((d) => {
      const taken = DECISIONS[`${d.preset} ${d.model}`] ? "models.dev" : "package";
      return `${d.preset} ${d.model} ${d.price}: package ${d.package}, models.dev ${d.modelsDev}; taken: ${taken}`;
    });
    const known = (await Deno.readTextFile(RECORDED)).trimEnd().split("\n").slice(1);
    // A new line wants a look: into DECISIONS where the package is wrong, and into the file either way.
    assertEquals(lines, known);
    const decided = new Set(disagreements.map((d) => `${d.preset} ${d.model}`));
    assertEquals(Object.keys(DECISIONS).filter((key) => !decided.has(key)), [], "decisions about nothing");
  },
);
