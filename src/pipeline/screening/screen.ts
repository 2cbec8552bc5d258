/**
 * Data-loss prevention for one request. It runs before the request is decoded, because the scan covers exactly what was sent.
 *
 * If the policy of a key does not exist, the request is refused (fail closed). Masking changes the body in place, so all later steps see
 * only placeholders.
 */
import { MODEL_TYPES } from "../../dlp/model/labels.ts";
import type { EntityModel } from "../../dlp/model/mod.ts";
import { findPatterns, type PatternResult } from "../../dlp/patterns.ts";
import { judgeHits } from "../../dlp/answer_fields.ts";
import { AnswerRules } from "../../dlp/answer_rules.ts";
import { answerCheck, merge } from "../../dlp/merge.ts";
import type { Check, RequestOptions } from "../../dlp/policy.ts";
import type { Re2 } from "../../dlp/re2.ts";
import { readRequestOptions, refusePattern } from "../../dlp/request.ts";
import { screenBody, type ScreenOptions, textsOf, type Verdict } from "../../dlp/screen_body.ts";
import { Failure } from "../../exchange/failure.ts";
import { type BodyLeaves, readHeaders, readLeaves } from "../../formats/leaves/mod.ts";
import { measureText } from "../../models/limits.ts";
import { reportFindings } from "./audit_dlp.ts";
import type { Arrival, Screened } from "../call.ts";
import type { Kit } from "../kit.ts";
import { holdsDocuments, readDocuments } from "./read_documents.ts";
import { checksOfBoth, type Policies, policiesOf, policyNames } from "./policies.ts";
import { screenAnswer } from "./screen_answer.ts";
import { screenSearch } from "./screen_search.ts";
import { atOnce } from "../../timing/slices.ts";

/** Maximum CPU time for one request, in milliseconds; text of the maximum size needs a tenth of it. */
const BUDGET_MS = 5000;
/** Maximum number of findings in a list; the total is given separately. */
const MOST_TOLD = 1000;
/** A request with no more text than this is scanned in one go. */
const SHORT = 16_384;

/** @param dlpField `plugins.dlp`; undefined: there is none */
export function screen(arrival: Arrival, dlpField: unknown, kit: Kit): Screened | null | Promise<Screened> {
  if (!kit.dlp.dlp.enabled) {
    if (dlpField === undefined) return null;
    throw new Failure(
      "dlp_unavailable",
      "The request asks for data-loss prevention, which is switched off here.",
      {
        param: "plugins.dlp",
      },
    );
  }
  const requestOptions = dlpField === undefined ? null : readRequestOptions(dlpField);
  const policies = policiesOf(kit.dlp);
  const { check, answers } = checksOf(policyNames(arrival.key), requestOptions, policies);
  const read = () => {
    const reading = readLeaves(arrival.body, arrival.format.leaves);
    measureText(reading, kit.limits);
    if (arrival.formatName === "messages") readHeaders(reading, arrival.headers("anthropic-"));
    return reading;
  };
  const { slices, metrics } = kit;
  const tools: Tools = { re2: kit.dlp.re2, model: kit.dlp.model, slices, metrics, key: arrival.key.id };
  const judged = (reading: BodyLeaves) =>
    holdsDocuments(reading)
      ? readDocuments(reading, kit.dlp.documents, tools.key).then((read) =>
        verdictOn(read, check, tools, requestOptions)
      )
      : verdictOn(reading, check, tools, requestOptions);
  const verdict = arrival.large
    ? slices.step(tools.key, "screen", read).then(judged)
    : judged(metrics.holding("screen", read));
  const concluded = (verdict: Verdict): Screened => {
    report(verdict, check, { arrival, of: "request" }, kit);
    return judgedAs(verdict);
  };
  const judgedAs = (verdict: Verdict): Screened => ({
    ...conclude(verdict, check),
    search: screenSearch({
      verdictOn: (text) => verdictOn(text, check, { ...tools, names: verdict.names }, null),
      answers: answers !== null,
      report: (judged, of) => report(judged, check, { arrival, of }, kit),
    }),
    answers: answers && {
      rules: new AnswerRules(answers, tools, {
        ...policies.secrets,
        isKey: (text) => kit.accounts.isSecret(text),
      }, verdict.names),
      screen: screenAnswer,
      judgeHits,
    },
  });
  return verdict instanceof Promise ? verdict.then(concluded) : concluded(verdict);
}

/** Writes findings to the audit log and the metrics. */
function report(
  { action, all, unscanned }: Pick<Verdict, "action" | "all" | "unscanned">,
  { mode }: Check,
  { arrival: { id, key }, of }: { arrival: Arrival; of: "request" | "answer" },
  kit: Kit,
): void {
  if (all.length === 0 && action !== "block") return;
  reportFindings({
    id,
    key,
    of,
    mode,
    action: action === "block" ? "refused" : action === "mask" ? "masked" : "alerted",
    found: all.map(({ category, entity_type: type, location }) => ({
      category,
      type,
      location,
    })),
    unscanned: unscanned.length,
  }, kit);
}

