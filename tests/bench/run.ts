/** What the load counts while it asks, and whether it was stopped meanwhile. */

/** How often this program sees that it runs, and how much later than that it was stopped meanwhile. */
const BEAT_MS = 250;
export const STOPPED_MS = 2000;
/** Kinds of failures that are told apart. */
const MOST_KINDS = 10;

export class Run {
  asked = 0;
  requests = 0;
  frames = 0;
  errors = 0;
  /** How often each kind of failure was seen. */
  readonly failures: Record<string, number> = {};
  counting = false;
  over = false;
  readonly latencies: number[] = [];
  readonly firstTokens: number[] = [];
  stopped = 0;
  /** Calls that were due while every connection waited for an answer. */
  unasked = 0;
  #beat = performance.now();
  /** When this program went on after it had been stopped. */
  #wentOn = -Infinity;
  readonly #beats = setInterval(() => this.now(), BEAT_MS);

  /** The time. Sees, too, whether the program was stopped. */
  now(): number {
    const now = performance.now();
    if (now - this.#beat > BEAT_MS + STOPPED_MS) this.#wentOn = now;
    this.#beat = now;
    return now;
  }

  /** Whether the program was stopped since then: times say nothing, and deadlines passed that would not have. */
  wasStopped(since: number): boolean {
    this.now();
    return since <= this.#wentOn;
  }

  /** @param asked when, of a call that failed */
  failed(what: string, asked = Infinity): void {
    if (this.wasStopped(asked)) {
      this.stopped++;
      return;
    }
    this.errors++;
    if (what in this.failures || Object.keys(this.failures).length < MOST_KINDS) {
      this.failures[what] = (this.failures[what] ?? 0) + 1;
    }
  }

  end(): void {
    clearInterval(this.#beats);
  }

  answered({ status, refusal = "", sawToken, ended, asked }: Answered): void {
    if (status !== "200") this.failed(`status ${status}${messageIn(refusal)}`, asked);
    else if (!sawToken) this.failed("an answer without its text", asked);
    else if (!ended) this.failed("a stream without its end", asked);
    else if (this.counting) {
      this.requests++;
      if (this.wasStopped(asked)) this.stopped++;
      else this.latencies.push((performance.now() - asked) * 1000);
    }
  }
}

/** One that asks, once at a time. */
export interface Asking {
  /** Asks once. Throws when it is of no more use. */
  ask(): Promise<void>;
  /** When it asked last. */
  readonly asked: number;
  close(): void;
}

/** What came of one answer. */
export interface Answered {
  status: string;
  /** What an answer other than 200 begins with. */
  refusal?: string;
  sawToken: boolean;
  ended: boolean;
  /** When it was asked. */
  asked: number;
}

/** What an answer says went wrong. */
function messageIn(body: string): string {
  const found = /"message":"((?:[^"\\]|\\.)*)"/.exec(body)?.[1];
  return found === undefined ? "" : `, ${found}`;
}
