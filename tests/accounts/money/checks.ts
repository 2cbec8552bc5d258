/** What the gateway says of money, held against the model. */
import { assert, assertEquals } from "@std/assert";
import { eventually } from "../../support/time.ts";
import type { Driver } from "./driver.ts";
import { type Loose, Reports } from "./reports.ts";
import {
  type Call,
  costOf,
  dollars,
  hasSearchPrice,
  inForce,
  type Key,
  type Limit,
  pico,
  searchPriceOf,
  startOf,
} from "./model.ts";
import type { Billed } from "./world.ts";

export class Checks {
  readonly #driver: Driver;
  /** By model and version of its prices: what was billed at it. */
  readonly #versions = new Map<string, string>();
  /** How often limits of a budget have been changed. */
  readonly #changes = new Map<string, number>();
  /** How many calls had been let in when a limit was changed last. */
  readonly #changedAt = new Map<string, number>();

  readonly #reports: Reports;

  constructor(driver: Driver) {
    this.#driver = driver;
    this.#reports = new Reports(driver);
  }

  limited(key: Key): void {
    for (const scope of ["key", "session", "tag"]) this.#changed(`${scope} ${key.id}`);
  }

  limitedTeam(name: string, _: Limit | null): void {
    this.#changed(`team ${name}`);
  }

  creditsChanged(account: string): void {
    this.#changed(`account ${account}`);
  }

