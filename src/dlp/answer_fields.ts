/**
 * Screens the texts of an answer that arrive complete: names of tools, queries and results of searches,
 * citations, and provider-specific fields. Each is screened separately; a finding that cannot be replaced is
 * removed, or ends the answer.
 */
import { Failure } from "../exchange/failure.ts";
import { parse } from "../exchange/json.ts";
import type { Part, SearchHit } from "../exchange/part.ts";
import type { Extra } from "../exchange/prompt.ts";
import { judgeObject } from "./answer_objects.ts";
import { type AnswerRules, Unscannable } from "./answer_rules.ts";
import { replaceSpans } from "./json_text.ts";
import { spells } from "./spelled_tokens.ts";
import type { Finding } from "./scan.ts";

export interface FoundInField {
  /** Location after `answer`. */
  field: string;
  finding: Finding;
}

export interface JudgedPart {
  /** The replacement; null: removed. */
  part: Part | null;
  found: FoundInField[];
  /** There is a finding that can neither be replaced nor removed. */
  stuck: boolean;
}

/** Null: the part has no complete text. */
export function judgePart(part: Part, rules: AnswerRules): Promise<JudgedPart> | null {
  switch (part.type) {
    case "text-delta":
      return part.logprobs && !spells(part.logprobs, part.text) ? withoutSpelling(part, rules) : null;
    case "reasoning-delta":
    case "call-delta":
    case "call-end":
      return null;
    case "text-end":
    case "reasoning-end": {
      const inProof = part.proof?.kind === "details" || part.proof?.kind === "part";
      return inProof || ("extra" in part && part.extra) ? judge(part, rules) : null;
    }
    case "start":
    case "text-start":
    case "reasoning-start":
      return part.extra ? judge(part, rules) : null;
    case "usage":
      return part.extra || part.service ? judge(part, rules) : null;
    case "finish":
      return part.extra || part.explanation || part.sequence ? judge(part, rules) : null;
    default:
      return judge(part, rules);
  }
}

async function judge(part: Part, rules: AnswerRules): Promise<JudgedPart> {
  const found: FoundInField[] = [];
  const out: Part = { ...part };
  let stuck = false;
  let left: Part | null = out;
  const clean = async (field: string, text: string | undefined): Promise<string | undefined> => {
    if (!text) return text;
    const findings = await rules.judge(text);
    if (findings.length === 0) return text;
    for (const finding of findings) found.push({ field, finding });
    return replaced(text, findings, rules);
  };
  /** The replacement of an object; undefined: it must be removed. */
  const object = async <T>(field: string, value: T | undefined): Promise<T | undefined> => {
    if (value === undefined) return undefined;
    const judged = await judgeObject({ value }, rules);
    if (judged === null) return value;
    for (const finding of judged.findings) found.push({ field, finding });
    return judged.masked?.value as T | undefined;
  };
  const extra = async (field: string, value: Extra | undefined): Promise<Extra | undefined> => {
    const fields = await object(field, value?.fields);
    return fields === value?.fields ? value : fields && { format: value!.format, fields };
  };
  const fixed = async (field: string, text: string | undefined) => {
    if (await clean(field, text) !== text) stuck = true;
  };
  switch (out.type) {
    case "call-start":
      await fixed("tool.name", out.name);
      // The words of a name are also screened separately.
      if (!stuck) await fixed("tool.name", out.name.replace(/[_-]+/g, " "));
      await fixed("tool.namespace", out.namespace);
      break;
    case "search-start":
      out.query = await clean("search.query", out.query) ?? "";
      break;
    case "search-end":
      out.hits = [];
      for (const hit of part.type === "search-end" ? part.hits : []) {
        const before = found.length;
        const url = await clean("search.hits.url", hit.url) ?? "";
        const title = await clean("search.hits.title", hit.title) ?? "";
        const own = await extra("search.hits", hit.extra);
        out.hits.push(found.length === before ? hit : { url, title, ...(own && { extra: own }) });
      }
      break;
    case "citation": {
      const { citation } = out;
      const before = found.length;
      const url = await clean("citation.url", citation.url);
      const title = await clean("citation.title", citation.title);
      const quote = await clean("citation.quote", citation.quote);
      const own = await extra("citation", citation.extra);
      const { start, end, document } = citation;
      const placed = await object("citation", { start, end, document });
      if (found.length > before) {
        out.citation = { kind: citation.kind, url, title, quote, ...placed, extra: own };
      }
      break;
    }
    case "media":
      await fixed("media.transcript", out.transcript);
      await fixed("media.type", out.mediaType);
      // Also screened as text if another media type is declared.
      await fixed("media", out.data);
      break;
    case "opaque": {
      const value = await object("opaque", out.value);
      if (value === undefined) left = null;
      else out.value = value;
      break;
    }
    case "text-end":
    case "reasoning-end":
      if (out.proof) {
        const before = parsed(out.proof.data);
        const now = await object("reasoning", before);
        if (now !== before) out.proof = undefined;
      }
      break;
    case "usage":
      if (await clean("usage", out.service) !== out.service) out.service = undefined;
      break;
    case "finish":
      out.explanation = await clean("explanation", out.explanation);
      out.sequence = await clean("stop_sequence", out.sequence);
      break;
  }
  if ("extra" in out && out.extra) out.extra = await extra("extra", out.extra);
  return { part: found.length === 0 ? part : left, found, stuck };
}

