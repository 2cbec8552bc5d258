/**
 * Guard: data-loss prevention. Stands before the request is read, because what is scanned is what was sent.
 *
 * A key without a policy and a request without `plugins.dlp` pass untouched. A key whose policy cannot be found is
 * refused, not let through unscanned. Masking changes the body in place, so everything after sees only placeholders.
 */
import { setImmediate } from "node:timers";
import type { Key } from "../accounts/mod.ts";
import { type Check, merge, type Mode, type Rules } from "../dlp/policy.ts";
import { type PolicyConfig, readPolicy, readWishes } from "../dlp/request.ts";
import { screenBody, screenText, type Verdict } from "../dlp/screen_body.ts";
import { Failure } from "../exchange/failure.ts";
import { isObject } from "../exchange/json.ts";
import type { DlpReport } from "../formats/format.ts";
import { type Reading, readLeaves } from "../formats/leaves.ts";
import { LEAVES } from "../formats/mod.ts";
import type { Arrival, Kit } from "./kit.ts";

export interface DlpSettings {
  enabled: boolean;
  on_unscannable: "pass" | "block";
  restore: boolean;
}

/** Data-loss prevention as a configuration sets it up. */
export interface Dlp {
  enabled: boolean;
  /** Rules of the policies, and the check that each makes alone. */
  policies: ReadonlyMap<string, { rules: Rules; check: Check }>;
  defaults: { unscannable: "pass" | "block"; restore: boolean };
}

/** Thrown by {@link openDlp}: every mistake in the policies that only a look at the vocabulary shows. */
export interface PolicyMistake {
  path: string;
  message: string;
}

/** What is known of a call's data after its guard let it pass. */
export interface Screened {
  mode: Mode;
  findings: number;
  /** For the answer; null when the request did not ask. */
  report: DlpReport | null;
  headers: Record<string, string>;
  /** Placeholders to be turned back in the answer; null: none are. */
  originals: ReadonlyMap<string, string> | null;
  /** What may leave of a query for a search; null: nothing. */
  query(text: string): string | null;
}

/** Work that one request may cause; text at the limit of a request takes a tenth of it. */
const BUDGET_MS = 5000;
/** A request with no more text than this is scanned in one go. */
const SHORT = 16_384;

export function openDlp(
  settings: DlpSettings,
  policies: Readonly<Record<string, PolicyConfig>>,
): { dlp: Dlp; mistakes: PolicyMistake[] } {
  const defaults = { unscannable: settings.on_unscannable, restore: settings.restore };
  const mistakes: PolicyMistake[] = [];
  const opened = new Map<string, { rules: Rules; check: Check }>();
  for (const [name, policy] of Object.entries(policies)) {
    const { rules, unknown } = readPolicy(policy);
    for (const type of unknown) {
      mistakes.push({
        path: `dlp_policies.${name}.entity_types`,
        message: `expected names of entity types, got ${JSON.stringify(type)}`,
      });
    }
    opened.set(name, { rules, check: merge(rules, null, defaults) });
  }
  return { dlp: { enabled: settings.enabled, policies: opened, defaults }, mistakes };
}

/** Null: there is nothing to check. A promise only where the text is long. Throws what refuses the request. */
export function screen(arrival: Arrival, kit: Kit): Screened | null | Promise<Screened> {
  const wished = wishedOf(arrival.body);
  if (arrival.key.dlpPolicy === null && wished === undefined) return null;
  const check = checkOf(arrival.key, wished, kit.dlp);
  if (check === null) return null;
  const reading = readLeaves(arrival.body, LEAVES[arrival.formatName]);
  const work = screenBody(reading, check, { budgetMs: BUDGET_MS });
  if (isShort(reading)) {
    let step = work.next();
    while (!step.done) step = work.next();
    return conclude(step.value, check);
  }
  return inSlices(work).then((verdict) => conclude(verdict, check));
}

function wishedOf(body: unknown): unknown {
  if (!isObject(body) || !isObject(body.plugins)) return undefined;
  return body.plugins.dlp ?? undefined;
}

function checkOf(key: Key, wished: unknown, dlp: Dlp): Check | null {
  if (!dlp.enabled) {
    if (wished === undefined) return null;
    throw new Failure(
      "dlp_unavailable",
      "The request asks for data-loss prevention, which is switched off here.",
      {
        param: "plugins.dlp",
      },
    );
  }
  const policy = key.dlpPolicy === null ? null : dlp.policies.get(key.dlpPolicy);
  if (policy === undefined) {
    throw new Failure(
      "dlp_policy_unavailable",
      "The data-loss prevention policy of this API key cannot be found, so the request was not run.",
    );
  }
  if (wished === undefined) return policy!.check;
  return merge(policy?.rules ?? null, readWishes(wished), dlp.defaults);
}

function isShort(reading: Reading): boolean {
  let units = 0;
  for (const leaf of reading.leaves) units += leaf.text.length;
  return units <= SHORT;
}

/** Between two slices everything else that is due has its turn. */
async function inSlices(work: Generator<void, Verdict>): Promise<Verdict> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

function conclude(verdict: Verdict, check: Check): Screened {
  const headers: Record<string, string> = {
    "x-svc-dlp-mode": check.mode,
    "x-svc-dlp-findings": String(verdict.count),
  };
  if (verdict.unscanned.length > 0 || verdict.exhausted) {
    headers["x-svc-dlp-unscanned"] = String(verdict.unscanned.length + (verdict.exhausted ? 1 : 0));
  }
  if (verdict.action === "block") throw blocked(verdict, headers);
  return {
    mode: check.mode,
    findings: verdict.count,
    report: check.asked ? { findings: verdict.findings.map((f) => ({ ...f })), count: verdict.count } : null,
    headers,
    originals: check.restore && verdict.originals.size > 0 ? verdict.originals : null,
    query: (text) => screenText(text, check, { budgetMs: BUDGET_MS }),
  };
}

function blocked(verdict: Verdict, headers: Record<string, string>): Failure {
  const { unscanned } = verdict;
  const why = verdict.exhausted
    ? "could not be scanned whole"
    : verdict.count > 0
    ? "holds data that must not leave"
    : "holds parts that cannot be scanned";
  return new Failure("dlp_violation", `The request ${why}, so data-loss prevention refused it.`, {
    details: {
      dlp: verdict.findings,
      findings_count: verdict.count,
      block_scope: verdict.blockedInScope ? "in_report_scope" : "outside_report_scope",
      ...(unscanned.length > 0 && { unscanned }),
    },
    headers,
  });
}
