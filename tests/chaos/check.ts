/**
 * Conservation: what the callers saw, what the provider says it did and what the ledger holds must be the same story.
 *
 * For each request, by what the provider did for it:
 *
 * | the provider                          | the ledger                                                        |
 * | ------------------------------------- | ----------------------------------------------------------------- |
 * | never heard of it, or refused it      | nothing                                                           |
 * | answered to the end                   | completed, with the provider's counts and the searches that ran   |
 * | answered, without counts              | completed, with an estimate                                       |
 * | said nothing and counted nothing      | nothing                                                           |
 * | broke off, or refused after searches  | failed: no tokens are billed, the searches that ran are           |
 *
 * Where the gateway was killed meanwhile and the caller has not seen the end, the ledger may hold `interrupted` instead,
 * which costs nothing; where the provider was still at it, it must. A caller who saw the end proves the record: then
 * no kill excuses another. A node without a disk tells the database what it runs as soon as it can and not before it
 * runs, so of what its last milliseconds began there may be nothing.
 */
import { PRICE } from "./nodes.ts";
import type { Sent } from "./load.ts";

export interface Heard {
  event: "begin" | "calls" | "done" | "broke" | "refused" | "cut" | "found";
  at: number;
  input: number;
  cached: number;
  output: number;
  reasoning: number;
}

export interface Recorded {
  id: string;
  created: number;
  key: string;
  status: string;
  measured: boolean;
  input: number | null;
  cached: number | null;
  output: number | null;
  reasoning: number | null;
  searches: number;
  cost: bigint;
}

export interface Evidence {
  sent: readonly Sent[];
  heard: ReadonlyMap<number, readonly Heard[]>;
  records: readonly Recorded[];
  kills: readonly { node: number; at: number }[];
  /** The nodes have no disk. */
  diskless?: boolean;
}

export interface Verdict {
  /** What does not fit, a line each. */
  problems: string[];
  counts: {
    /** Generations that reached the provider, and those of them that a record is owed for. */
    reached: number;
    owed: number;
    /** Generations that died with a gateway and left nothing, where that is excused. */
    forgotten: number;
    /** Records by status. */
    statuses: Record<string, number>;
    /** Of requests whose caller saw the end, and of those whose gateway was killed meanwhile. */
    proven: number;
    exposed: number;
    reportedInput: number;
    billedInput: number;
    reportedOutput: number;
    billedOutput: number;
    searchesRun: number;
    searchesBilled: number;
    cost: bigint;
  };
}

/** How long after the last that was heard of a request its gateway may still have been at it. */
const LAG_MS = 1000;

export function parseHeard(text: string): Map<number, Heard[]> {
  const heard = new Map<number, Heard[]>();
  for (const line of text.split("\n")) {
    const [number, event, ...rest] = line.split(" ");
    if (rest.length < 5) continue;
    const [at, input, cached, output, reasoning] = rest.map(Number);
    const list = heard.get(Number(number)) ?? [];
    list.push({ event: event as Heard["event"], at, input, cached, output, reasoning });
    heard.set(Number(number), list);
  }
  return heard;
}

export function judge({ sent, heard, records, kills, diskless = false }: Evidence): Verdict {
  const problems: string[] = [];
  const counts: Verdict["counts"] = {
    reached: 0,
    owed: 0,
    forgotten: 0,
    statuses: {},
    proven: 0,
    exposed: 0,
    reportedInput: 0,
    billedInput: 0,
    reportedOutput: 0,
    billedOutput: 0,
    searchesRun: 0,
    searchesBilled: 0,
    cost: 0n,
  };
  const found = assign({ sent, heard, records }, problems);
  for (const record of records) {
    counts.statuses[record.status] = (counts.statuses[record.status] ?? 0) + 1;
    counts.cost += record.cost;
    counts.billedInput += record.measured ? record.input ?? 0 : 0;
    counts.billedOutput += record.measured ? record.output ?? 0 : 0;
    counts.searchesBilled += record.searches;
  }
  for (const one of sent) {
    const events = heard.get(one.number) ?? [];
    const record = found.get(one.number);
    const last = events.findLast((e) => e.event !== "found")?.event;
    const until = Math.max(one.until, ...events.map((e) => e.at)) + LAG_MS;
    const killed = kills.some((k) =>
      (one.nodes ?? [one.node]).includes(k.node) && k.at >= one.at - 5 && k.at <= until
    );
    const excused = killed && one.saw !== "ended" && one.saw !== "told";
    const owed = owedFor(one, events);
    if (last !== undefined) counts.reached++;
    if (excused) counts.exposed++;
    if (one.saw === "ended" && owed === "completed") counts.proven++;
    const status = record?.status ?? "none";
    const allowed = excused ? [owed, "interrupted"] : [owed];
    // It was the provider that ended it when its gateway had died: it ran, and then only one record is right.
    if (owed === "interrupted" && !killed) {
      problems.push(`${one.number}: the provider's answer was given up, though no gateway was killed`);
    }
    if (excused && (diskless || (owed === "failed" && last === "refused"))) allowed.push("none");
    if (status !== "none" || !allowed.includes("none")) counts.owed++;
    else if (owed !== "none") counts.forgotten++;
    if (!allowed.includes(status)) {
      problems.push(
        `${one.number}: expected ${allowed.join(" or ")}, the ledger has ${status} ` +
          `(plan ${one.plan}, caller saw ${one.saw} ${one.status}, provider ${
            events.map((e) => e.event).join(" ")
          }, ${one.id ?? record?.id})`,
      );
      continue;
    }
    if (record === undefined) continue;
    const told = billed(one, record, events);
    if (told !== null) problems.push(`${one.number}: ${told} (${record.id})`);
    if (record.status !== "completed" || !record.measured) continue;
    for (const e of events) {
      if (e.event !== "calls" && e.event !== "done") continue;
      counts.reportedInput += e.input;
      counts.reportedOutput += e.output;
    }
  }
  for (const [number, events] of heard) {
    const record = found.get(number);
    if (record === undefined || record.status === "interrupted") continue;
    counts.searchesRun += events.filter((e) => e.event === "found").length;
  }
  return { problems, counts };
}

