/**
 * Stage: several answers (`n`) from an API that supports only one. It makes parallel calls; their parts become the choices of one answer,
 * and their usage is added up, because the provider bills every call. If the provider does not report the usage of a call, it is
 * estimated.
 */
import type { Extra } from "../exchange/extra.ts";
import type { Part } from "../exchange/part.ts";
import { addUsage, NO_USAGE, type Usage } from "../exchange/usage.ts";
import { Said } from "./estimate.ts";

/** Block indices of choice i begin at i times this number. */
const STRIDE = 1_000_000;

interface Choices {
  /** Starts one call. */
  ask(choice: number): AsyncGenerator<readonly Part[]>;
  /** Length of the request, which each call sends, in UTF-16 units. */
  chars: number;
  /** Maximum output of each. Absent: unknown. */
  mostOutput?: number;
  /**
   * Called when one of them has failed, or all have ended.
   * @param rest resolves when all have ended
   */
  over?(rest: Promise<void>): void;
}

/** Makes `n` parallel calls, and gives their parts as one answer. */
export async function* choices(
  n: number,
  { ask, chars, mostOutput, over = () => {} }: Choices,
): AsyncGenerator<readonly Part[]> {
  const counts = new Counts(n);
  const calls = Array.from({ length: n }, (_, i) => ask(i));
  const next = calls.map((call, i) => step(call, i));
  /** Blocks of other choices than the first, by call. */
  const unwanted: Set<number>[] = [];
  let open = n;
  let started = false;
  try {
    while (open > 0) {
      const { i, batch } = await Promise.race(next.filter((p) => p !== undefined));
      if (batch === undefined) {
        open--;
        delete next[i];
        if (counts.lacks(i)) yield [counts.estimate(i, chars, mostOutput)];
        continue;
      }
      next[i] = step(calls[i], i);
      const out: Part[] = [];
      for (const part of batch) {
        // One answer was requested; if a provider sends several, only the first is used.
        if ("choice" in part && part.choice !== 0) {
          if ("block" in part) (unwanted[i] ??= new Set()).add(part.block);
          continue;
        }
        if ("block" in part && unwanted[i]?.has(part.block)) continue;
        if (part.type === "start") {
          if (!started) out.push(part);
          started = true;
        } else if (part.type === "usage") {
          out.push(counts.take(part, i));
        } else {
          counts.said[i].take(part);
          out.push(renumbered(part, i));
        }
      }
      if (out.length > 0) yield out;
    }
  } finally {
    // One call failed: the others that have begun are read to their end, since the provider bills them anyway.
    over(Promise.all(calls.map(drain)).then(() => {}));
  }
}

type Counted = Extract<Part, { type: "usage" }>;

/** The usage of all calls so far. */
class Counts {
  /** The output of each call. */
  readonly said: readonly Said[];
  readonly #usages: (Usage | null)[];
  /** Searches that the provider ran itself, by call. */
  readonly #searches: number[];
  readonly #services = new Map<number, string>();
  /** Other fields of the reports, by call. */
  readonly #extras = new Map<number, Extra>();
  #estimated = false;

  constructor(calls: number) {
    this.said = Array.from({ length: calls }, () => new Said());
    this.#usages = new Array(calls).fill(null);
    this.#searches = new Array(calls).fill(0);
  }

  take({ usage, searches, estimated, service, extra }: Counted, call: number): Counted {
    this.#usages[call] = usage;
    if (service !== undefined) this.#services.set(call, service);
    if (extra) this.#extras.set(call, extra);
    this.#searches[call] = searches ?? this.#searches[call];
    this.#estimated ||= estimated === true;
    return this.#sum();
  }

  /** Whether a call has given an answer, but its provider reported no usage. */
  lacks(call: number): boolean {
    return this.#usages[call] === null && !this.said[call].isNothing;
  }

  estimate(call: number, chars: number, most: number | undefined): Counted {
    return this.take({ type: "usage", usage: this.said[call].estimate(chars, most), estimated: true }, call);
  }

  #sum(): Counted {
    const searches = this.#searches.reduce((sum, one) => sum + one, 0);
    const [service, other] = new Set(this.#services.values());
    const extra = addExtras([...this.#extras.values()]);
    return {
      type: "usage",
      usage: this.#usages.reduce<Usage>((sum, one) => one === null ? sum : addUsage(sum, one), NO_USAGE),
      ...(searches > 0 && { searches }),
      ...(this.#estimated && { estimated: true }),
      // Calls of different tiers have no common one.
      ...(service !== undefined && other === undefined && { service }),
      ...(extra && { extra }),
    };
  }
}

/** Fields of several reports in one: numbers are added up; of others the last one counts. */
function addExtras([first, ...more]: readonly Extra[]): Extra | undefined {
  if (first === undefined) return undefined;
  const fields = { ...first.fields };
  for (const { format, fields: others } of more) {
    if (format !== first.format) continue;
    for (const [name, value] of Object.entries(others)) {
      const sum = fields[name];
      fields[name] = typeof sum === "number" && typeof value === "number" ? sum + value : value;
    }
  }
  return { format: first.format, fields };
}

function step(call: AsyncGenerator<readonly Part[]>, i: number) {
  const taken = call.next().then(({ value, done }) => ({ i, batch: done ? undefined : value }));
  // It may fail while a slow caller still receives earlier parts. Without this handler, the unhandled rejection would end the process.
  taken.catch(() => {});
  return taken;
}

async function drain(call: AsyncGenerator<readonly Part[]>): Promise<void> {
  try {
    while (!(await call.next()).done);
  } catch {
    // The first failure was thrown already.
  }
}

function renumbered<P extends Part>(part: P, i: number): P {
  const moved = { ...part };
  if ("block" in moved) moved.block += i * STRIDE;
  if ("choice" in moved) moved.choice = i;
  return moved;
}
