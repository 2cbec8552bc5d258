/**
 * Usage reports and statements, held against the records: any grouping, any span of time, as JSON and as CSV. The records themselves
 * are held against the model before.
 */
import { assert, assertEquals } from "@std/assert";
import type { Driver } from "./driver.ts";
import { accountOf, dollars, type Period, pico, startOf } from "./model.ts";

// deno-lint-ignore no-explicit-any
export type Loose = any;

const DAY = 86_400_000;
const PLAIN = ["key", "model", "day", "account", "provider", "format"];
const LABELS = ["team", "session", "tag:customer", "tag:n"];
/** Columns of sums, each with what a record adds to it. */
const COUNTS: Record<string, (record: Loose) => bigint> = {
  generations: () => 1n,
  failed: ({ status }) => status === "failed" || status === "interrupted" ? 1n : 0n,
  input_tokens: ({ usage }) => BigInt(usage?.input_tokens ?? 0),
  cached_tokens: ({ usage }) => BigInt(usage?.cached_tokens ?? 0),
  cache_write_tokens: ({ usage }) => BigInt(usage?.cache_write_tokens ?? 0),
  output_tokens: ({ usage }) => BigInt(usage?.output_tokens ?? 0),
  reasoning_tokens: ({ usage }) => BigInt(usage?.reasoning_tokens ?? 0),
  searches: ({ searches }) => BigInt(searches),
  cost: ({ cost }) => pico(cost),
  cache_saved: ({ cache_saved }) => pico(cache_saved ?? "0"),
};
const NAMES = Object.keys(COUNTS);

/** The value of a record in a dimension; the name of a key may change, its id does not. */
function valueOf(record: Loose, by: string): string {
  if (by === "day") return record.created.slice(0, 10);
  if (by === "key") return record.key_id;
  if (by.startsWith("tag:")) return record.tags[by.slice(4)] ?? "";
  return record[by] ?? "";
}

function sumsOf(records: readonly Loose[], by: readonly string[]): Map<string, string> {
  const groups = Map.groupBy(records, (record) => by.map((name) => valueOf(record, name)).join(" "));
  const text = (group: readonly Loose[]) =>
    NAMES.map((name) => `${name} ${group.reduce((sum, record) => sum + COUNTS[name](record), 0n)}`).join();
  return new Map([...groups].map(([name, group]) => [name, text(group)]));
}

/** A sum as the gateway says it, written as {@link sumsOf} does. */
function textOf(row: Loose): string {
  const money = (name: string) => name === "cost" || name === "cache_saved";
  return NAMES.map((name) => `${name} ${money(name) ? pico(row[name]) : BigInt(row[name])}`).join();
}

const nameOf = (row: Loose, by: readonly string[]) =>
  by.map((name) => (name === "key" ? row.key_id : row[name]) ?? "").join(" ");

