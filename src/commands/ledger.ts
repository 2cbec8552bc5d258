/** The command that verifies the ledger. It prints what was read and each record that differs from what was written. */
import { countOf } from "../exchange/printable.ts";
import { pepperPath, readPepper } from "../accounts/keys/pepper.ts";
import {
  CareRefused,
  type LedgerFault,
  type LedgerProof,
  pathOf,
  pepperWithin,
  type Place,
  verify,
} from "../store/care/mod.ts";
import { chainKeyOf } from "../store/mod.ts";
import type { Command } from "./command.ts";
import { asUsageError, type CareConfig } from "./store_care.ts";

type LedgerCommand = Extract<Command, { command: "ledger" }>;

/** Records between two lines of progress. */
const REPORT_EVERY = 500_000;

/**
 * Resolves with the text to print, and whether the ledger is as it was written.
 * @param report gets the lines of progress
 */
export async function ledgerCommand(
  { json }: LedgerCommand,
  store: CareConfig,
  report: (line: string) => void,
): Promise<{ text: string; intact: boolean }> {
  try {
    let reported = 0;
    const proof = await proofOf(store, (records) => {
      if (records < reported + REPORT_EVERY) return;
      reported = records;
      report(countOf(records, "record"));
    });
    const text = json ? JSON.stringify(viewOf(proof), null, 2) : textOf(proof);
    return { text, intact: proof.faults === 0 };
  } catch (error) {
    throw asUsageError(error);
  }
}

/** Verifies the whole ledger with its pepper. */
export async function proofOf(
  store: CareConfig & Place,
  progress?: (records: number) => void,
): Promise<LedgerProof> {
  const path = pathOf(store);
  return await verify(store, async (query) => {
    const pepper = store.pepper ??
      (path === null ? await pepperWithin(query) : readPepper(pepperPath(path)));
    if (pepper !== null) return chainKeyOf(pepper);
    throw new CareRefused("The pepper is missing, without which records cannot be proved.");
  }, { progress });
}

function viewOf(proof: LedgerProof) {
  return {
    intact: proof.faults === 0,
    records: proof.records,
    chained: proof.chained,
    unchained: proof.unchained,
    chains: proof.chains,
    replaced: proof.replaced,
    retired_before: proof.retiredBefore === 0 ? null : dayText(proof.retiredBefore),
    days_summed: proof.daysSummed,
    faults: proof.faults,
    places: proof.shown.map((fault) => ({ ...fault, day: dayText(fault.day) })),
  };
}

function textOf(proof: LedgerProof): string {
  const lines = [
    `${countOf(proof.records, "record")}, ${proof.chained} proved in ${
      countOf(proof.chains, "chain")
    }; sums of ${countOf(proof.daysSummed, "day")} compared.`,
  ];
  if (proof.unchained > 0) {
    const [count, have] = [countOf(proof.unchained, "record"), proof.unchained === 1 ? "has" : "have"];
    lines.push(`${count} of an older version ${have} no chain: only their sums were compared.`);
  }
  if (proof.replaced > 0) {
    const count = countOf(proof.replaced, "provisional record");
    lines.push(`${count} of nodes that seemed dead: replaced by the actual records.`);
  }
  if (proof.retiredBefore > 0) {
    lines.push(`Records before ${dayText(proof.retiredBefore)} were deleted after store.retention_days.`);
  }
  lines.push(...proof.shown.map(faultText));
  if (proof.faults > proof.shown.length) lines.push(`… and ${proof.faults - proof.shown.length} more.`);
  lines.push(
    proof.faults === 0
      ? "The ledger is intact."
      : `The ledger is NOT intact: ${countOf(proof.faults, "fault")}.`,
  );
  return lines.join("\n");
}

function faultText(fault: LedgerFault): string {
  const day = dayText(fault.day);
  if (fault.kind === "sums differ") {
    const { key, column, sums, records } = fault;
    const of = key === undefined ? "" : ` of key ${key}`;
    return `${day}: sums differ: ${column}${of} is ${sums}, the records have ${records}`;
  }
  if (fault.kind === "sums disagree") {
    const { sums, of, column, excess } = fault;
    return `${day}: sums disagree: ${column} of ${of} in ${sums} is too large by ${excess}`;
  }
  const { node, position, last, id } = fault;
  const place = position === undefined
    ? ""
    : `, node ${node}, position ${position}${last ? ` to ${last}` : ""}`;
  return `${day}${place}: ${fault.kind}${id === undefined ? "" : ` ${id}`}`;
}

function dayText(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}