/** Dependencies of a scan. Keys take turns in slow work. */
export interface Tools extends Pick<Kit, "slices"> {
  re2: Re2;
  /** Null: not configured. */
  model: EntityModel | null;
  metrics: Pick<Kit["metrics"], "holding">;
  key: string;
  /** Placeholders of texts that were screened before. Absent: there were none. */
  names?: Verdict["names"];
  /** Maximum CPU time in milliseconds; absent: the limit for one request. */
  budgetMs?: number;
}

/** The findings in a request and the resulting action; synchronous for small requests. */
export function verdictOn(
  reading: BodyLeaves,
  check: Check,
  tools: Tools,
  requestOptions: RequestOptions | null,
): Verdict | Promise<Verdict> {
  const { slices, metrics, key, names, budgetMs = BUDGET_MS } = tools;
  const model = wantsModel(check) ? tools.model : null;
  if (check.patterns.length > 0 || model !== null) {
    return besides(reading, check, { ...tools, model }, requestOptions).then((found) =>
      slices.run(key, screenBody(reading, check, { budgetMs, names, ...found }))
    );
  }
  const work = screenBody(reading, check, { budgetMs, names });
  if (!isShort(reading)) return slices.run(key, work);
  return metrics.holding("screen", () => {
    let step = work.next();
    while (!step.done) step = work.next();
    return step.value;
  });
}

/** Findings of custom patterns and of the model, in addition to the recognizers. */
async function besides(
  reading: BodyLeaves,
  check: Check,
  { re2, model, slices, key }: Tools,
  requestOptions: RequestOptions | null,
): Promise<Pick<ScreenOptions, "patterns" | "entities">> {
  const reads = textsOf(reading, check);
  const texts = isShort(reading) ? atOnce(reads) : await slices.run(key, reads);
  const finding = model?.find(texts);
  const patterns = check.patterns.length > 0
    ? await findPatterns(texts, check, { re2, key, slices })
    : undefined;
  if (patterns) refuseBadPattern(patterns, check, requestOptions);
  return { patterns, entities: await finding };
}

function wantsModel({ detectors }: Check): boolean {
  return detectors.some(({ types }) => !types.isDisjointFrom(MODEL_TYPES));
}

/** Refuses the request because of an invalid pattern of its own. An invalid pattern of the policy only makes the scan incomplete. */
function refuseBadPattern(
  { refused }: PatternResult,
  check: Check,
  requestOptions: RequestOptions | null,
): void {
  if (!refused || !requestOptions) return;
  const { rule, byPolicy } = check.patterns[refused.pattern];
  if (byPolicy) return;
  const index = requestOptions.rules.patterns.findIndex((p) =>
    p.name === rule.name && p.pattern === rule.pattern
  );
  throw refusePattern(index, rule.name, refused.why);
}

interface Checks {
  check: Check;
  answers: Check | null;
}

/** @param names of policies that apply together */
export function checksOf(
  names: readonly string[],
  requestOptions: RequestOptions | null,
  policies: Policies,
): Checks {
  const found = names.map((name) => policies.byName.get(name));
  if (found.includes(undefined)) {
    throw new Failure(
      "dlp_policy_unavailable",
      "The data-loss prevention policy of this API key cannot be found, so the request was not run.",
    );
  }
  const [policy, other] = found;
  if (policy && other) return checksOfBoth(policy, other, requestOptions, policies);
  if (requestOptions === null && policy) return policy;
  const rules = policy?.rules ?? null;
  return {
    check: merge(rules, requestOptions, policies.defaults),
    answers: answerCheck(rules, requestOptions, policies.defaults),
  };
}

function isShort(reading: BodyLeaves): boolean {
  let units = 0;
  for (const leaf of reading.leaves) units += leaf.text.length;
  return units <= SHORT;
}

function conclude(verdict: Verdict, check: Check): Omit<Screened, "answers" | "search"> {
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
    report: check.asked
      ? { findings: verdict.findings.slice(0, MOST_TOLD).map((f) => ({ ...f })), count: verdict.count }
      : null,
    headers,
    originals: check.restore && verdict.names !== null ? verdict.names.originals : null,
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
      dlp: verdict.findings.slice(0, MOST_TOLD),
      findings_count: verdict.count,
      block_scope: verdict.blockedInScope ? "in_report_scope" : "outside_report_scope",
      ...(unscanned.length > 0 && { unscanned }),
    },
    headers,
  });
}
