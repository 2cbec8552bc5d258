/** Whether a call must be let in, must not, or may be. */
import { assert, assertEquals } from "@std/assert";
import type { Driver } from "./driver.ts";
import { type Budget, type Call, dollars, pico, startOf, stateOf } from "./model.ts";
import type { Answer } from "./requests.ts";

const MINUTE = 60_000;

interface Rate {
  owner: string;
  limit: number | null;
  kind: "requests" | "tokens";
}

function ratesOf({ key, session }: Call): Rate[] {
  const { id: name, requestsPerMinute, tokensPerMinute } = key;
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

/** When a minute of a rate may have begun, at the earliest and at the latest. */
interface Minute {
  from: number;
  to: number;
}

/** A call that was let in, as one of its rates counts it. */
interface Counted {
  owner: string;
  at: number;
  call: Call;
  /** The limit was there all the time while the call was let in. */
  sure: boolean;
}

/** Calls are let in and refused between the earliest and the latest of these times. */
interface Span {
  from: number;
  to: number;
}

/** Two clocks, and the time that a request takes to its gateway. */
const NEAR_MS = 1500;
/** Calls whose reservations a killed node may have held together: a crowd, and those that were held. */
const MOST_HELD = 20n;

export class Judge {
  readonly #driver: Driver;
  #let: Counted[] = [];
  /** A minute begins with the first call after the one before: which call that was is not always known. */
  readonly #minutes = new Map<string, Minute[]>();
  #kills: number[] = [];
  /** Rates on which nobody has drawn since a node was killed: its minutes may go on, or begin anew. */
  #anew = new Set<string>();

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /** The clock went back: nobody knows when a minute began. */
  steppedBack(): void {
    this.#steps.push(this.time());
    this.#anew = new Set(this.#minutes.keys());
  }
  #steps: number[] = [];

  killed(): void {
    this.#kills.push(this.time());
    this.#anew = new Set(this.#minutes.keys());
  }

  /** Rates that a call draws on now. */
  limited(call: Call): Set<string> {
    return new Set(ratesOf(call).filter(({ limit }) => limit !== null).map(({ owner }) => owner));
  }

  /**
   * A call was answered, with a refusal or not.
   *
   * @param before its rates when it was asked
   * @param span when it was let in or refused
   */
  asked(call: Call, before: ReadonlySet<string>, span: Span): void {
    for (const owner of before.union(this.limited(call))) this.#touch(owner, span);
  }

  /** A call was let in. */
  letIn(call: Call, before: ReadonlySet<string>, { to: at }: Span): void {
    const now = this.limited(call);
    // A limit counts from when it is there.
    for (const owner of before.union(now)) {
      this.#let.push({ owner, at, call, sure: before.has(owner) && now.has(owner) });
    }
  }

  #touch(owner: string, { from, to }: Span): void {
    const before = this.#minutes.get(owner) ?? [];
    const goingOn = before.filter((minute) => from < minute.to + MINUTE + NEAR_MS);
    const over = before.filter((minute) => to > minute.from + MINUTE - NEAR_MS);
    const anew = this.#anew.delete(owner);
    if (before.length > 0 && over.length === 0 && !anew) return;
    // Where there are several nodes, one may begin a minute without a call.
    const earliest = this.#driver.nodes.length === 1
      ? from
      : Math.min(from, ...over.map((minute) => minute.from + MINUTE));
    // Some of these calls may have come before the end of the old minute: none of them counts for the new one for sure.
    const within = over.some((minute) => goingOn.includes(minute));
    this.#minutes.set(owner, [...goingOn, { from: earliest, to: within ? to + 1 : to }]);
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
    if (key.expires < now - 1000) return { admit: false, why: "the key has expired" };
    if (key.expires < now + 1000) return { admit: undefined, why: "the key expires now" };
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
      if (call.isCallers) {
        if (spent + open >= amount) [admit, why] = [undefined, `${budget.name} is near its end`];
        continue;
      }
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
      } else if ((open + most) * this.#heldByDead() > amount - spent) {
        admit = undefined;
        why = `${budget.name} may be leased to a node that was killed`;
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

  /** An estimate says what comes of the call after it. @param refused null: it was let in */
  foretold(told: Answer, refused: Answer | null, { what, free }: { what: string; free: boolean }): void {
    // Estimates have a rate of their own.
    if (told.status === 429) return;
    this.#driver.count("estimated");
    if (told.status !== 200) {
      assertEquals([told.status, refused?.status], [401, 401], `${what}: estimate ${told.text}`);
      return;
    }
    const { allowed, refusal, candidates: [{ cost_max }] } = JSON.parse(told.text);
    // Other nodes may have given back what they had leased, while the estimate waited for it.
    if (!allowed && this.#driver.nodes.length > 1) return;
    const code = refused && /"code":"(\w+)"/.exec(refused.text)?.[1];
    assertEquals(
      refusal?.code ?? null,
      code ?? (refused && "invalid_api_key"),
      `${what}: estimate ${told.text}`,
    );
    assert(pico(cost_max) > 0n || free, what);
  }

  time(): number {
    return this.#driver.place.rateClock === "node" ? this.#driver.now : Date.now();
  }

  #recentKills(): number {
    return this.#kills.filter((at) => at > this.time() - MINUTE - 2000).length;
  }

  #recentSteps(): number {
    return this.#steps.filter((at) => at > this.time() - MINUTE - 2000).length;
  }

  /**
   * Calls for which budget may be missing: nobody but the database knows the leases of a node without a journal, and
   * returns them when its heartbeats have been missing for half a minute.
   */
  #heldByDead(): bigint {
    return this.#driver.place.diskless ? MOST_HELD * BigInt(this.#recentKills()) : 0n;
  }

  /** A call asks for a share of a rate: what of it is used for sure, and what may be. */
  #stateOf({ owner, kind }: Rate) {
    const now = this.time();
    const minutes = this.#minutes.get(owner) ?? [];
    const own = this.#let.filter((one) => one.owner === owner);
    const amount = ({ call }: { call: Call }) =>
      kind === "requests"
        ? (call.cost === null || call.tokens > 0 || this.#driver.world.searched.has(call.nonce) ? 1 : 0)
        : call.tokens;
    const usedSince = (time: number) =>
      own.filter(({ at, sure }) => sure && at >= time).reduce((sum, one) => sum + amount(one), 0);
    const killed = this.#recentKills() + this.#recentSteps() > 0;
    // A minute that begins in the future is one of before the clock was set back, however far it has gone ahead since.
    const unsure = killed || minutes.length === 0 ||
      minutes.some(({ from }) => now > from + MINUTE - NEAR_MS || now < from);
    const maybe = own.filter(({ at }) => at > now - MINUTE - 2000).reduce(
      (sum, one) => sum + (kind === "requests" ? 1 : one.call.cost === null ? 6000 : one.call.tokens),
      0,
    );
    return {
      sure: unsure ? 0 : Math.min(...minutes.map(({ to }) => usedSince(to))),
      maybe: killed ? Infinity : maybe,
    };
  }
}