function owedFor(one: Sent, events: readonly Heard[]): string {
  const last = events.findLast((e) => e.event !== "found")?.event;
  switch (last) {
    case undefined:
      return "none";
    case "done":
      return one.plan === "empty" ? "none" : "completed";
    case "broke":
      return "failed";
    case "refused":
      return events.some((e) => e.event === "calls") ? "failed" : "none";
    default:
      return "interrupted";
  }
}

/** What is wrong with a record's figures; null: nothing. */
function billed(one: Sent, record: Recorded, events: readonly Heard[]): string | null {
  const searches = record.status === "interrupted" ? 0 : events.filter((e) => e.event === "found").length;
  if (record.searches !== searches) return `${searches} searches ran, ${record.searches} are billed`;
  let cost = BigInt(searches) * PRICE.search;
  if (record.status === "completed") {
    if (record.measured === (one.plan === "nousage")) return "measured and estimated are mixed up";
    if (record.measured) {
      for (const kind of ["input", "cached", "output", "reasoning"] as const) {
        let reported = 0;
        for (const e of events) reported += e.event === "calls" || e.event === "done" ? e[kind] : 0;
        if (record[kind] !== reported) {
          return `${reported} ${kind} were reported, ${record[kind]} are recorded`;
        }
      }
    }
    cost += BigInt(record.input! - record.cached!) * PRICE.input + BigInt(record.output!) * PRICE.output;
  } else if (record.input !== null) return "tokens of an answer that failed are recorded";
  return record.cost === cost ? null : `it costs ${cost}, recorded are ${record.cost}`;
}

/**
 * Which record is whose: by the id that the caller was told, by the number in its counts, by key and time.
 *
 * A request that was refused gives its idempotency key back. A caller who did not hear of the refusal, because the gateway was
 * killed before it was out, asks again: then each time that the provider broke off has a record of its own.
 */
function assign(
  { sent, heard, records }: Pick<Evidence, "sent" | "heard" | "records">,
  problems: string[],
): Map<number, Recorded> {
  const byId = new Map(sent.filter((s) => s.id !== null).map((s) => [s.id!, s]));
  const byNumber = new Map(sent.map((s) => [s.number, s]));
  const byKey = Map.groupBy(sent, (s) => s.key);
  for (const list of byKey.values()) list.sort((a, b) => a.at - b.at);
  const found = new Map<number, Recorded>();
  const unheard = new Map<number, number>();
  for (const { number, nodes = [] } of sent) {
    const broke = heard.get(number)?.filter(({ event }) => event === "broke").length ?? 0;
    if (nodes.length > 1 && broke > 1) unheard.set(number, broke - 1);
  }
  const isUnheard = (record: Recorded): boolean => {
    if (record.status !== "failed" || record.cost !== 0n) return false;
    const one = (byKey.get(record.key) ?? []).findLast(({ number, at, until }) =>
      unheard.has(number) && at <= record.created && record.created <= until
    );
    const left = one && unheard.get(one.number)! - 1;
    if (left === undefined) return false;
    if (left > 0) unheard.set(one!.number, left);
    else unheard.delete(one!.number);
    return true;
  };
  const give = (one: Sent | undefined, record: Recorded): void => {
    if (one === undefined) {
      if (isUnheard(record)) return;
      const { id, key, status, created, searches, measured, output } = record;
      const what = `${status}, key ${key}, created ${created}, ${searches} searches, ` +
        (measured ? "measured" : `estimated ${output}`);
      problems.push(`${id}: a record of nothing that was sent (${what})`);
    } else if (found.has(one.number)) {
      problems.push(`${one.number}: two records, ${found.get(one.number)!.id} and ${record.id}`);
    } else found.set(one.number, record);
  };
  const rest: Recorded[] = [];
  for (const record of records) {
    const known = byId.get(record.id) ?? (record.measured ? byNumber.get(record.cached ?? 0) : undefined);
    if (known !== undefined) give(known, record);
    else rest.push(record);
  }
  for (const record of rest) {
    // The newest of the key that was sent before it and has neither an id of its own nor a record; of those that did not reach
    // the provider only where there is no other.
    const candidates = (byKey.get(record.key) ?? []).filter((s) =>
      s.at <= record.created && s.id === null && !found.has(s.number)
    );
    give(
      candidates.findLast((s) => heard.has(s.number) && record.created <= s.until) ?? candidates.at(-1),
      record,
    );
  }
  return found;
}
