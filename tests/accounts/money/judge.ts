/** Whether a call must be let in, must not, or may be. */
import type { Driver } from "./driver.ts";
import { type Budget, type Call, dollars, startOf, stateOf } from "./model.ts";

const MINUTE = 60_000;

interface Rate {
  owner: string;
  limit: number | null;
  kind: "requests" | "tokens";
}

function ratesOf({ key, session }: Call): Rate[] {
  const { name, requestsPerMinute, tokensPerMinute } = key;
  return [
    { owner: `requests of ${name}`, limit: requestsPerMinute, kind: "requests" },
    { owner: `tokens of ${name}`, limit: tokensPerMinute, kind: "tokens" },
    {
      owner: `requests of ${name} in ${session}`,
      limit: session === null || key.session === null ? null : key.session.requestsPerMinute,
      kind: "requests",
    },
  ];
}

export class Judge {
  readonly #driver: Driver;
  #let: { owner: string; at: number; call: Call }[] = [];
  /** When the minute of a rate began, and the one before. A minute begins with the first call after the one before. */
  readonly #minutes = new Map<string, { began: number; before: number }>();
  #killedAt = -Infinity;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  killed(): void {
    this.#killedAt = this.time();
  }

  letIn(call: Call): void {
    const at = this.time();
    // A limit counts from when it is there.
    for (const { owner, limit } of ratesOf(call)) if (limit !== null) this.#let.push({ owner, at, call });
  }

  /** Undefined: both are right. */
  judge(
    call: Call,
    { budgets, most, secret, tokens }: { budgets: Budget[]; most: bigint; secret: number; tokens: number },
  ): { admit: boolean | undefined; why: string } {
    const { key } = call;
    const now = this.#driver.now;
    if (key.revoked || secret < now - 1000) return { admit: false, why: "its secret is no longer valid" };
    if (secret < now + 1000) return { admit: undefined, why: "its secret ends now" };
    const day = startOf("day", now);
    const sure = startOf("day", now - 1500) === day && startOf("day", now + 1500) === day &&
      now % MINUTE > 1500 && now % MINUTE < MINUTE - 1500 && Date.now() % MINUTE > 1500 &&
      Date.now() % MINUTE < MINUTE - 1500;
    if (!sure) return { admit: undefined, why: "a period ends" };
    let admit: boolean | undefined = true;
    let why = "it fits";
    const state: string[] = [];
    for (const budget of budgets) {
      const { spent, least, most: open } = stateOf(budget, this.#driver.calls, now);
      const { amount } = budget.limit;
      state.push(`${budget.name} ${dollars(spent)} + ${dollars(open)} of ${dollars(amount)}`);
      if (spent + least + call.least > amount) {
        return {
          admit: false,
          why: `${budget.name}: ${dollars(spent)} and ${dollars(least)} of ${dollars(amount)}`,
        };
      }
      if (spent + open + most > amount) {
        admit = undefined;
        why = `${budget.name} is near its end`;
      }
    }
    for (const { owner, limit, kind } of ratesOf(call)) {
      if (limit === null) continue;
      const { sure: used, maybe } = this.#stateOf({ owner, limit, kind });
      state.push(`${owner} ${used}/${maybe} of ${limit}`);
      if (used >= limit) return { admit: false, why: `${owner}: ${used} of ${limit}` };
      const wanted = kind === "requests" ? 1 : Math.min(tokens, limit);
      if (maybe + wanted > limit) {
        admit = undefined;
        why = `${kind} may be used up`;
      }
    }
    return { admit, why: `${why}; ${state.join(", ")}` };
  }

  time(): number {
    return this.#driver.place.rateClock === "node" ? this.#driver.now : Date.now();
  }

  /** A call asks for a share of a rate: what of it is used for sure, and what may be. */
  #stateOf({ owner, kind }: Rate) {
    const now = this.time();
    let minute = this.#minutes.get(owner);
    const isOver = minute === undefined || now >= minute.began + MINUTE;
    const nearEnd = minute !== undefined && Math.abs(now - minute.began - MINUTE) < 1500;
    if (isOver) this.#minutes.set(owner, minute = { began: now, before: minute?.began ?? -Infinity });
    // Where there are several nodes, one may begin a minute without a call.
    const ends = this.#driver.nodes.length === 1
      ? minute!.began + MINUTE
      : Math.min(minute!.began, minute!.before + MINUTE) + MINUTE;
    const own = this.#let.filter((one) => one.owner === owner);
    const amount = ({ call }: { call: Call }) =>
      kind === "requests"
        ? (call.cost === null || call.tokens > 0 || this.#driver.world.searched.has(call.nonce) ? 1 : 0)
        : call.tokens;
    const sure = own.filter(({ at }) => at >= minute!.began - 100).reduce((sum, one) => sum + amount(one), 0);
    const maybe = own.filter(({ at }) => at > now - MINUTE - 2000).reduce(
      (sum, one) => sum + (kind === "requests" ? 1 : one.call.cost === null ? 6000 : one.call.tokens),
      0,
    );
    const unsure = isOver || nearEnd || now > ends - 1500 || this.#killedAt > now - MINUTE - 2000;
    return { sure: unsure ? 0 : sure, maybe: this.#killedAt > now - MINUTE - 2000 ? Infinity : maybe };
  }
}
