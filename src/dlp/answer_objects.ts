/**
 * Objects of an answer that a provider adds for its own format: judged as their compact JSON text, names and numbers
 * included, and masked in it. Ids and proofs are put aside meanwhile: nobody reads them.
 */
import { isObject, type Loose, parseExact } from "../exchange/json.ts";
import type { AnswerRules } from "./answer_rules.ts";
import { replaceInJson } from "./json_text.ts";
import type { Finding } from "./scan.ts";

/** The same ids and proofs that a request may hold, and those that only answers do. */
const OPAQUE =
  /^(?:id|(?:call|tool_call|tool_use|file|item|response|container|approval_request)_id|signature|thought_?signature|encrypted_\w+)$/i;
/** Objects whose `data` is a proof. */
const SEALED: ReadonlySet<unknown> = new Set(["redacted_thinking", "reasoning.encrypted"]);

export interface JudgedObject {
  findings: Finding[];
  /** What takes the place of the object; undefined: the findings cannot be replaced in it. */
  masked: Loose | undefined;
}

/** Null: nothing was found. */
export async function judgeObject(value: Loose, rules: AnswerRules): Promise<JudgedObject | null> {
  const aside: unknown[] = [];
  const text = JSON.stringify(without(value, aside));
  if (text.length < 8) return null;
  const findings = await rules.judgeJson(text);
  if (findings.length === 0) return null;
  const spans = findings.map(({ start, end, entityType, category }) => ({
    start,
    end,
    by: rules.placeholders.of(entityType, category, text.slice(start, end)),
  }));
  const masked = rules.mode === "mask" ? replaceInJson(text, spans, "quote") : null;
  return {
    findings,
    masked: masked === null ? undefined : within(parseExact(masked), aside) as Loose,
  };
}

const MARK = "\0";

/** The value with a mark in the place of each id and proof. */
function without(value: unknown, aside: unknown[]): unknown {
  if (Array.isArray(value)) return value.map((item) => without(item, aside));
  if (!isObject(value) || isExactNumber(value)) return value;
  const out: Loose = Object.create(null);
  for (const [name, item] of Object.entries(value)) {
    if (isOpaque(name, item, value)) out[name] = MARK + (aside.push(item) - 1);
    else out[name] = without(item, aside);
  }
  return out;
}

function isOpaque(name: string, item: unknown, { type }: Loose): boolean {
  if (typeof item !== "string" || item === "") return false;
  return OPAQUE.test(name) || name === "data" && SEALED.has(type);
}

/** Puts back what was put aside. */
function within(value: unknown, aside: readonly unknown[]): unknown {
  if (typeof value === "string") return value.startsWith(MARK) ? aside[Number(value.slice(1))] : value;
  if (Array.isArray(value)) return value.map((item) => within(item, aside));
  if (!isObject(value) || isExactNumber(value)) return value;
  for (const name of Object.keys(value)) value[name] = within(value[name], aside);
  return value;
}

/** A number that would be rounded, which only JSON.stringify may look into. */
function isExactNumber(value: Loose): boolean {
  return "rawJSON" in value && Object.isFrozen(value);
}
