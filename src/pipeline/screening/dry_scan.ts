/** Screens a text, request or file as a policy would, without sending or recording anything: to test a policy. */
import { readRequestOptions } from "../../dlp/request.ts";
import { readTexts, type Reported, type Verdict } from "../../dlp/screen_body.ts";
import { Failure } from "../../exchange/failure.ts";
import { callerFormatOf } from "../../exchange/format_name.ts";
import { isObject, type Loose } from "../../exchange/json.ts";
import { readLeaves } from "../../formats/leaves/mod.ts";
import { LEAVES } from "../../formats/caller_formats.ts";
import type { Check, RequestOptions } from "../../dlp/policy.ts";
import type { Arrival } from "../call.ts";
import type { Dlp } from "../dlp.ts";
import type { Kit } from "../kit.ts";
import { nearest, oneOf, shownInput } from "../../schema/mistakes.ts";
import { policiesOf, policyNames } from "./policies.ts";
import { readDocuments } from "./read_documents.ts";
import { checksOf, type Tools, verdictOn } from "./screen.ts";

export interface DryScan {
  mode: string;
  /** The action that would have been taken. */
  action: Verdict["action"];
  findings: Reported[];
  findings_count: number;
  unscanned: number;
}

/** @param asked `policy`, or rules as in `plugins.dlp`, or both; `text`, or `request` with its `format` */
export async function dryScan(asked: Loose, kit: Kit): Promise<DryScan> {
  const { policy, dlp: rules, text, request, format: named = "chat_completions" } = asked;
  const format = callerFormatOf(named);
  const given = dryRules(policy, rules, kit.dlp);
  const [only, another] = [text, request].filter((one) => one !== undefined && one !== null);
  if (another !== undefined || (only === text ? typeof text !== "string" : !isObject(request))) {
    const found = another !== undefined ? "both" : only === undefined ? "nothing" : "another value";
    throw refused("text", `a text, or a request in its place, got ${found}`);
  }
  if (format === undefined) {
    throw refused(
      "format",
      `one of ${Object.keys(LEAVES).join(", ")}, got ${shownInput(named, ["format"])}`,
    );
  }
  const { slices, metrics } = kit;
  const tools: Tools = { re2: kit.dlp.re2, model: kit.dlp.model, slices, metrics, key: "console" };
  if (typeof text === "string") return await dryScanText(text, given, tools);
  const reading = await readDocuments(
    readLeaves(request, LEAVES[format]),
    kit.dlp.documents,
    tools.key,
  );
  return dryScanOf(await verdictOn(reading, given.check, tools, given.requestOptions), given.check);
}

/** @param dlpField `plugins.dlp` of the request; undefined: not set */
export async function wouldRefuse(arrival: Arrival, dlpField: unknown, kit: Kit): Promise<boolean> {
  const { slices, metrics, dlp } = kit;
  if (!dlp.dlp.enabled) {
    if (dlpField === undefined) return false;
    throw new Failure("dlp_unavailable", "Data-loss prevention is switched off here.", {
      param: "plugins.dlp",
    });
  }
  const requestOptions = dlpField === undefined ? null : readRequestOptions(dlpField);
  const { check } = checksOf(policyNames(arrival.key), requestOptions, policiesOf(dlp));
  const read = readLeaves(arrival.body, arrival.format.leaves);
  const tools: Tools = { re2: dlp.re2, model: dlp.model, slices, metrics, key: arrival.key.id };
  const reading = await readDocuments(read, dlp.documents, tools.key);
  return (await verdictOn(reading, check, tools, requestOptions)).action === "block";
}

/** The rules for screening a text. */
export interface DryRules {
  check: Check;
  requestOptions: RequestOptions | null;
}

/** @param rules as in `plugins.dlp`; without these and a policy: the default set */
export function dryRules(policy: unknown, rules: unknown, dlp: Dlp): DryRules {
  const policies = policiesOf(dlp);
  if (policy !== undefined && (typeof policy !== "string" || !policies.byName.has(policy))) {
    const names = [...policies.byName.keys()];
    const hint = typeof policy === "string" ? nearest(policy, names) : undefined;
    throw refused(
      "policy",
      `${names.length > 0 ? oneOf(names) : "no policy, as there are none"}, got ${
        shownInput(policy, ["policy"])
      }${hint ? `; nearest is ${hint}` : ""}`,
    );
  }
  const requestOptions = rules !== undefined || policy === undefined ? readRequestOptions(rules ?? {}) : null;
  const { check } = checksOf(policy === undefined ? [] : [policy as string], requestOptions, policies);
  return { check, requestOptions };
}

/** The findings of a policy in a text. Nothing is recorded. */
export async function dryScanText(
  text: string,
  { check, requestOptions }: DryRules,
  tools: Tools,
): Promise<DryScan> {
  const scan = dryScanOf(await verdictOn(readTexts({ text }), check, tools, requestOptions), check);
  return { ...scan, findings: scan.findings.map((one) => ({ ...one, location: "text" })) };
}

function dryScanOf({ action, all, unscanned, exhausted }: Verdict, check: Check): DryScan {
  return {
    mode: check.mode,
    action,
    findings: all,
    findings_count: all.length,
    unscanned: unscanned.length + (exhausted ? 1 : 0),
  };
}

/** @param expected what is allowed, and what was found */
function refused(field: string, expected: string): Failure {
  return new Failure("validation_error", `Cannot read ${field}: expected ${expected}.`, {
    param: field,
    errors: [{ type: "value_error", loc: [field], msg: `expected ${expected}` }],
  });
}