/** RFC 4180. */
function parse(table: string): Record<string, string>[] {
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  const rows: string[][] = [[]];
  for (let match: RegExpExecArray | null; cell.lastIndex < table.length && (match = cell.exec(table));) {
    // A quote keeps spreadsheets from taking a text for a formula.
    const text = match[1]?.replaceAll('""', '"') ?? match[2];
    rows.at(-1)!.push(text.replace(/^'(?=[=+\-@])/, ""));
    if (match[3] === "\r\n") rows.push([]);
  }
  const [head, ...rest] = rows.slice(0, -1);
  return rest.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
}

export class Reports {
  readonly #driver: Driver;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /** @param records all that there are, of calls that have ended */
  async check(records: readonly Loose[]): Promise<void> {
    for (let i = 0; i < 4; i++) await this.#usage(records);
    await this.statement(records);
    await this.pages(records);
    await this.#overview(records);
  }

  /** The overview of a long range is read from sums by day. */
  async #overview(records: readonly Loose[]): Promise<void> {
    const driver = this.#driver;
    const range = driver.pick(["30d", "90d", "1y"]);
    const by = driver.pick(["model", "provider", "key", "team"]);
    const path = `/admin/overview?range=${range}&by=${by}`;
    const told = await driver.admin("GET", path);
    assertEquals(told.source, "sums by day", path);
    const within = records.filter(({ created }) => created >= told.from && created < told.to);
    const counts = (of: readonly Loose[]) =>
      ["cost", "input_tokens", "output_tokens", "searches"].map((name) =>
        of.reduce((sum, record) => sum + COUNTS[name](record), 0n)
      );
    const said = ({ cost, input_tokens, output_tokens, searches }: Loose) => [
      pico(cost),
      ...[input_tokens, output_tokens, searches].map(BigInt),
    ];
    assertEquals(said(told.total), counts(within), path);
    const series: string[] = told.series.cost;
    assertEquals(series.reduce((sum, cost) => sum + pico(cost), 0n), counts(within)[0], `series of ${path}`);
    // Two keys may have had the same name.
    const names = new Map(driver.keys.map((key) => [key.id, key.name]));
    const name = (record: Loose) => (by === "key" ? names.get(record.key_id) : record[by]) ?? "";
    const groups = Map.groupBy(within.filter((record) => name(record) !== ""), name);
    for (const group of told.groups) {
      assertEquals(said(group), counts(groups.get(group.value) ?? []), `${group.value} of ${path}`);
    }
    if (told.more_groups === 0) assert(told.groups.length >= groups.size, path);
  }

  #spanOf(records: readonly Loose[]): { from: number | null; to: number | null } {
    const driver = this.#driver;
    if (records.length === 0 || driver.chance(0.3)) return { from: null, to: null };
    const at = () => {
      const time = Date.parse(driver.pick(records).created);
      const day = time - time % DAY;
      return driver.pick([time, time + 1, day, day + DAY, day - 1, day + DAY + 1]);
    };
    const [a, b] = [at(), at()];
    if (a === b) return { from: a, to: null };
    return driver.pick([{ from: Math.min(a, b), to: Math.max(a, b) }, { from: a, to: null }, {
      from: null,
      to: b,
    }]);
  }

  async #usage(records: readonly Loose[]): Promise<void> {
    const driver = this.#driver;
    const all = [...PLAIN, ...LABELS];
    const first = driver.pick(all);
    const second = driver.chance(0.6) ? driver.pick(all.filter((name) => name !== first)) : null;
    const by = second === null ? [first] : [first, second];
    await this.#usageOf(records, by, this.#spanOf(records));
  }

  /** Of whole days, by what is known of records that have been deleted. */
  async usageOfDays(records: readonly Loose[]): Promise<void> {
    const driver = this.#driver;
    const label = driver.pick(["team", "tag:customer"]);
    const by = driver.pick([
      [driver.pick(PLAIN)],
      [label],
      [label, driver.pick(PLAIN)],
      [driver.pick(["key", "day", "account"]), driver.pick(["model", "provider", "format"])],
      ["team", "tag:customer"],
    ]);
    const midnight = (time: number | null) => time === null ? null : time - time % DAY;
    const { from, to } = this.#spanOf(records);
    const span = { from: midnight(from), to: midnight(to) };
    if (span.from !== null && span.from === span.to) span.to = span.from + DAY;
    await this.#usageOf(records, by, span);
  }

  async #usageOf(
    records: readonly Loose[],
    by: readonly string[],
    { from, to }: { from: number | null; to: number | null },
  ): Promise<void> {
    const driver = this.#driver;
    const query = new URLSearchParams({ by: by.join() });
    if (from !== null) query.set("from", this.#written(from));
    if (to !== null) query.set("to", this.#written(to));
    const within = records.filter(({ created }) => {
      const time = Date.parse(created);
      return (from === null || time >= from) && (to === null || time < to);
    });
    const expected = [...sumsOf(within, by)].sort();
    const what = `usage ${query}`;
    const rows: Loose[] = [];
    const limit = driver.pick([1000, 7]);
    for (let cursor: string | null = ""; cursor !== null;) {
      const more = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const page: Loose = await driver.admin("GET", `/admin/usage?${query}&limit=${limit}${more}`);
      assertEquals(page.incomplete_before, undefined, what);
      rows.push(...page.data);
      cursor = page.next_cursor;
    }
    assertEquals(rows.map((row) => [nameOf(row, by), textOf(row)]).sort(), expected, what);
    const table = await driver.adminText(`/admin/usage?${query}`, "text/csv");
    const written = parse(table);
    assertEquals(written.map((row) => [nameOf(row, by), textOf(row)]).sort(), expected, `${what} as CSV`);
  }

  /** The same time in any zone. */
  #written(time: number): string {
    const hours = this.#driver.pick([0, 0, -11, 5]);
    if (hours === 0) return new Date(time).toISOString();
    const sign = hours < 0 ? "-" : "+";
    const there = new Date(time + hours * 3_600_000 + (hours < 0 ? -1 : 1) * 30 * 60_000);
    return `${there.toISOString().slice(0, -1)}${sign}${String(Math.abs(hours)).padStart(2, "0")}:30`;
  }

  /** @param retired records before it have been deleted: their lines are sums by day and model */
  async statement(records: readonly Loose[], retired = 0): Promise<void> {
    const driver = this.#driver;
    if (records.length === 0) return;
    const { account, created } = driver.pick(records);
    const month = created.slice(0, 7);
    const own = records.filter((one) => one.account === account && one.created.startsWith(month));
    const by = driver.pick(["generation", "day"]);
    const path = `/admin/accounts/${encodeURIComponent(account)}/statement?month=${month}&by=${by}`;
    const { lines, totals, models, prices } = await driver.admin("GET", path);
    const names = ["cost", "generations", "input_tokens", "output_tokens", "searches"];
    const sum = (name: string, of: readonly Loose[]) =>
      of.reduce((sum, record) => sum + COUNTS[name](record), 0n);
    for (const name of names) {
      const value = (row: Loose) => name === "cost" ? pico(row[name]) : BigInt(row[name]);
      assertEquals(value(totals), sum(name, own), `${name} of ${path}`);
      assertEquals(
        models.map((row: Loose) => [row.model, value(row)]).sort(),
        [...Map.groupBy(own, ({ model }) => model)].map(([model, of]) => [model, sum(name, of)]).sort(),
        `${name} by model of ${path}`,
      );
    }
    const cost = (rows: readonly Loose[]) => rows.reduce((all, row) => all + pico(row.cost), 0n);
    assertEquals(cost(lines), sum("cost", own), path);
    const kept = own.filter((one) => Date.parse(one.created) >= retired);
    if (by === "generation") {
      const ids = lines.flatMap(({ id }: Loose) => id ?? []);
      assertEquals(ids.sort(), kept.map(({ id }) => id).sort(), path);
    }
    const used = new Set(kept.flatMap(({ price_version }) => price_version?.split(", ") ?? []));
    assertEquals(new Set(prices.map((row: Loose) => row.version)), used, `prices of ${path}`);
    for (const row of prices) assertEquals(row.prices === null, false, `${row.version} of ${path}`);
    const table = parse(await driver.adminText(path, "text/csv"));
    const written = table.filter(({ line }) => line === "generation" || line === "day");
    assertEquals(cost(written), sum("cost", own), `${path} as CSV`);
    assertEquals(table.find(({ line }) => line === "total")?.cost, totals.cost, `${path} as CSV`);
  }

  /** Small pages of filtered lists hold each record once, newest first. */
  async pages(records: readonly Loose[]): Promise<void> {
    const driver = this.#driver;
    if (records.length === 0) return;
    const one = driver.pick(records);
    const [filter, has] = driver.pick<[string, (record: Loose) => boolean]>([
      [`key=${encodeURIComponent(one.key_id)}`, ({ key_id }) => key_id === one.key_id],
      [`key=${encodeURIComponent(one.key)}`, ({ key }) => key === one.key],
      [`account=${encodeURIComponent(one.account)}`, ({ account }) => account === one.account],
      [`model=${encodeURIComponent(one.model)}`, ({ model }) => model === one.model],
      [`format=${one.format}`, ({ format }) => format === one.format],
      [`status=${one.status}`, ({ status }) => status === one.status],
      [
        `tag=${encodeURIComponent(`customer=${one.tags.customer ?? "none"}`)}`,
        ({ tags }) => tags.customer === (one.tags.customer ?? "none"),
      ],
      ["tag=customer", ({ tags }) => tags.customer !== undefined],
      [`min_cost=${one.cost}`, ({ cost }) => pico(cost) >= pico(one.cost)],
      [
        `max_cost=${one.cost}&stream=${one.stream}`,
        ({ cost, stream }) => pico(cost) <= pico(one.cost) && stream === one.stream,
      ],
      ["searched=true", ({ searches }) => searches > 0],
      ["cached=true&estimated=false", ({ usage }) => (usage?.cached_tokens ?? 0) > 0],
      ["reasoned=true", ({ usage }) => (usage?.reasoning_tokens ?? 0) > 0],
      [`provider=${one.provider ?? "p"}`, ({ provider }) => provider === (one.provider ?? "p")],
      one.price_version === null
        ? ["status=failed", ({ status }) => status === "failed"]
        : [`price_version=${encodeURIComponent(one.price_version)}`, ({ price_version }) =>
          price_version === one.price_version],
      [
        `min_output_tokens=${one.usage?.output_tokens ?? 1}`,
        ({ usage }) => usage !== null && usage.output_tokens >= (one.usage?.output_tokens ?? 1),
      ],
      [
        one.session === null ? "" : `session=${encodeURIComponent(one.session)}`,
        ({ session }) => one.session === null || session === one.session,
      ],
      [
        one.team === null ? "" : `team=${encodeURIComponent(one.team)}`,
        ({ team }) => one.team === null || team === one.team,
      ],
    ]);
    const { from, to } = this.#spanOf(records);
    const query = `${filter}${from === null ? "" : `&from=${new Date(from).toISOString()}`}${
      to === null ? "" : `&to=${new Date(to).toISOString()}`
    }`;
    const expected = records.filter((record) => {
      const time = Date.parse(record.created);
      return has(record) && (from === null || time >= from) && (to === null || time < to);
    });
    const found: Loose[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const more = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const page: Loose = await driver.admin("GET", `/admin/generations?limit=13&${query}${more}`);
      found.push(...page.data);
      cursor = page.next_cursor;
    }
    assertEquals(found.map(({ id }) => id).sort(), expected.map(({ id }) => id).sort(), query);
    const order = found.map(({ created, id }) => `${created} ${id}`);
    assertEquals(order, order.toSorted().reverse(), query);
  }

  /** What callers read of their own keys. */
  async ownKeys(records: readonly Loose[], isKept: (record: Loose) => boolean = () => true): Promise<void> {
    const driver = this.#driver;
    const { now } = driver;
    if (startOf("day", now - 2000) !== startOf("day", now + 2000)) return;
    for (const key of driver.keys) {
      if (key.revoked) continue;
      const read = async (path: string) => {
        const response = await fetch(driver.pick(driver.nodes).url + path, {
          headers: { authorization: `Bearer ${key.secrets.at(-1)!.secret}` },
        });
        const text = await response.text();
        return { status: response.status, text, body: JSON.parse(text) };
      };
      const { status, text, body } = await read("/v1/key");
      // It has expired meanwhile.
      if (key.expires > now && key.expires <= driver.now) continue;
      if (key.expires <= now) {
        assertEquals(status, 401, `${key.name}: ${text}`);
        continue;
      }
      assertEquals(status, 200, `${key.name}: ${text}`);
      const since = (period: Period, has: (record: Loose) => boolean) =>
        records.filter((record) =>
          has(record) && startOf(period, Date.parse(record.created)) === startOf(period, now)
        );
      const cost = (of: readonly Loose[]) => dollars(of.reduce((sum, record) => sum + pico(record.cost), 0n));
      const own = since(key.limit?.period ?? "month", ({ key_id }) => key_id === key.id);
      const saved = own.reduce((sum, { cache_saved }) => sum + pico(cache_saved ?? "0"), 0n);
      const account = accountOf(key, driver);
      assertEquals(
        [
          body.name,
          body.account,
          body.team,
          dollars(pico(body.spend.amount)),
          dollars(pico(body.cache_saved)),
        ],
        [key.name, account, key.team, cost(own), dollars(saved)],
        `what ${key.name} reads`,
      );
      if (key.team !== null) {
        const period = driver.teams.get(key.team)?.period ?? "month";
        const spent = cost(since(period, ({ team }) => team === key.team));
        assertEquals(dollars(pico(body.team_spend.amount)), spent, `what ${key.name} reads of ${key.team}`);
      }
      const credits = driver.credits.get(account);
      const spent = records.reduce((sum, one) => sum + (one.account === account ? pico(one.cost) : 0n), 0n);
      assertEquals(
        [body.credits.unlimited, body.credits.balance === null ? null : pico(body.credits.balance)],
        [credits === undefined, credits === undefined ? null : credits - spent],
        `what ${key.name} reads of ${account}`,
      );
      if (records.length === 0) continue;
      const one = driver.pick(records);
      const found = await read(`/v1/generations/${one.id}`);
      const isSeen = one.key_id === key.id && isKept(one);
      assertEquals(found.status, isSeen ? 200 : 404, `${key.name} reads ${one.id} of ${one.key}`);
      if (found.status === 200) assertEquals(found.body.cost, one.cost);
    }
  }
}