/**
 * Search results that may be shown: in mode `mask` without their findings, in mode `block` without results
 * that have any. In both modes without results that cannot be scanned.
 */
export async function judgeHits(
  hits: readonly SearchHit[],
  rules: AnswerRules,
): Promise<{ shown: SearchHit[]; found: FoundInField[] }> {
  const shown: SearchHit[] = [];
  const found: FoundInField[] = [];
  for (const hit of hits) {
    try {
      const judged = await judge({ type: "search-end", block: 0, hits: [hit] }, rules);
      found.push(...judged.found);
      if (judged.found.length === 0 || rules.mode === "alert") shown.push(hit);
      else if (rules.mode === "mask" && judged.part?.type === "search-end") shown.push(...judged.part.hits);
    } catch (thrown) {
      if (!(thrown instanceof Unscannable)) throw thrown;
    }
  }
  return { shown, found };
}

function parsed(text: string): unknown {
  const value = parse(text);
  return value === undefined ? text : value;
}

type TextDelta = Extract<Part, { type: "text-delta" }>;

/**
 * Log probabilities repeat the text if they arrive after it or contain alternatives: they are dropped if they
 * contain a value.
 */
async function withoutSpelling(part: TextDelta, rules: AnswerRules): Promise<JudgedPart> {
  const { logprobs = [], ...rest } = part;
  const said = logprobs.map(({ token }) => token).join("");
  const kept = part.text === "" && spells(logprobs, said) && (await rules.judge(said)).length === 0;
  return { part: kept ? part : rest, found: [], stuck: false };
}

/** A provider's failure with findings in its message replaced. */
export async function judgeFailure(
  failure: Failure,
  rules: AnswerRules,
): Promise<{ failure: Failure; findings: Finding[] }> {
  const findings = await rules.judge(failure.message);
  const inLog = failure.operator ? await rules.judge(failure.operator) : [];
  if (findings.length + inLog.length === 0 || rules.mode === "alert") return { failure, findings };
  const message = replaced(failure.message, findings, rules);
  const operator = failure.operator && replaced(failure.operator, inLog, rules);
  return {
    failure: new Failure(failure.code, message, { ...failure, cause: failure.cause, operator }),
    findings,
  };
}

function replaced(text: string, findings: readonly Finding[], { placeholders }: AnswerRules): string {
  return replaceSpans(
    text,
    findings.map(({ start, end, entityType, category }) => ({
      start,
      end,
      by: placeholders.of(entityType, category, text.slice(start, end)),
    })),
  );
}
