/** A text or a request screened as a policy would, with nothing sent and nothing kept: to try a policy before it is set. */
import { readWishes } from "../dlp/request.ts";
import { readText, type Reported, type Verdict } from "../dlp/screen_body.ts";
import { Failure } from "../exchange/failure.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import { isObject, type Loose } from "../exchange/json.ts";
import { readLeaves } from "../formats/leaves.ts";
import { LEAVES } from "../formats/mod.ts";
import type { Kit } from "./kit.ts";
import { checksOf, verdictOn } from "./screen.ts";

export interface DryScan {
  mode: string;
  /** What would have happened. */
  action: Verdict["action"];
  findings: Reported[];
  findings_count: number;
  unscanned: number;
}

/** @param asked `policy`, or rules as in `plugins.dlp`, or both; `text`, or `request` with its `format` */
export async function dryScan(asked: Loose, kit: Kit): Promise<DryScan> {
  const { dlp } = kit;
  const { policy, dlp: rules, text, request, format = "chat_completions" } = asked;
  if (policy !== undefined && (typeof policy !== "string" || !dlp.policies.has(policy))) {
    throw refused(
      "policy",
      `one of ${[...dlp.policies.keys()].join(", ") || "the policies, of which there are none"}`,
    );
  }
  if ((typeof text === "string") === isObject(request)) {
    throw refused("text", "a text, or a request in its place");
  }
  if (!(String(format) in LEAVES)) throw refused("format", `one of ${Object.keys(LEAVES).join(", ")}`);
  // Without either: the default set.
  const wishes = rules !== undefined || policy === undefined ? readWishes(rules ?? {}) : null;
  const { check } = checksOf(policy === undefined ? null : policy as string, wishes, dlp);
  const reading = typeof text === "string"
    ? readText(text).reading
    : readLeaves(request, LEAVES[format as CallerFormatName]);
  const { action, all, unscanned, exhausted } = await verdictOn(
    reading,
    check,
    { re2: dlp.re2, kit, key: "console" },
    wishes,
  );
  const findings = typeof text === "string" ? all.map((one) => ({ ...one, location: "text" })) : all;
  return {
    mode: check.mode,
    action,
    findings,
    findings_count: findings.length,
    unscanned: unscanned.length + (exhausted ? 1 : 0),
  };
}

function refused(field: string, expected: string): Failure {
  return new Failure("validation_error", `Cannot read ${field}: expected ${expected}.`, {
    param: field,
    errors: [{ type: "value_error", loc: [field], msg: `Input should be ${expected}` }],
  });
}
