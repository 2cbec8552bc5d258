/** A statement has every call of its month and none of another, and adds up to what the ledger charged, to the last digit. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { parseAmount } from "../../src/accounts/mod.ts";
import { statementChunks } from "../../src/commands/statement.ts";
import { ACCOUNTS, CONFIG_KEY } from "../../src/accounts/config.ts";
import type { Store } from "../../src/store/mod.ts";
import { codeOf, endOf, NOON, open, requestOf, type Running, SECRET } from "./support.ts";
import { onBothEngines } from "../support/cluster.ts";

const OTHER = SECRET.replace("devdev", "othoth");
const PRICES = { prompt: "0.000000000001", completion: "0.3333333333333333", web_search: "0.005" };
const DEARER = { prompt: "0.01", completion: "0.01" };
const CONFIG = {
  keys: [
    CONFIG_KEY.parse({ name: "dev", secret: SECRET, account: "acme" }),
    CONFIG_KEY.parse({ name: "other", secret: OTHER, account: "umbrella" }),
  ],
  accounts: ACCOUNTS.parse([{ name: "acme", credits: null }, { name: "umbrella", credits: null }]),
  accessPolicies: [],
  searchPrice: "0.005",
};
/** The first and last moments of January 2026, and those beside. */
const EDGES = [
  "2025-12-31T23:59:59.999Z",
  "2026-01-01T00:00:00.000Z",
  "2026-01-31T23:59:59.999Z",
  "2026-02-01T00:00:00Z",
]
  .map(Date.parse);

async function call(
  service: Running,
  secret: string,
  created: number,
  { prices = PRICES, model = "a/b", input = 3, output = 1 }: {
    prices?: Record<string, string>;
    model?: string;
    input?: number;
    output?: number;
  } = {},
): Promise<void> {
  const key = await service.authenticate(secret);
  const reservation = await service.admit(requestOf(key, 3, { created, prices, model }));
  await reservation.settle(endOf({ input, output, cached: 1 }, { searches: 1 }));
}

async function textOf(
  service: Running,
  more: { by?: string; form?: "json" | "csv" | "text"; month?: string } = {},
) {
  const { by = "generation", form = "json", month = "2026-01" } = more;
  let text = "";
  const command = { command: "statement", account: "acme", month, by, form } as const;
  for await (const chunk of statementChunks(command, service)) text += chunk;
  return text;
}

/** In picodollars. */
const sumOf = (lines: { cost: string }[]) => lines.reduce((sum, { cost }) => sum + parseAmount(cost)!, 0n);

