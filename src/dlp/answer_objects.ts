/**
 * Screens provider-specific objects of an answer: as compact JSON text, including names and numbers, in which
 * findings are masked. Ids and proofs are excluded, since nobody reads them.
 */
import { isObject, type Loose, parseExact } from "../exchange/json.ts";
import type { AnswerRules } from "./answer_rules.ts";
import { replaceInJson } from "./json_text.ts";
import type { Finding } from "./scan.ts";

/** Field names of ids and proofs, in requests and answers. */
const OPAQUE =
  /^(?:id|(?:call|tool_call|tool_use|file|item|response|container|approval_request)_id|signature|thought_?signature|encrypted_\w+)$/i;
/** Types of objects whose `data` is a proof. */
const SEALED: ReadonlySet<unknown> = new Set(["redacted_thinking", "reasoning.encrypted"]);

export interface JudgedObject {
  findings: Finding[];
  /** The replacement; undefined: the findings cannot be masked. */
  masked: Loose | undefined;
}

/** Null: no findings. */
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

/** The value with placeholders for ids and proofs. */
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

/** Puts ids and proofs back. */
function within(value: unknown, aside: readonly unknown[]): unknown {
  if (typeof value === "string") return value.startsWith(MARK) ? aside[Number(value.slice(1))] : value;
  if (Array.isArray(value)) return value.map((item) => within(item, aside));
  if (!isObject(value) || isExactNumber(value)) return value;
  for (const name of Object.keys(value)) value[name] = within(value[name], aside);
  return value;
}

/** A number that would be rounded, represented by an object that only JSON.stringify may inspect. */
function isExactNumber(value: Loose): boolean {
  return "rawJSON" in value && Object.isFrozen(value);
}
