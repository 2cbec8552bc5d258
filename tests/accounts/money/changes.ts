/** What administrators change: limits, teams, secrets, credits and prices. */
import type { Driver } from "./driver.ts";
import { dollars, type Key, type Limit, type Period, pico } from "./model.ts";

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
    const account = this.#driver.pick([model === "big" ? "rich" : "poor", "free"]);
    const team = this.#driver.chance(0.5) ? this.#driver.pick(["t1", "t2"]) : null;
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
    if (this.#driver.chance(0.3)) {
      const team = this.#driver.pick([null, "t1", "t2"]);
      await this.#driver.admin("PATCH", `/admin/keys/${key.id}`, { team });
      key.team = team;
      this.#driver.note(`${key.name} to team ${team}`);
    } else await this.changeLimits(key);
    this.#driver.count("changes");
    await this.#driver.settleChange();
  }

  async changeTeam(name: string): Promise<void> {
    const limit = this.#limit(this.#driver.pick(["small", "big"]));
    const fields = {
      spend_limit: limit && { amount: dollars(limit.amount), period: limit.period },
    };
    if (this.#driver.teams.has(name)) await this.#driver.admin("PATCH", `/admin/teams/${name}`, fields);
    else await this.#driver.admin("POST", "/admin/teams", { name, ...fields });
    this.#driver.teams.set(name, limit);
    this.#driver.checks.limitedTeam(name, limit);
    this.#driver.note(`team ${name} ${JSON.stringify(fields)}`);
    this.#driver.count("changes");
    await this.#driver.settleChange();
  }

  async rotate(key = this.#driver.pick(this.#driver.keys.filter(({ revoked }) => !revoked))): Promise<void> {
    const overlap = this.#driver.pick([0, 30, 3600]);
    const { secret } = await this.#driver.admin("POST", `/admin/keys/${key.id}/rotate`, {
      overlap_seconds: overlap,
    });
    const until = this.#driver.now + overlap * 1000;
    // Of the one before the last nothing is left.
    key.secrets = [...key.secrets.slice(-1).map((one) => ({ ...one, until })), { secret, until: Infinity }];
    this.#driver.note(`rotated ${key.name} ${overlap}`);
    this.#driver.count("rotations");
    await this.#driver.settleChange();
  }

  async revoke(): Promise<void> {
    const good = this.#driver.keys.filter(({ revoked }) => !revoked);
    if (good.length < 4) return await this.makeKey();
    const key = this.#driver.pick(good);
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
