/** What administrators change: limits, teams, secrets, credits and prices. */
import { assertEquals } from "@std/assert";
import { FREE, POOR, RICH, TEAMS } from "./config.ts";
import type { Driver } from "./driver.ts";
import { dollars, type Key, type Limit, type Period, pico, startOf } from "./model.ts";

const LARGE = ["30000", "200000", "2000000"];
const SMALL = ["0.004", "0.02", "0.1"];
const SIZES: Record<string, string[]> = { small: SMALL, big: LARGE, claude: LARGE, callers: SMALL };

const GRANTS: readonly [account: string, credits: (string | null)[]][] = [
  [POOR, ["0.5", "0.3", "1"]],
  [RICH, ["3000000", "2000000"]],
  [FREE, [null, "3000000"]],
];

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
      amount: pico(this.#driver.pick(SIZES[model])),
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
        amount: this.#driver.pick(SIZES[model]),
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
    const driver = this.#driver;
    const model = driver.pick(["small", "small", "big", "claude", "callers"]);
    const hedge = driver.chance(0.4);
    const inFile = driver.chance(0.3);
    // A key in the file names no team of the store.
    const team = !inFile && driver.chance(0.5) ? driver.pick(TEAMS) : null;
    const ofTeam = team === null ? undefined : driver.teamAccounts.get(team);
    const account = ofTeam === undefined
      ? driver.pick([LARGE === SIZES[model] ? RICH : POOR, FREE])
      : driver.pick([ofTeam, null]);
    const limits = this.#limitsOf(model);
    const fields = { account, team, ...this.#fields(limits), resume_seconds: 300, hedge };
    const gone = driver.keys.find(({ written, revoked }) => written !== null && revoked);
    if (inFile && gone !== undefined) {
      // What it has spent is remembered.
      Object.assign(gone, { account, team, hedge, revoked: false, expires: Infinity });
      gone.secrets = [{ secret: newSecret(), until: Infinity }];
      gone.written = { ...gone.written, ...fields, secret: gone.secrets[0].secret, expires_at: null };
      this.#apply(gone, limits);
      await driver.reload();
      driver.note(`${gone.name} is in the file again ${account} ${team} ${JSON.stringify(fields)}`);
      return;
    }
    // A name in the file is the end of an id as well.
    const name = `k${driver.keys.length}, "ö" %/:`;
    const secret = newSecret();
    const written = inFile ? { ...fields, name, secret } : null;
    const made = written === null ? await driver.admin("POST", "/admin/keys", { name, ...fields }) : {
      id: `key_config_${name}`,
      secret,
    };
    const key: Key = {
      name,
      id: made.id,
      model,
      hedge,
      account: account ?? "default",
      team,
      limit: null,
      session: null,
      tag: null,
      requestsPerMinute: null,
      tokensPerMinute: null,
      secrets: [{ secret: made.secret, until: Infinity }],
      written,
      expires: Infinity,
      revoked: false,
    };
    this.#apply(key, limits);
    driver.keys.push(key);
    if (written !== null) await driver.reload();
    driver.note(
      `made ${name} ${written === null ? "" : "in the file "}${model} ${account} ${team} ${
        JSON.stringify(fields)
      }`,
    );
  }

  /** Changes fields of a key where it stands. */
  async #write(key: Key, fields: Record<string, unknown>): Promise<void> {
    if (key.written === null) {
      await this.#driver.admin("PATCH", `/admin/keys/${encodeURIComponent(key.id)}`, fields);
      return;
    }
    Object.assign(key.written, fields);
    await this.#driver.reload();
  }

  async changeLimits(key: Key): Promise<void> {
    if (key.written === null && this.#driver.chance(0.3)) return await this.#changeOneLimit(key);
    const limits = this.#limitsOf(key.model);
    await this.#write(key, this.#fields(limits));
    this.#apply(key, limits);
    this.#driver.note(`changed ${key.name} ${JSON.stringify(this.#fields(limits))}`);
  }

  /** What a change does not name stays as it is. */
  async #changeOneLimit(key: Key): Promise<void> {
    const driver = this.#driver;
    const fields: Record<string, Record<string, unknown>> = {};
    if (driver.chance(0.5)) {
      key.requestsPerMinute = driver.pick([null, 2, 40]);
      fields.rate_limit = { requests_per_minute: key.requestsPerMinute };
    } else {
      key.tokensPerMinute = driver.pick([null, 800, 100_000]);
      fields.rate_limit = { tokens_per_minute: key.tokensPerMinute };
    }
    const session = key.session ?? { amount: null, requestsPerMinute: null };
    if (driver.chance(0.5)) {
      session.requestsPerMinute = driver.pick([null, 3, 20]);
      fields.session_limit = { requests_per_minute: session.requestsPerMinute };
    } else {
      const amount = driver.pick([null, ...SIZES[key.model]]);
      session.amount = amount === null ? null : pico(amount);
      fields.session_limit = { amount };
    }
    key.session = session.amount === null && session.requestsPerMinute === null ? null : session;
    await this.#write(key, fields);
    driver.checks.limited(key);
    driver.note(`changed ${key.name} ${JSON.stringify(fields)}`);
    driver.count("single limits");
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
    if (key.written !== null) return;
    const team = this.#driver.pick([null, ...TEAMS]);
    await this.#write(key, { team });
    key.team = team;
    this.#driver.note(`${key.name} to team ${team}`);
  }

  async changeAccountOf(key: Key): Promise<void> {
    const account = this.#driver.pick([POOR, RICH, FREE]);
    const ofTeam = key.team === null ? undefined : this.#driver.teamAccounts.get(key.team);
    const refused = await this.#write(key, { account }).then(
      () => false,
      ({ message }: Error) => message.includes(": 422 "),
    );
    assertEquals(
      refused,
      key.written === null && ofTeam !== undefined && ofTeam !== account,
      `${key.name} to account ${account}`,
    );
    if (!refused) key.account = account;
    this.#driver.note(`${key.name} to account ${account}${refused ? ": refused" : ""}`);
  }

  async #rename(key: Key): Promise<void> {
    if (key.written !== null) return;
    const name = `${key.name.split("_")[0]}_${this.#driver.random(1000)}`;
    await this.#driver.admin("PATCH", `/admin/keys/${encodeURIComponent(key.name)}`, { name });
    this.#driver.note(`${key.name} is ${name}`);
    key.name = name;
  }

  async expire(key: Key): Promise<void> {
    const { now } = this.#driver;
    const expires = this.#driver.pick([null, now + 3000, now + 30_000, now + 86_400_000, now - 1000]);
    const expires_at = expires === null ? null : new Date(expires).toISOString();
    await this.#write(key, { expires_at });
    key.expires = expires ?? Infinity;
    this.#driver.note(`${key.name} expires ${expires_at}`);
  }

  async changeTeam(name: string): Promise<void> {
    const limit = this.#limit(this.#driver.pick(["small", "big"]));
    const account = this.#driver.chance(0.3) ? this.#driver.pick([null, POOR, RICH, FREE]) : undefined;
    const fields = {
      spend_limit: limit && { amount: dollars(limit.amount), period: limit.period },
      ...(account !== undefined && { account }),
    };
    if (this.#driver.teams.has(name)) {
      await this.#driver.admin("PATCH", `/admin/teams/${encodeURIComponent(name)}`, fields);
    } else await this.#driver.admin("POST", "/admin/teams", { name, ...fields });
    this.#driver.teams.set(name, limit);
    if (account) this.#driver.teamAccounts.set(name, account);
    else if (account === null) this.#driver.teamAccounts.delete(name);
    this.#driver.checks.limitedTeam(name, limit);
    this.#driver.note(`team ${name} ${JSON.stringify(fields)}`);
    this.#driver.count("changes");
    await this.#driver.settleChange();
  }

  async rotate(key = this.#driver.pick(this.#driver.keys.filter(({ revoked }) => !revoked))): Promise<void> {
    if (key.written !== null) {
      key.secrets = [{ secret: newSecret(), until: Infinity }];
      await this.#write(key, { secret: key.secrets[0].secret });
      return;
    }
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
    if (key.written === null) await this.#driver.admin("DELETE", `/admin/keys/${key.id}`);
    key.revoked = true;
    if (key.written !== null) await this.#driver.reload();
    this.#driver.note(`revoked ${key.name}`);
    this.#driver.count("revocations");
    await this.makeKey();
    await this.#driver.settleChange();
  }

  async addCredits(): Promise<void> {
    const account = this.#driver.pick([POOR, RICH]);
    const amount = account === POOR
      ? this.#driver.pick(["0.05", "-0.01"])
      : this.#driver.pick(["100000.5", "-1000.25"]);
    await this.#driver.admin("POST", `/admin/accounts/${encodeURIComponent(account)}/credits`, { amount });
    this.#driver.added.set(account, (this.#driver.added.get(account) ?? 0n) + pico(amount));
    this.#driver.countCredits(account);
    this.#driver.checks.creditsChanged(account);
    this.#driver.note(`credits ${account} ${amount}`);
    this.#driver.count("credits");
    await this.#driver.settleChange();
  }

  /** The file grants more, less, or without a limit. */
  async changeGrant(): Promise<void> {
    const driver = this.#driver;
    const [account, amounts] = driver.pick(GRANTS);
    const credits = driver.pick(amounts);
    // Calls that began without a limit have set nothing aside.
    if (account === FREE) await driver.releaseAll();
    driver.granted.set(account, credits);
    await driver.reload();
    driver.countCredits(account);
    driver.checks.creditsChanged(account);
    driver.note(`the file grants ${account} ${credits}`);
    driver.count("grants");
    await driver.settleChange();
  }

  async changePrices(): Promise<void> {
    const driver = this.#driver;
    driver.version = this.#newest = this.#newest + 1;
    const { now } = driver;
    const at = driver.pick([
      null,
      now + 20_000,
      now + 60_000,
      now + 86_400_000,
      startOf("day", now + 86_400_000),
    ]);
    driver.change = at === null ? null : { at, version: this.#newest = this.#newest + 1 };
    await driver.reload();
    driver.note(`prices ${driver.version}, then ${JSON.stringify(driver.change)}`);
    driver.count("price changes");
  }
  #newest = 1;
}

let secrets = 0;

function newSecret(): string {
  return `sk_live_${String(++secrets).padStart(40, "x")}`;
}
