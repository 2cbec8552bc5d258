/**
 * Calls that wait for money which other calls have merely reserved: here, or on other nodes.
 *
 * Each key has a line of its own, so that nobody waits behind another key's calls. Whenever something is given back the
 * lines are gone through from their heads, and each call whose whole demand fits takes it; the keys take turns at being
 * first. A call that asks for more than there is does not keep smaller ones behind it from passing. A wait is short and a
 * line is bounded: whoever comes too late is told that the lack is transient.
 */
import { type Demand, isSpent } from "./demands.ts";
import type { Hold, Lease } from "./lease.ts";
import { Patience } from "../../timing/within.ts";

export interface WaitingLineOptions {
  now(): number;
  /** Asks the store for more of a lease. */
  refill(lease: Lease, amount: bigint): Promise<void>;
}

interface Waiter {
  demands: readonly Demand[];
  /** Of a standstill little counts: what came back meanwhile has not been seen yet. */
  patience: Patience;
  resolve(holds: Hold[] | null): void;
  reject(reason: unknown): void;
}

/** How long a call waits, and how many of one key. */
const WAIT_MS = 1000;
const LONGEST_LINE = 1000;
/** How often those whose time is up are looked for, and the store is asked for what other nodes hold. */
const TURN_MS = 50;
const ASK_TURNS = 2;

export class WaitingLine {
  readonly #options: WaitingLineOptions;
  /** By key. */
  #lines = new Map<string, Waiter[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #turns = 0;

  constructor(options: WaitingLineOptions) {
    this.#options = options;
  }

  /** Resolves with the holds as soon as the demands fit, with null when that does not come about in time. */
  wait(keyId: string, demands: readonly Demand[]): Promise<Hold[] | null> {
    let line = this.#lines.get(keyId);
    if (line === undefined) this.#lines.set(keyId, line = []);
    if (line.length >= LONGEST_LINE) return Promise.resolve(null);
    const { promise, resolve, reject } = Promise.withResolvers<Hold[] | null>();
    line.push({ demands, patience: new Patience(WAIT_MS), resolve, reject });
    this.#timer ??= setTimeout(() => this.#turn(), TURN_MS);
    return promise;
  }

  /** Something was given back or granted. */
  serve(): void {
    if (this.#lines.size === 0) return;
    const now = this.#options.now();
    for (const [keyId, line] of this.#lines) {
      const left = line.filter((waiter) => !this.#admit(waiter, now));
      if (left.length < line.length) this.#replace(keyId, left);
    }
    // The key that was first is last the next time.
    const [first] = this.#lines;
    if (this.#lines.size > 1) {
      this.#lines.delete(first[0]);
      this.#lines.set(...first);
    }
  }

  /** Other nodes have given something back: the store has more. */
  ask(): void {
    const lacking = new Map<Lease, bigint>();
    const now = this.#options.now();
    for (const line of this.#lines.values()) {
      for (const { demands } of line) {
        for (const { lease, amount } of demands) {
          if (!lease.fits(amount, now) && lease.mayGrow(amount, now)) {
            lacking.set(lease, (lacking.get(lease) ?? 0n) + amount);
          }
        }
      }
    }
    for (const [lease, amount] of lacking) {
      this.#options.refill(lease, amount).then(() => this.serve(), (error) => this.#fail(lease, error));
    }
  }

  /** Nobody waits any more. */
  close(): void {
    clearTimeout(this.#timer);
    for (const line of this.#lines.values()) for (const { resolve } of line) resolve(null);
    this.#lines.clear();
  }

  #admit({ demands, resolve }: Waiter, now: number): boolean {
    for (const { lease, amount } of demands) if (!lease.fits(amount, now)) return false;
    resolve(demands.map(({ lease, amount, upTo }) => lease.reserve(amount, upTo)));
    return true;
  }

  #fail(lease: Lease, error: unknown): void {
    for (const [keyId, line] of this.#lines) {
      const left = line.filter(({ demands, reject }) => {
        const concerned = demands.some((demand) => demand.lease === lease);
        if (concerned) reject(error);
        return !concerned;
      });
      this.#replace(keyId, left);
    }
  }

  #replace(keyId: string, line: Waiter[]): void {
    if (line.length > 0) this.#lines.set(keyId, line);
    else this.#lines.delete(keyId);
  }

  #turn(): void {
    this.#timer = undefined;
    this.serve();
    const now = this.#options.now();
    const time = performance.now();
    for (const [keyId, line] of this.#lines) {
      const left = line.filter((waiter) => {
        // What ran has ended meanwhile, and was spent: waiting longer cannot help.
        const over = waiter.patience.left(time) <= 0 ||
          waiter.demands.some((demand) => isSpent(demand, now));
        if (over) waiter.resolve(null);
        return !over;
      });
      this.#replace(keyId, left);
    }
    if (this.#lines.size === 0) return;
    if (++this.#turns % ASK_TURNS === 0) this.ask();
    this.#timer = setTimeout(() => this.#turn(), TURN_MS);
  }
}