  #changed(name: string): void {
    this.#changes.set(name, (this.#changes.get(name) ?? 1) + 1);
    this.#changedAt.set(name, this.#driver.calls.length);
  }

  /** Records of calls whose callers have left come by themselves. */
  async recorded(call: Call): Promise<Loose> {
    let found: Loose[] = [];
    await eventually(async () => {
      found = await this.recordsOf(`tag=n%3D${call.nonce}`);
      return found.length > 0;
    }, { what: `a record of ${call.nonce}` });
    return found[0];
  }

  async costOf(call: Call): Promise<bigint> {
    return pico((await this.recorded(call)).cost);
  }

  /**
   * Of a call that may have been sent to two providers: the answer of the second is billed as well where it had begun. What was billed by
   * the record is what counts from then on.
   */
  async hedged(call: Call): Promise<void> {
    const { billed, failed, searched } = this.#driver.world;
    const uses = billed.get(call.nonce) ?? [];
    if (uses.length === 1) call.provider = uses[0].at;
    if (uses.length < 2 || failed.has(call.nonce)) return;
    const { usage, provider } = await this.recorded(call);
    const tokens = usage.input_tokens + usage.output_tokens;
    const first = uses.filter(({ at }) => at === provider);
    const count = (of: readonly Billed[]) => of.reduce((sum, { input, output }) => sum + input + output, 0);
    assert(first.length === 1 && !searched.has(call.nonce), `${call.nonce}: ${JSON.stringify(uses)}`);
    billed.set(call.nonce, count(first) === tokens ? first : uses);
    assertEquals(count(billed.get(call.nonce)!), tokens, `${call.nonce}: ${JSON.stringify(uses)}`);
    call.provider = provider;
    this.#driver.count(count(first) === tokens ? "hedged" : "hedged, both billed");
  }

  /** Of a call whose provider did not say what it has used: how much the gateway takes it for, which is about right. */
  async estimated(call: Call, chars: number): Promise<void> {
    const { usage, usage_estimated } = await this.recorded(call);
    const { input_tokens: input, output_tokens: output } = usage;
    assert(usage_estimated, JSON.stringify(usage));
    assert(
      input >= chars / 5 && input <= (chars + 400) / 3,
      `${call.nonce}: ${input} tokens of ${chars} characters`,
    );
    assert(output >= 1 && output <= 5, `${call.nonce}: ${output} tokens of hello`);
    const none = {
      cached: 0,
      written: 0,
      hour: 0,
      own: 0,
      audio: 0,
      reasoning: 0,
      spoken: 0,
      at: call.provider,
      model: undefined,
      service: undefined,
    };
    this.#driver.world.billed.set(call.nonce, [{ input, output, ...none }]);
  }

  async recordsOf(query: string): Promise<Loose[]> {
    const all: Loose[] = [];
    let cursor = "";
    do {
      const page: Loose = await this.#driver.admin(
        "GET",
        `/admin/generations?limit=1000&${query}${
          cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`
        }`,
      );
      all.push(...page.data);
      cursor = page.next_cursor ?? "";
    } while (cursor !== "");
    return all;
  }

  /** What came of calls whose node was killed: nothing, a record as interrupted that costs nothing, or the whole bill. */
  async findLost(): Promise<void> {
    const { lost, world } = this.#driver;
    for (const call of lost.splice(0)) {
      let found: Loose[] = [];
      await eventually(async () => {
        found = await this.recordsOf(`tag=n%3D${call.nonce}`);
        return found.length > 0;
      }, { what: `a record of ${call.nonce}, which ran when its node was killed` });
      assertEquals(found.length, 1, JSON.stringify(found));
      const [{ status, cost }] = found;
      assertEquals([status, pico(cost)], ["interrupted", 0n], JSON.stringify(found));
      call.cost = 0n;
      call.tokens = 0;
      world.billed.delete(call.nonce);
      this.#interrupted.add(call.nonce);
    }
  }
  readonly #interrupted = new Set<string>();

  async all(): Promise<void> {
    const driver = this.#driver;
    // Failed calls may have a record or not: none of them may come between two reads.
    for (const node of driver.nodes) await node.tell("flush now");
    const ended = driver.calls.filter(({ cost }) => cost !== null);
    let wrong = "";
    let records: Loose[] = [];
    await eventually(async () => {
      records = await this.recordsOf("");
      wrong = this.#wrongOf(ended, records);
      return wrong === "";
    }, { what: () => `records as expected: ${wrong}` });
    await this.#sums(ended);
    await this.budgets();
    await this.#reports.check(records);
    await this.#reports.ownKeys(records);
    driver.count("checks");
  }

  #wrongOf(ended: readonly Call[], records: readonly Loose[]): string {
    const { world, running } = this.#driver;
    const byNonce = Map.groupBy(records, ({ tags }) => tags.n as string);
    const known = new Set(ended.map(({ nonce }) => nonce));
    for (const [nonce, found] of byNonce) {
      if (!known.has(nonce) && !running.has(nonce)) return `a record of ${nonce}, which was refused`;
      if (running.has(nonce)) return `a record of ${nonce}, which runs: ${JSON.stringify(found)}`;
    }
    for (const call of ended) {
      const { nonce, session, customer, model } = call;
      const found = byNonce.get(nonce) ?? [];
      const broke = world.failed.has(nonce);
      const uses = world.billed.get(nonce) ?? [];
      const own = uses.reduce((sum, one) => sum + one.own, 0);
      const engine = world.searched.get(nonce) ?? 0;
      const searches = found[0]?.searches === engine && call.isLimited ? engine : engine + own;
      if (found.length === 0) {
        if (broke && searches === 0 && uses.length === 0) continue;
        return `no record of ${nonce}`;
      }
      if (found.length > 1) return `${found.length} records of ${nonce}`;
      const [record] = found;
      call.created = Date.parse(record.created);
      if (call.orOf !== undefined) {
        const { team, account } = call.orOf;
        if (record.team === team && record.account === account) Object.assign(call, call.orOf);
        call.orOf = undefined;
      }
      const { name, team, account } = call;
      const is = [record.key, record.team, record.account, record.session, record.tags.customer ?? null]
        .join();
      const should = [name, team, account, session, customer].join();
      if (is !== should) return `${nonce} is of ${is}, not of ${should}`;
      const cost = pico(record.cost);
      for (const priced of [call.priced, ...(call.orPriced === undefined ? [] : [call.orPriced])]) {
        if (this.#interrupted.has(nonce) || call.isCallers) break;
        // Of an answer that broke off nothing is known but what was asked for.
        const lasts = broke ? [uses.at(-1), { input: 0, service: call.tier }] : [uses.at(-1)];
        if (!lasts.some((last) => costOf(broke ? [] : uses, searches, model, priced, last) === cost)) {
          continue;
        }
        call.cost = cost;
        call.priced = priced;
        break;
      }
      call.orPriced = undefined;
      if (pico(record.cost) !== call.cost) {
        return `${nonce} costs ${record.cost}, not ${dollars(call.cost!)}: ${JSON.stringify(record)} ${
          JSON.stringify(uses)
        }`;
      }
      if (this.#interrupted.has(nonce)) continue;
      if (record.searches !== searches) return `${nonce}: ${record.searches} searches, not ${searches}`;
      if (broke) continue;
      const served = uses.at(-1)?.model ?? model;
      if (record.model !== `p/${served}`) return `${nonce}: of ${record.model}, not of p/${served}`;
      const tokens = (record.usage?.input_tokens ?? 0) + (record.usage?.output_tokens ?? 0);
      if (record.provider !== call.provider) {
        return `${nonce}: of ${record.provider}, not of ${call.provider}`;
      }
      const parts = ["cached", "written", "hour", "reasoning", "spoken"] as const;
      const {
        cached_tokens,
        cache_write_tokens,
        cache_write_1h_tokens,
        reasoning_tokens,
        audio_output_tokens,
      } = record.usage ?? {};
      const told = [
        cached_tokens,
        cache_write_tokens,
        cache_write_1h_tokens,
        reasoning_tokens,
        audio_output_tokens,
      ].map((count) => count ?? 0).join();
      const given = parts.map((part) => uses.reduce((sum, one) => sum + one[part], 0)).join();
      if (told !== given) return `${nonce}: parts ${told}, not ${given}`;
      if (tokens !== call.tokens) return `${nonce}: ${tokens} tokens, not ${call.tokens}`;
      if (call.isCallers) continue;
      const counted = uses.map((one) => inForce(one, one.model ?? model, call.priced).prompt);
      const search = searchPriceOf(uses.at(-1)!, served, call.priced);
      const isNamed = searches > 0 && !uses.some((one) => hasSearchPrice(one, model, call.priced, search));
      if (isNamed) counted.push(`search ${search}`);
      const prices = [...new Set(counted)].sort().join();
      const version = `${served} ${record.price_version}`;
      const said = this.#versions.get(version) ?? prices;
      this.#versions.set(version, said);
      if (said !== prices) return `${nonce}: version ${record.price_version} is ${said}, not ${prices}`;
    }
    return "";
  }

  async #sums(ended: readonly Call[]): Promise<void> {
    const { admin } = this.#driver;
    const names: [by: string, of: (call: Call) => string][] = [
      ["key_id", ({ key }) => key.id],
      ["team", ({ team }) => team ?? ""],
      ["account", ({ account }) => account],
      ["day", ({ created }) => new Date(created).toISOString().slice(0, 10)],
      ["tag:customer", ({ customer }) => customer ?? ""],
      ["session", ({ session }) => session ?? ""],
    ];
    for (const [by, of] of names) {
      const expected = new Map<string, bigint>();
      for (const call of ended) {
        if (call.cost! > 0n) expected.set(of(call), (expected.get(of(call)) ?? 0n) + call.cost!);
      }
      const { data } = await admin.call(
        this.#driver,
        "GET",
        `/admin/usage?by=${by === "key_id" ? "key" : by}&limit=1000`,
      );
      const got = new Map<string, bigint>();
      for (const row of data) if (pico(row.cost) > 0n) got.set(row[by] ?? "", pico(row.cost));
      assertEquals([...got].sort(), [...expected].sort(), `usage by ${by}`);
    }
  }

  async budgets(): Promise<void> {
    const driver = this.#driver;
    const now = driver.now;
    if (startOf("day", now - 2000) !== startOf("day", now + 2000)) return;
    const spentIn = (of: (call: Call) => boolean, limit: Limit) => {
      const starts = startOf(limit.period, now);
      return driver.calls.filter((call) => of(call) && startOf(limit.period, call.created) === starts)
        .reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
    };
    const { data: keys } = await driver.admin("GET", "/admin/keys?limit=1000");
    for (const key of driver.keys) {
      if (key.limit === null || key.revoked) continue;
      const { spend } = keys.find(({ id }: Loose) => id === key.id);
      assertEquals(
        pico(spend.amount),
        spentIn((call) => call.key === key, key.limit),
        `spend of ${key.name}`,
      );
    }
    const { data: teams } = await driver.admin("GET", "/admin/teams?limit=1000");
    for (const [name, limit] of driver.teams) {
      if (limit === null) continue;
      const { spend } = teams.find((team: Loose) => team.name === name);
      assertEquals(pico(spend.amount), spentIn(({ team }) => team === name, limit), `spend of ${name}`);
    }
    for (const [name, credits] of driver.credits) {
      const { balance } = await driver.admin("GET", `/admin/accounts/${encodeURIComponent(name)}/credits`);
      const spent = spentIn(({ account }) => account === name, { amount: 0n, period: "total" });
      assertEquals(pico(balance), credits - spent, `balance of ${name}`);
    }
  }

  /** Each share of a limit is told once, and again only where the limit was changed. */
  async events(): Promise<void> {
    const { world, keys, teams } = this.#driver;
    const seen = new Map<string, number>();
    for (const { data } of world.told.values()) {
      const { scope, key_id, team, account, session, value, percent, limit, period } = data as Loose;
      const what = [scope, key_id, team, account, session, value, period?.starts, limit, percent].join(" ");
      seen.set(what, (seen.get(what) ?? 0) + 1);
      const changes = this.#changes.get(`${scope} ${team ?? account ?? key_id}`) ?? 1;
      assert(seen.get(what)! <= changes, `${what} was told ${seen.get(what)} times, with ${changes} limits`);
    }
    const told = (scope: string, name: string, limit: Limit) => (percent: number) =>
      [...world.told.values()].some(({ data }) =>
        data.scope === scope && data[scope === "key" ? "key_id" : scope] === name &&
        data.percent === percent &&
        pico(String(data.limit)) === limit.amount
      );
    const wanted: [string, string, Limit, (call: Call) => boolean][] = [];
    for (const key of keys) {
      if (key.limit && !key.revoked) wanted.push(["key", key.id, key.limit, (call) => call.key === key]);
    }
    for (const [name, limit] of teams) {
      if (limit) {
        wanted.push(["team", name, limit, ({ team }) => team === name]);
      }
    }
    const now = this.#driver.now;
    for (const [scope, name, limit, has] of wanted) {
      const starts = startOf(limit.period, now);
      const spent = this.#driver.calls.filter((call) =>
        has(call) && startOf(limit.period, call.created) === starts
      )
        .reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
      // Whoever lowers a limit below what is spent knows it, and only calls tell of it.
      if (!this.#driver.calls.slice(this.#changedAt.get(`${scope} ${name}`) ?? 0).some(has)) continue;
      const reached = [100, 80, 50].find((percent) => spent * 100n >= limit.amount * BigInt(percent));
      if (reached === undefined) continue;
      await eventually(() => told(scope, name, limit)(reached), {
        what: `${scope} ${name} is told of ${dollars(spent)} of ${dollars(limit.amount)}`,
      });
    }
  }
}
