/**
 * The way in: so many calls a turn of the event loop, the rest wait in line, and nobody waits for long.
 *
 * A turn takes in every request that has come, but only a bounded number of the answers that providers sent meanwhile.
 * Above what a core can do, letting everybody in at once would starve those who are in already: calls would pile up that
 * all take seconds, while each turn stays short and nothing looks late. In line, the wait can be measured.
 *
 * How long one may wait follows the idea of CoDel (RFC 8289): a line that is there for a moment is a burst, and all of it is
 * served; where it comes to refusals, that is overload, and the line is kept short until it has passed. Keys take turns in
 * it, and whoever has most waiting is refused first: one caller's flood is not another's outage.
 */
import { FairLine } from "../providers/fair_line.ts";

/** Calls let in a turn. A turn takes in 128 answers (Tokio's budget for a task), of which a call may need several. */
const LEAST_A_TURN = 32;
/** Frames of many streams make a turn long without there being too much to do: more come in then. */
const CALLS_A_MS = 2;
const MOST_A_TURN = 128;
/** The longest wait, and how long after a refusal it is shorter, in milliseconds. */
const BURST_MS = 1000;
/** The longest wait under overload, in milliseconds. */
const STANDING_MS = 50;
/** How many turns tell how fast the line moves. */
const TURNS_LOOKED_BACK = 8;

export interface GateOptions {
  clock?: { now(): number };
  /** Calls back at the end of the turn. */
  turnEnd?(work: () => void): void;
}

export class Gate {
  readonly #clock: { now(): number };
  readonly #turnEnd: (work: () => void) => void;
  readonly #line = new FairLine<(entered: boolean) => void>();
  /** When somebody was turned away last. */
  #refusedAt = -Infinity;
  /** Calls that came in in this turn, and how many may. */
  #letIn = 0;
  #room = LEAST_A_TURN;
  #turning = false;
  /** When the turn began, where a line stood by then. */
  #turnBegan: number | null = null;
  /** How long such a turn has been taking lately. */
  #turnMs = 0;

  constructor({ clock = performance, turnEnd = setImmediate }: GateOptions = {}) {
    this.#clock = clock;
    this.#turnEnd = turnEnd;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#line.length;
  }

  /** Whether a call of this key may come in: at once, or when it has waited. False: the line is too long. */
  enter(key: string): boolean | Promise<boolean> {
    this.#turn();
    const { waiting } = this;
    if (this.#letIn < this.#room && waiting === 0) {
      this.#letIn++;
      return true;
    }
    const now = this.#clock.now();
    const wait = waiting / this.#room * this.#turnMs;
    if (wait > (now - this.#refusedAt < BURST_MS ? STANDING_MS : BURST_MS)) {
      this.#refusedAt = now;
      const refuse = this.#line.makeRoom(key);
      if (refuse === undefined) return false;
      refuse(false);
    }
    return new Promise((settle) => this.#line.push(key, settle));
  }

  #turn(): void {
    if (this.#turning) return;
    this.#turning = true;
    this.#turnEnd(() => {
      this.#turning = false;
      if (this.waiting > 0) this.#serve();
      else {
        this.#letIn = 0;
        this.#room = LEAST_A_TURN;
        this.#turnBegan = null;
      }
    });
  }

  #serve(): void {
    const now = this.#clock.now();
    if (this.#turnBegan !== null) this.#turnMs += (now - this.#turnBegan - this.#turnMs) / TURNS_LOOKED_BACK;
    this.#room = Math.min(MOST_A_TURN, Math.max(LEAST_A_TURN, Math.floor(this.#turnMs * CALLS_A_MS)));
    this.#turnBegan = now;
    this.#letIn = 0;
    this.#turn();
    while (this.#letIn < this.#room && this.waiting > 0) {
      this.#letIn++;
      this.#line.shift()(true);
    }
  }
}
