/**
 * Texts of an answer that come whole: names of tools, queries and hits of searches, citations, what a provider adds for
 * its own format. Each is judged by itself; what cannot be replaced is left out, or ends the answer.
 */
import { isObject } from "../exchange/json.ts";
import type { Part } from "../exchange/part.ts";
import type { AnswerRules } from "./answer_rules.ts";
import { replaceSpans } from "./json_text.ts";
import type { Finding } from "./scan.ts";

export interface FoundInField {
  /** Behind `answer`. */
  field: string;
  finding: Finding;
}

export interface JudgedPart {
  /** What takes its place; null: nothing. */
  part: Part | null;
  found: FoundInField[];
  /** Something was found that can neither be replaced nor left out. */
  stuck: boolean;
}

/** Fields of a wire's own object that name or prove something and say nothing. */
const NO_TEXT =
  /^(?:.*_?id|object|type|role|status|model|created(?:_at)?|system_fingerprint|service_tier|signature|thoughtSignature|encrypted_\w+|data|format)$/;
const LONGEST_EXTRA = 262_144;

/** Null: it holds no text that comes whole. */
export function judgePart(part: Part, rules: AnswerRules): Promise<JudgedPart> | null {
  switch (part.type) {
    case "text-delta":
    case "reasoning-delta":
    case "call-delta":
    case "call-end":
    case "usage":
      return null;
    case "text-end":
    case "reasoning-end":
      return part.proof?.kind === "details" ? judge(part, rules) : null;
    case "start":
    case "text-start":
    case "reasoning-start":
      return part.extra ? judge(part, rules) : null;
    case "finish":
      return part.extra || part.explanation ? judge(part, rules) : null;
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
    return replaceSpans(
      text,
      findings.map(({ start, end, entityType, category }) => ({
        start,
        end,
        by: rules.placeholders.of(entityType, category, text.slice(start, end)),
      })),
    );
  };
  const holds = async (field: string, value: unknown): Promise<boolean> => {
    const text = stringsOf(value).join("\n");
    return text !== "" && await clean(field, text) !== text;
  };
  const fixed = async (field: string, text: string | undefined) => {
    if (await clean(field, text) !== text) stuck = true;
  };
  switch (out.type) {
    case "call-start":
      await fixed("tool.name", out.name);
      // What is glued to a name is looked at by itself as well.
      if (!stuck) await fixed("tool.name", out.name.replace(/[_-]+/g, " "));
      await fixed("tool.namespace", out.namespace);
      break;
    case "search-start":
      out.query = await clean("search.query", out.query) ?? "";
      break;
    case "search-end": {
      const hits = [];
      for (const hit of out.hits) {
        const before = found.length;
        const url = await clean("search.hits.url", hit.url) ?? "";
        const title = await clean("search.hits.title", hit.title) ?? "";
        const drop = await holds("search.hits", hit.extra) || found.length > before;
        hits.push(drop ? { url, title } : hit);
      }
      out.hits = hits;
      break;
    }
    case "citation": {
      const { citation } = out;
      const before = found.length;
      const url = await clean("citation.url", citation.url);
      const title = await clean("citation.title", citation.title);
      const quote = await clean("citation.quote", citation.quote);
      if (await holds("citation", citation.extra) || found.length > before) {
        out.citation = { ...citation, url, title, quote, extra: undefined };
      }
      break;
    }
    case "media":
      await fixed("media.transcript", out.transcript);
      break;
    case "opaque":
      if (await holds("opaque", out.value)) left = null;
      break;
    case "text-end":
    case "reasoning-end":
      if (out.proof && await holds("reasoning", parsed(out.proof.data))) out.proof = undefined;
      break;
    case "finish":
      out.explanation = await clean("explanation", out.explanation);
      break;
  }
  if ("extra" in out && out.extra && await holds("extra", out.extra)) out.extra = undefined;
  return { part: found.length === 0 ? part : left, found, stuck };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The strings of a value but for names and proofs. */
function stringsOf(value: unknown, out: string[] = [], room = { left: LONGEST_EXTRA }): string[] {
  if (typeof value === "string") {
    if (value.length >= 4 && room.left > 0) out.push(value);
    room.left -= value.length;
  } else if (Array.isArray(value)) { for (const item of value) stringsOf(item, out, room); }
  else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) if (!NO_TEXT.test(key)) stringsOf(item, out, room);
  }
  return out;
}
