/** What administrators change: limits, teams, secrets, credits and prices. */
import { assertEquals } from "@std/assert";
import type { Driver } from "./driver.ts";
import { accountOf, dollars, type Key, type Limit, type Period, pico } from "./model.ts";

const SIZES = { small: ["0.004", "0.02", "0.1"], big: ["30000", "200000", "2000000"] };

interface Limits {
  limit: Limit | null;
  tag: Limit | null;
  rates: { requests_per_minute: number; tokens_per_minute: number } | null;
  session: { amount: string; requests_per_minute: number | null } | null;
}

export class Changes {
  readonly #driver: Driver;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  #limit(model: string): Limit | null {
    if (this.#driver.chance(0.25)) return null;
    return {
      amount: pico(this.#driver.pick(SIZES[model as "small" | "big"])),
      period: this.#driver.pick<Period>(["day", "day", "week", "month", "total"]),
    };
  }

  #limitsOf(model: string): Limits {
    const rates = this.#driver.chance(0.3)
      ? {
        requests_per_minute: this.#driver.pick([2, 5, 40]),
        tokens_per_minute: this.#driver.pick([800, 5000, 100_000]),
      }
      : null;
    const session = this.#driver.chance(0.4)
      ? {
        amount: this.#driver.pick(SIZES[model as "small" | "big"]),
        requests_per_minute: this.#driver.pick([null, 3, 20]),
      }
      : null;
    return {
      limit: this.#limit(model),
      tag: this.#driver.chance(0.5) ? this.#limit(model) : null,
      rates,
      session,
    };
  }

