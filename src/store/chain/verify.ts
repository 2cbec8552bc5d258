/**
 * Verifies the ledger: each record is in its chain as it was written, and the daily sums equal those of the
 * records.
 *
 * Days that retention has deleted (whole days, oldest first) are skipped. A record that was only presumed
 * (`interrupted`, written for a node taken for dead) and was later replaced or withdrawn is kept as a note at
 * its position in the chain. Records made before chains were introduced are verified by the sums alone.
 */
import type { Engine, Reader } from "../engine.ts";
import { contentOfRow, NAMES } from "../records.ts";
import { asInt, asText, optional, type Row } from "../rows.ts";
import { DaySums, type SumFault } from "./day_sums.ts";
import { type ChainEnd, dayOf, sealOfEnd, sealOfRemoved } from "./links.ts";
import { ChainReading, type LinkFault } from "./reading.ts";
import { compareBudgets, compareCredits, compareSums, type DisagreementFault } from "./sums_within.ts";

export type LedgerFault = LinkFault | SumFault | DisagreementFault;

export interface LedgerProof {
  /** Number of records read, and how many of them are in chains. */
  records: number;
  chained: number;
  /** Records written before chains were introduced. */
  unchained: number;
  chains: number;
  /** Presumed records that were replaced by the actual ones. */
  replaced: number;
  /** Records of days before this time have been deleted by retention; 0: none. */
  retiredBefore: number;
  /**
   * Days whose sums were compared with their records; 0 while records of an older release are being added to
   * the sums.
   */
  daysSummed: number;
  faults: number;
  /** The first faults found, up to a bound. */
  shown: LedgerFault[];
}

const MOST_SHOWN = 1000;

/**
 * Reads all records and verifies their links and sums.
 *
 * @param key from {@link chainKeyOf}
 */
export async function verifyLedger(
  engine: Pick<Engine, "kind" | "rows">,
  { query, stream }: Reader,
  key: string,
  { progress = () => {} }: { progress?(records: number): void } = {},
): Promise<LedgerProof> {
  const [state] = await query("SELECT created, retired FROM sums_state");
  const retiredBefore = asInt(state.retired);
  const late = new Set((await query("SELECT id FROM unsummed")).map((row) => asText(row.id)));
  const began = asInt((await query("SELECT began FROM chain_state"))[0].began);
  const whole = asInt(state.created) < 0 && late.size === 0;

  const proof: LedgerProof = {
    records: 0,
    chained: 0,
    unchained: 0,
    chains: 0,
    replaced: 0,
    retiredBefore,
    daysSummed: 0,
    faults: 0,
    shown: [],
  };
  const found = (fault: LedgerFault) => {
    if (proof.faults++ < MOST_SHOWN) proof.shown.push(fault);
  };

  const byDay = Map.groupBy(await endsSince({ query, stream }, retiredBefore, key, found), ({ day }) => day);
  const sums = whole ? new DaySums(await DaySums.read(query, retiredBefore)) : null;
  let reading: ChainReading | null = null;
  const finish = async () => {
    if (reading === null) return;
    reading.end();
    proof.chained += reading.verified;
    byDay.delete(reading.day);
    await sums?.end(reading.day, query, found);
  };
  const begin = async (day: number) => {
    await finish();
    const ends = byDay.get(day) ?? [];
    proof.chains += ends.length;
    reading = new ChainReading(day, ends, key, found);
    proof.replaced += await readRemoved(query, reading, key, found);
    return reading;
  };

  const rows = stream(
    `SELECT ${NAMES}, chain FROM generations WHERE created >= $1 ORDER BY created, id`,
    [retiredBefore],
  );
  for await (const batch of rows) {
    for (const row of batch) {
      const day = dayOf(asInt(row.created));
      // deno-lint-ignore no-explicit-any -- the compiler does not see that `begin` sets it
      const current: ChainReading = (reading as any)?.day === day ? reading! : await begin(day);
      proof.records++;
      sums?.add(row);
      const link = optional(row.chain, asText);
      if (link !== null) current.take(link, asText(row.id), contentOfRow(row));
      else if (asInt(row.created) <= began) proof.unchained++;
      else if (!late.has(asText(row.id))) found({ kind: "unchained", day, id: asText(row.id) });
    }
    progress(proof.records);
  }
  // Days that have no record left.
  const last = dayIs(reading);
  for (const day of [...byDay.keys()].sort((a, b) => a - b)) if (day !== last) await begin(day);
  await finish();
  sums?.endAll(found);
  proof.daysSummed = sums?.days ?? 0;
  if (whole) {
    await compareSums(engine, query, found);
    await compareBudgets(engine, query, found, retiredBefore);
  }
  await compareCredits(engine, query, found);
  return proof;
}

function dayIs(reading: ChainReading | null): number | null {
  return reading === null ? null : reading.day;
}

async function endsSince(
  { query }: Reader,
  retiredBefore: number,
  key: string,
  found: (fault: LedgerFault) => void,
): Promise<ChainEnd[]> {
  const rows = await query("SELECT id, node, day, length, hash, seal FROM chains WHERE day >= $1", [
    retiredBefore,
  ]);
  return rows.map((row) => {
    const end: ChainEnd = {
      id: asText(row.id),
      node: asText(row.node),
      day: asInt(row.day),
      length: asInt(row.length),
      hash: asText(row.hash),
    };
    if (sealOfEnd(key, end) !== asText(row.seal)) {
      found({ kind: "end changed", day: end.day, node: end.node, position: end.length });
    }
    return end;
  });
}

/** Reads the notes about records that were removed from the chains of a day. */
async function readRemoved(
  query: Reader["query"],
  reading: ChainReading,
  key: string,
  found: (fault: LedgerFault) => void,
): Promise<number> {
  const { day } = reading;
  const rows: Row[] = await query(
    "SELECT link, id, data, seal FROM removed WHERE created >= $1 AND created < $2",
    [day, day + 86_400_000],
  );
  for (const row of rows) {
    const [link, id, data] = [asText(row.link), asText(row.id), asText(row.data)];
    if (sealOfRemoved(key, link, data) === asText(row.seal)) reading.take(link, id, data);
    else found({ kind: "note changed", day, id });
  }
  return rows.length;
}
