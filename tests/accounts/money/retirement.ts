/**
 * What is left of records that retention has deleted: sums by day, statements, budgets, and the proof that nothing else was changed.
 */
import { assert, assertEquals } from "@std/assert";
import { proofOf } from "../../../src/commands/ledger.ts";
import { eventually } from "../../support/time.ts";
import { RETENTION_DAYS } from "./config.ts";
import type { Driver } from "./driver.ts";
import { type Loose, Reports } from "./reports.ts";

const DAY = 86_400_000;

/** The ledger is as it was written, and agrees with its sums and budgets. */
export async function prove(driver: Driver): Promise<void> {
  const { url, journal = null } = driver.place.stores[0] as { url: string; journal?: string | null };
  const { shown, unchained } = await proofOf({ url, pepper: null, journal });
  assertEquals([shown, unchained], [[], 0]);
}

/** Nodes start anew some days later, and delete what is due. */
export async function retire(driver: Driver): Promise<void> {
  const records: Loose[] = await driver.checks.recordsOf("");
  await driver.startAnew(driver.pick([1, 2, 10]) * DAY, { retention_days: RETENTION_DAYS });
  const before = Math.floor((driver.now - RETENTION_DAYS * DAY) / DAY) * DAY;
  const isKept = ({ created }: Loose) => Date.parse(created) >= before;
  const kept = records.filter(isKept);
  let left: Loose[] = [];
  await eventually(async () => {
    left = await driver.checks.recordsOf("");
    return left.length <= kept.length;
  }, { what: () => `${left.length} records retire until ${kept.length} are left` });
  assertEquals(left, kept);
  driver.note(`${records.length - kept.length} of ${records.length} records have retired`);
  driver.count("retirements");
  const reports = new Reports(driver);
  for (let i = 0; i < 10; i++) await reports.usageOfDays(records);
  for (let i = 0; i < 4; i++) await reports.statement(records, before);
  await reports.pages(kept);
  await reports.ownKeys(records, isKept);
  await driver.checks.budgets();
  assert(left.length === kept.length);
}