onBothEngines(({ name, place }) => {
  function test(title: string, body: (service: Running, store: Store) => Promise<void>): void {
    Deno.test(`${name}: ${title}`, async () => {
      const here = place();
      const store = here.open();
      const service = await open(store, CONFIG);
      service.clock.move(Date.UTC(2026, 2, 1) - NOON);
      try {
        await body(service, store);
      } finally {
        await service.close();
        here.remove();
      }
    });
  }

  async function fill(service: Running): Promise<void> {
    for (const created of EDGES) await call(service, SECRET, created);
    for (let i = 0; i < 20; i++) {
      await call(service, SECRET, NOON + i * 100_000_000, { input: i, output: i % 7, model: `a/${i % 3}` });
      await call(service, OTHER, NOON + i);
    }
    await call(service, SECRET, NOON, { prices: DEARER, input: 5 });
    await service.addCredits("acme", "12.5", { note: "for February" });
    await service.flush();
  }

  test("a statement tells the prices of the file and of the table with the model that they are of", async (service) => {
    const usage = { input: 3, output: 1 };
    const version = "file 2e7f7cad";
    const key = await service.authenticate(SECRET);
    for (const [model, prices] of [["a/b", PRICES], ["a/c", DEARER]] as const) {
      const reservation = await service.admit(requestOf(key, 3, { created: NOON, prices, model }));
      const charges = [{ usage: { ...NO_USAGE, ...usage }, prices, version }];
      await reservation.settle(endOf(usage, { charges }));
    }
    await service.flush();
    for (const by of ["generation", "day"]) {
      const { prices } = JSON.parse(await textOf(service, { by }));
      assertEquals(
        prices.map((
          p: { version: string; model: string; prices: unknown },
        ) => [p.version, p.model, p.prices]),
        [[version, "a/b", PRICES], [version, "a/c", DEARER]],
      );
      const text = await textOf(service, { by, form: "text" });
      assertStringIncludes(text, `Prices ${version} of a/b: prompt ${PRICES.prompt}`);
      const priced = (await textOf(service, { by, form: "csv" })).split("\r\n").filter((line) =>
        line.startsWith("price,")
      );
      assertEquals(priced.map((line) => ["a/b", "a/c"].find((model) => line.includes(`,${model},`))), [
        "a/b",
        "a/c",
      ]);
    }
  });

  test("a statement tells prices from every source", async (service) => {
    const sources = [
      "genai-prices 0.1.8 above 200000",
      "models.dev f3fc69229 flex",
      "listed 0123abcd",
      "own server",
      "unknown",
    ];
    const key = await service.authenticate(SECRET);
    const usage = { input: 3, output: 1 };
    for (const version of sources) {
      for (const [model, prices] of [["a/b", { ...PRICES }], ["a/c", { ...DEARER }]] as const) {
        const reservation = await service.admit(requestOf(key, 3, { created: NOON, prices, model }));
        await reservation.settle(
          endOf(usage, { charges: [{ usage: { ...NO_USAGE, ...usage }, prices, version }] }),
        );
      }
    }
    await service.flush();
    const { prices } = JSON.parse(await textOf(service));
    const told = prices.map((p: { version: string; model: string; prices: unknown }) =>
      JSON.stringify([p.version, p.model, p.prices])
    );
    const expected = sources.flatMap((version) =>
      ([["a/b", PRICES], ["a/c", DEARER]] as const).map(([model, prices]) =>
        JSON.stringify([version, model, prices])
      )
    );
    assertEquals(told.sort(), expected.sort());
  });

  test("a statement holds its month and adds up to the sums", async (service) => {
    await fill(service);
    const statement = JSON.parse(await textOf(service));
    const month = { from: "2026-01-01", to: "2026-02-01" };
    const [sums] = (await service.usage({ by: "account", ...month })).data.filter(({ account }) =>
      account === "acme"
    );
    const inside = 2 + 15 + 1;
    assertEquals([statement.lines.length, statement.totals.generations, sums.generations], [
      inside,
      inside,
      inside,
    ]);
    assertEquals(statement.totals.cost, sums.cost);
    assertEquals(sumOf(statement.lines), parseAmount(sums.cost));
    assertEquals(sumOf(statement.models), parseAmount(sums.cost));
    for (const field of ["input_tokens", "cached_tokens", "output_tokens", "searches", "failed"] as const) {
      assertEquals(statement.totals[field], sums[field], field);
    }
    assertEquals(statement.lines[0].created, "2026-01-01T00:00:00.000Z");
    assertEquals(statement.lines.at(-1).created, "2026-01-31T23:59:59.999Z");
    assert(statement.lines.every(({ account }: { account: string }) => account === "acme"));
    const versions = new Map(
      statement.prices.map((p: { version: string; prices: unknown }) => [p.version, p.prices]),
    );
    assertEquals(versions.size, 2);
    for (const { price_version } of statement.lines) assert(versions.get(price_version) !== null);
    assertEquals([...versions.values()].map((p) => (p as { prompt: string }).prompt).sort(), [
      PRICES.prompt,
      DEARER.prompt,
    ]);

    const byDay = JSON.parse(await textOf(service, { by: "day" }));
    assertEquals(byDay.totals, statement.totals);
    assertEquals(sumOf(byDay.lines), parseAmount(sums.cost));
    assertEquals(byDay.prices, statement.prices);
    assert(byDay.lines.every(({ day }: { day: string }) => day.startsWith("2026-01-")));
  });

  test("a statement as CSV has the same lines, and the sums behind them", async (service) => {
    await fill(service);
    const lines = (await textOf(service, { form: "csv" })).trimEnd().split("\r\n").map((line) =>
      line.split(",")
    );
    const [head, ...rows] = lines;
    const at = (row: string[], column: string) => row[head.indexOf(column)];
    const of = (kind: string) => rows.filter((row) => at(row, "line") === kind);
    const [total] = of("total");
    assertEquals(of("generation").length, Number(at(total, "generations")));
    assertEquals(
      sumOf(of("generation").map((row) => ({ cost: at(row, "cost") }))),
      parseAmount(at(total, "cost")),
    );
    assertEquals(of("price").length, 2);
    const text = await textOf(service, { form: "text" });
    assert(text.includes(`Total  18 calls`), text);
  });

  test(
    "a statement of a month whose records are partly deleted adds up all the same",
    async (service, store) => {
      await fill(service);
      const before = JSON.parse(await textOf(service));
      while (await store.retireSome(Date.UTC(2026, 0, 20), 100) > 0);
      const after = JSON.parse(await textOf(service));
      assertEquals(after.totals, before.totals);
      assert(
        after.lines.some((line: object) => "day" in line) && after.lines.some((line: object) => "id" in line),
      );
    },
  );

  test("a statement is read in pages, however many lines it has", async (service, store) => {
    const key = await service.authenticate(SECRET);
    const all = Array.from({ length: 1203 }, (_, i) => i);
    for (const i of all) {
      // Many at the same moment, so that pages end between them.
      const reservation = await service.admit(
        requestOf(key, 1, { created: NOON + Math.floor(i / 700), prices: PRICES }),
      );
      await reservation.settle(endOf({ input: 1 }));
    }
    await service.flush();
    const { lines, totals } = JSON.parse(await textOf(service));
    assertEquals([lines.length, totals.generations], [all.length, all.length]);
    assertEquals(new Set(lines.map(({ id }: { id: string }) => id)).size, all.length);
    assertEquals(await store.retiredBefore(), 0);
  });

  test(
    "a statement whose records are deleted while it is read ends with an error",
    async (service, store) => {
      await fill(service);
      const { lines, foot } = await service.statement({ account: "acme", month: "2026-01" });
      const pages = lines[Symbol.asyncIterator]();
      // Its first page is that of the days whose records were deleted before: of none.
      await pages.next();
      while (await store.retireSome(Date.UTC(2026, 0, 20), 100) > 0);
      const read = async () => {
        while (!(await pages.next()).done);
        await foot();
      };
      assertEquals(await codeOf(read), "service_unavailable");
      assertEquals(await codeOf(() => textOf(service)), null);
      // Sums by day do not change.
      const byDay = await service.statement({ account: "acme", month: "2026-01", by: "day" });
      for await (const _ of byDay.lines) while (await store.retireSome(Date.UTC(2026, 1, 1), 100) > 0);
      assertEquals((await byDay.foot()).totals.generations, 18);
    },
  );

  test("a statement has the calls of nodes whose clocks are ahead, and of before the clock was set back", async (service) => {
    service.clock.move(NOON - service.clock.now());
    const ends = Date.UTC(2026, 1, 1);
    for (const created of [NOON - 1000, NOON, NOON + 5000, NOON + 3_600_000, ends]) {
      await call(service, SECRET, created);
    }
    for (const by of ["generation", "day"]) {
      const { lines, totals } = JSON.parse(await textOf(service, { by }));
      assertEquals(totals.generations, 4, by);
      assertEquals(sumOf(lines), parseAmount(totals.cost), by);
    }
  });

  test("a statement of nothing is empty, of an unknown account or month refused", async (service) => {
    await service.addCredits("acme", "3");
    const empty = JSON.parse(await textOf(service, { month: "2026-03" }));
    assertEquals([empty.lines, empty.totals.generations, empty.totals.cost], [[], 0, "0.00"]);
    assertEquals(empty.credits_added.map(({ amount }: { amount: string }) => amount), ["3.00"]);
    const refused = (account: string, month: string, by?: string) =>
      codeOf(() => service.statement({ account, month, by }));
    assertEquals(await refused("nobody", "2026-01"), "not_found");
    for (const month of ["2026-00", "2026-1", "202601", "", "2026-13"]) {
      assertEquals(await refused("acme", month), "validation_error", month);
    }
    assertEquals(await refused("acme", "2026-01", "week"), "validation_error");
  });
});
