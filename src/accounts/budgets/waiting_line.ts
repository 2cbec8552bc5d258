/**
 * Calls waiting for budget that is only reserved by other calls, here or on other nodes.
 *
 * Each key has its own queue, so that no call waits behind those of another key. Whenever something is
 * released, the queues are processed from their heads, and each call whose whole demand fits reserves it; the
 * keys take turns at being first. A call that needs more than is available does not block smaller ones behind
 * it. Waits and queues are bounded: later calls get a transient failure.
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
  /** Does not count time in which the process was suspended, since it has not seen what was released meanwhile. */
  patience: Patience;
  resolve(holds: Hold[] | null): void;
  reject(reason: unknown): void;
}

/** Maximum wait in milliseconds, and maximum number of waiting calls per key. */
const WAIT_MS = 1000;
const LONGEST_LINE = 1000;
/**
 * Interval at which expired waits are checked, and the store is asked for amounts that other nodes release,
 * in milliseconds.
 */
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

  /** Resolves with the reservations as soon as the demands fit, or with null if they do not in time. */
  wait(keyId: string, demands: readonly Demand[]): Promise<Hold[] | null> {
    let line = this.#lines.get(keyId);
    if (line === undefined) this.#lines.set(keyId, line = []);
    if (line.length >= LONGEST_LINE) return Promise.resolve(null);
    const { promise, resolve, reject } = Promise.withResolvers<Hold[] | null>();
    line.push({ demands, patience: new Patience(WAIT_MS), resolve, reject });
    this.#timer ??= setTimeout(() => this.#turn(), TURN_MS);
    return promise;
  }

  /** Called when something was released or granted. */
  serve(): void {
    if (this.#lines.size === 0) return;
    const now = this.#options.now();
    for (const [keyId, line] of this.#lines) {
      const left = line.filter((waiter) => !this.#admit(waiter, now));
      if (left.length < line.length) this.#replace(keyId, left);
    }
    // The key that was first is last next time.
    const [first] = this.#lines;
    if (this.#lines.size > 1) {
      this.#lines.delete(first[0]);
      this.#lines.set(...first);
    }
  }

  /** Other nodes have released something, which the store can grant. */
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

  /** Ends all waits. */
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
        // The calls that had reserved it have ended and spent it: waiting longer is useless.
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
