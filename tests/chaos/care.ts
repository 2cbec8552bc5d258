/**
 * What goes on beside the calls: old records that retention deletes all the while, and backups; and what must be true of
 * them at the end. Statements must say what the records say.
 */
import { parseAmount } from "../../src/accounts/budgets/money.ts";
import { pepperPath, readPepper } from "../../src/accounts/keys/pepper.ts";
import { proofOf } from "../../src/commands/ledger.ts";
import { backup, pathOf, pepperWithin, restore } from "../../src/store/care/mod.ts";
import type { Engine } from "../../src/store/engine.ts";
import { chainKeyOf, encodeRecord, openStore } from "../../src/store/mod.ts";
import { generation } from "../store/samples.ts";
import { ACCOUNT, ADMIN_KEY, type Node } from "./nodes.ts";
import { pause } from "../support/time.ts";

/** Whose records are older than the retention; nothing else of the run has to do with it. */
export const PAST = "past";
/** What the ids of their keys begin with. */
export const PAST_KEYS = "key_past";
/** The usual retention is 90 days. */
const OLDEST_DAYS = 130;
const DAY = 86_400_000;
const BATCH = 2000;
const COST = 7n;

export interface Care {
  /** Old records that were written, and backups that were made. */
  written: number;
  backups: number;
  /** Of the last backup; null: there is none. */
  file: string | null;
  stop(): Promise<void>;
}

export interface CareOptions {
  url: string;
  /** Where backups are written; the store's own disk may be full. */
  folder: string;
  /** Asks the database for what is not in a file. */
  engine(): Engine;
}

export function takeCare({ url, folder, engine }: CareOptions): Care {
  const care: Care = { written: 0, backups: 0, file: null, stop };
  let running = true;

  async function rest(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (running && performance.now() < until) await pause(50);
  }

  async function pepper(): Promise<string> {
    const path = pathOf({ url });
    if (path !== null) return readPepper(pepperPath(path))!;
    const open = engine();
    try {
      return (await pepperWithin(open.query))!;
    } finally {
      await open.close();
    }
  }

  /** Whether a batch is in the ledger: its records may have been deleted since, its sums stay. */
  async function isThere(key: string): Promise<boolean> {
    const open = engine();
    try {
      const rows = await open.query("SELECT key_id FROM sums WHERE kind = 'key' AND key_id = $1 LIMIT 1", [
        key,
      ]);
      return rows.length > 0;
    } finally {
      await open.close();
    }
  }

  /**
   * Each batch is tried until it is written: the store is locked, full and away at times. Where the answer was lost, the
   * records may be there, and deleted again, so that their ids would not be known any more.
   */
  async function age(): Promise<void> {
    for (let batch = 0; running; batch++) {
      await rest(3000 + Math.random() * 9000);
      const start = Math.floor(Date.now() / DAY) * DAY - (OLDEST_DAYS - batch % 30) * DAY;
      const records = Array.from(
        { length: BATCH },
        (_, i) =>
          encodeRecord(generation(`gen_past_${batch}_${i}`, {
            created: start + i * 1000,
            keyId: `${PAST_KEYS}${batch}`,
            key: PAST,
            account: PAST,
            cost: COST,
            session: `past${i % 50}`,
            tags: { customer: `past${i % 20}` },
          })),
      );
      for (let attempt = 0, written = false; !written; attempt++) {
        if (!running && attempt === 0) return;
        const store = openStore(url);
        const node = `past_${batch}_${attempt}`;
        try {
          if (attempt > 0 && await isThere(`${PAST_KEYS}${batch}`)) break;
          store.chainWith(chainKeyOf(await pepper()));
          await store.registerNode(node);
          await store.sync({ node, seq: 1, now: Date.now(), records, leases: [] });
          await store.removeNodes([node]);
          written = true;
        } catch {
          await pause(200);
        } finally {
          await store.close();
        }
      }
      care.written += BATCH;
    }
  }

  async function copy(): Promise<void> {
    for (let i = 0; running; i++) {
      await rest(15_000 + Math.random() * 15_000);
      if (!running) return;
      const file = `${folder}/backup${i}`;
      try {
        await backup({ url }, file, { pepper: await pepper() });
        if (care.file !== null) await Deno.remove(care.file);
        care.file = file;
        care.backups++;
      } catch {
        // The database went away meanwhile: another time.
      }
    }
  }

  const all = [age(), copy()];
  async function stop(): Promise<void> {
    running = false;
    await Promise.all(all);
  }
  return care;
}

/** What is wrong with the sums of old records, or with their retention. */
export async function strayedPast(engine: Engine, written: number): Promise<string[]> {
  const one = async (sql: string) => (await engine.query(sql))[0];
  const left = Number((await one(`SELECT COUNT(*) AS n FROM generations WHERE account = '${PAST}'`)).n);
  const problems: string[] = [];
  for (const kind of ["day", "key", "keys", "month"]) {
    const { n, c } = await one(
      `SELECT SUM(generations) AS n, SUM(cost) AS c FROM sums WHERE kind = '${kind}' AND ` +
        (kind === "day" ? `account = '${PAST}'` : `key_id LIKE '${PAST_KEYS}%'`),
    );
    if (Number(n ?? 0) !== written || BigInt(c ?? 0) !== BigInt(written) * COST) {
      problems.push(`${written} old records were written, the sums ${kind} have ${n} for ${c}`);
    }
  }
  if (written > 0 && left === written) problems.push(`none of ${written} old records was deleted`);
  return problems;
}

/** What is wrong with the last backup once it is restored. */
export async function strayedBackup(file: string, folder: string): Promise<string[]> {
  const url = `sqlite:${folder}/restored.db`;
  const { head } = await restore({ url }, file);
  const { faults, unchained, shown } = await proofOf({ url, pepper: head.pepper, journal: null });
  return faults + unchained === 0
    ? []
    : [`a backup is not intact: ${unchained} in no chain, ${JSON.stringify(shown)}`];
}

export interface Stated {
  generations: number;
  cost: bigint;
}

/** What the statements say of all months since `from`: by generation, line by line, and by day. */
export async function stated(
  node: Node,
  from: number,
): Promise<{ lines: Stated; days: Stated; total: Stated }> {
  const none = (): Stated => ({ generations: 0, cost: 0n });
  const sums = { lines: none(), days: none(), total: none() };
  const add = (to: Stated, { generations = 1, cost }: { generations?: number; cost: string }) => {
    to.generations += generations;
    to.cost += parseAmount(cost)!;
  };
  const months = new Set([from, Date.now()].map((time) => new Date(time).toISOString().slice(0, 7)));
  for (const month of months) {
    for (const by of ["generation", "day"]) {
      const response = await fetch(
        `${node.url}/admin/accounts/${ACCOUNT}/statement?month=${month}&by=${by}`,
        {
          headers: { authorization: `Bearer ${ADMIN_KEY}`, accept: "application/json" },
        },
      );
      const { lines, totals } = await response.json();
      for (const line of lines) add(by === "day" ? sums.days : sums.lines, line);
      if (by === "generation") add(sums.total, totals);
    }
  }
  return sums;
}