  #fields({ limit, tag, rates, session }: Limits) {
    const of = (one: Limit | null) => one && { amount: dollars(one.amount), period: one.period };
    return {
      spend_limit: of(limit),
      tag_limits: tag ? [{ tag: "customer", ...of(tag)! }] : [],
      rate_limit: rates,
      session_limit: session,
    };
  }

  #apply(key: Key, { limit, tag, rates, session }: Limits): void {
    key.limit = limit;
    key.tag = tag;
    key.requestsPerMinute = rates?.requests_per_minute ?? null;
    key.tokensPerMinute = rates?.tokens_per_minute ?? null;
    key.session = session && {
      amount: pico(session.amount),
      requestsPerMinute: session.requests_per_minute,
    };
    this.#driver.checks.limited(key);
  }

  async makeKey(): Promise<void> {
    const model = this.#driver.chance(0.5) ? "small" : "big";
    const team = this.#driver.chance(0.5) ? this.#driver.pick(["t1", "t2"]) : null;
    const account = (team === null ? undefined : this.#driver.teamAccounts.get(team)) ??
      this.#driver.pick([model === "big" ? "rich" : "poor", "free"]);
    const limits = this.#limitsOf(model);
    const name = `k${this.#driver.keys.length}`;
    const made = await this.#driver.admin("POST", "/admin/keys", {
      name,
      account,
      team,
      ...this.#fields(limits),
      resume_seconds: 300,
    });
    const key: Key = {
      name,
      id: made.id,
      model,
      account,
      team,
      limit: null,
      session: null,
      tag: null,
      requestsPerMinute: null,
      tokensPerMinute: null,
      secrets: [{ secret: made.secret, until: Infinity }],
      expires: Infinity,
      revoked: false,
    };
    this.#apply(key, limits);
    this.#driver.keys.push(key);
    this.#driver.note(`made ${name} ${model} ${account} ${team} ${JSON.stringify(this.#fields(limits))}`);
  }

  async changeLimits(key: Key): Promise<void> {
    const limits = this.#limitsOf(key.model);
    await this.#driver.admin("PATCH", `/admin/keys/${key.id}`, this.#fields(limits));
    this.#apply(key, limits);
    this.#driver.note(`changed ${key.name} ${JSON.stringify(this.#fields(limits))}`);
  }

  async changeKey(): Promise<void> {
    const key = this.#driver.pick(this.#driver.keys.filter(({ revoked }) => !revoked));
    const roll = this.#driver.random(10);
    if (roll < 3) await this.changeTeamOf(key);
    else if (roll < 5) await this.changeAccountOf(key);
    else if (roll === 5) await this.#rename(key);
    else if (roll === 6) await this.expire(key);
    else await this.changeLimits(key);
    this.#driver.count("changes");
    await this.#driver.settleChange();
  }

  async changeTeamOf(key: Key): Promise<void> {
    const team = this.#driver.pick([null, "t1", "t2"]);
    await this.#driver.admin("PATCH", `/admin/keys/${key.id}`, { team });
    // It keeps the account that has paid for it, where its new team has none.
    key.account = accountOf(team === null ? key : { ...key, team }, this.#driver);
    key.team = team;
    this.#driver.note(`${key.name} to team ${team}`);
  }

  async changeAccountOf(key: Key): Promise<void> {
    const account = this.#driver.pick(["poor", "rich", "free"]);
    const ofTeam = key.team === null ? undefined : this.#driver.teamAccounts.get(key.team);
    const refused = await this.#driver.admin("PATCH", `/admin/keys/${key.id}`, { account }).then(
      () => false,
      ({ message }: Error) => message.includes(": 422 "),
    );
    assertEquals(refused, ofTeam !== undefined && ofTeam !== account, `${key.name} to account ${account}`);
    if (!refused) key.account = account;
    this.#driver.note(`${key.name} to account ${account}${refused ? ": refused" : ""}`);
  }

  async #rename(key: Key): Promise<void> {
    const name = `${key.name.split("_")[0]}_${this.#driver.random(1000)}`;
    await this.#driver.admin("PATCH", `/admin/keys/${key.name}`, { name });
    this.#driver.note(`${key.name} is ${name}`);
    key.name = name;
  }

  async expire(key: Key): Promise<void> {
    const { now } = this.#driver;
    const expires = this.#driver.pick([null, now + 3000, now + 30_000, now + 86_400_000, now - 1000]);
    const expires_at = expires === null ? null : new Date(expires).toISOString();
    await this.#driver.admin("PATCH", `/admin/keys/${key.id}`, { expires_at });
    key.expires = expires ?? Infinity;
    this.#driver.note(`${key.name} expires ${expires_at}`);
  }

  async changeTeam(name: string): Promise<void> {
    const limit = this.#limit(this.#driver.pick(["small", "big"]));
    const account = this.#driver.chance(0.3) ? this.#driver.pick([null, "poor", "rich", "free"]) : undefined;
    const fields = {
      spend_limit: limit && { amount: dollars(limit.amount), period: limit.period },
      ...(account !== undefined && { account }),
    };
    if (this.#driver.teams.has(name)) await this.#driver.admin("PATCH", `/admin/teams/${name}`, fields);
    else await this.#driver.admin("POST", "/admin/teams", { name, ...fields });
    this.#driver.teams.set(name, limit);
    if (account) this.#driver.teamAccounts.set(name, account);
    else if (account === null) this.#driver.teamAccounts.delete(name);
    this.#driver.checks.limitedTeam(name, limit);
    this.#driver.note(`team ${name} ${JSON.stringify(fields)}`);
    this.#driver.count("changes");
    await this.#driver.settleChange();
  }

  async rotate(key = this.#driver.pick(this.#driver.keys.filter(({ revoked }) => !revoked))): Promise<void> {
    const overlap = this.#driver.pick([0, 30, 3600]);
    const ended = key.expires <= this.#driver.now;
    const made = await this.#driver.admin("POST", `/admin/keys/${key.id}/rotate`, {
      overlap_seconds: overlap,
    }).catch((error: Error) => {
      if (key.expires <= this.#driver.now && error.message.includes(": 422 ")) return null;
      throw error;
    });
    assertEquals(made === null, made === null || ended, `rotated ${key.name}, which has expired`);
    if (made === null) return;
    const { secret } = made;
    const until = this.#driver.now + overlap * 1000;
    // Of the one before the last nothing is left.
    key.secrets = [...key.secrets.slice(-1).map((one) => ({ ...one, until })), { secret, until: Infinity }];
    this.#driver.note(`rotated ${key.name} ${overlap}`);
    this.#driver.count("rotations");
    await this.#driver.settleChange();
  }

  async revoke(one?: Key): Promise<void> {
    const good = this.#driver.keys.filter(({ revoked }) => !revoked);
    if (good.length < 4) return await this.makeKey();
    const key = one ?? this.#driver.pick(good);
    await this.#driver.admin("DELETE", `/admin/keys/${key.id}`);
    key.revoked = true;
    this.#driver.note(`revoked ${key.name}`);
    this.#driver.count("revocations");
    await this.makeKey();
    await this.#driver.settleChange();
  }

  async addCredits(): Promise<void> {
    const account = this.#driver.pick(["poor", "rich"]);
    const amount = account === "poor"
      ? this.#driver.pick(["0.05", "-0.01"])
      : this.#driver.pick(["100000.5", "-1000.25"]);
    await this.#driver.admin("POST", `/admin/accounts/${account}/credits`, { amount });
    this.#driver.credits.set(account, this.#driver.credits.get(account)! + pico(amount));
    this.#driver.checks.creditsChanged(account);
    this.#driver.note(`credits ${account} ${amount}`);
    this.#driver.count("credits");
    await this.#driver.settleChange();
  }

  async changePrices(): Promise<void> {
    this.#driver.version++;
    for (const [i, node] of this.#driver.nodes.entries()) {
      await node.tell(`reload ${JSON.stringify(this.#driver.configOf(i))}`);
    }
    this.#driver.note(`prices ${this.#driver.version}`);
    this.#driver.count("price changes");
  }
}
