/**
 * Turns to `contents`.
 *
 * Gemini wants user and model to alternate, the results of a model's calls all in the user's next content, one for each
 * call, and each signature on the part that it came on. A system turn in mid-conversation has no form there: it becomes
 * user text in its place, between `<system>` tags.
 */
import { argumentsObject } from "../../exchange/json.ts";
import type { CallContent, Content, FormatName, ResultContent, Turn } from "../../exchange/prompt.ts";
import type { Proof } from "../../exchange/proof.ts";
import { encodeAttachment, isAttachment } from "./encode_media.ts";
import { encodeResults } from "./encode_results.ts";
import type { WireContent, WirePart } from "./wire.ts";

/** Google's documented value for a call that was not made by Gemini 3: the check of its signature is skipped. */
const NO_SIGNATURE = "skip_thought_signature_validator";

interface EncodeTurns {
  /** The caller's format. */
  format: FormatName;
  /** Of the model's name. */
  version: number | null;
}

export function encodeTurns(turns: readonly Turn[], options: EncodeTurns): WireContent[] {
  const contents: WireContent[] = [];
  const results = new Results(turns);
  let i = 0;
  while (i < turns.length) {
    const turn = turns[i];
    if (turn.role !== "assistant") {
      const open = turn.content.filter((c) => c.type !== "result" || !results.answered(c));
      append(contents, "user", turn.role === "system" ? systemParts(open) : userParts(open));
      i++;
      continue;
    }
    let end = i;
    while (end < turns.length && turns[end].role === "assistant") end++;
    const content = turns.slice(i, end).flatMap((t) => t.content);
    append(contents, "model", modelParts(content, options.format));
    const calls = content.filter((c) => c.type === "call");
    append(contents, "user", encodeResults(calls, calls.map((c) => results.take(c, end)), options.version));
    i = end;
  }
  if (contents[0]?.role === "model" && contents[0].parts.some((p) => p.functionCall)) {
    // A call must follow a user's turn.
    contents.unshift({ role: "user", parts: [{ text: "(The conversation begins earlier.)" }] });
  }
  if ((options.version ?? 0) >= 3) fillSignatures(contents);
  return contents;
}

/** Parts of system text; used for `systemInstruction` as well. */
export function textParts(content: readonly Content[]): WirePart[] {
  return content.flatMap((c) =>
    (c.type === "text" || c.type === "refusal") && c.text !== "" ? [{ text: c.text }] : []
  );
}

function append(contents: WireContent[], role: WireContent["role"], parts: readonly WirePart[]): void {
  if (parts.length === 0) return;
  const last = contents.at(-1);
  if (last?.role === role) { for (const part of parts) last.parts.push(part); }
  else contents.push({ role, parts: [...parts] });
}

function systemParts(content: readonly Content[]): WirePart[] {
  return userParts(content).map((p) => p.text === undefined ? p : { text: `<system>\n${p.text}\n</system>` });
}

function userParts(content: readonly Content[]): WirePart[] {
  return content.flatMap((c): WirePart[] => {
    if (isAttachment(c)) return encodeAttachment(c);
    switch (c.type) {
      case "text":
      case "refusal":
        return c.text === "" ? [] : [{ text: c.text }];
      case "search-result":
        return [{ text: [c.title, c.url, "", ...c.texts].join("\n") }];
      case "result":
        // Its call is not in the history, and Gemini refuses a response without one.
        return [{ text: `Result of the tool call ${c.callId}:` }, ...userParts(c.content)];
      default:
        return [];
    }
  });
}

function modelParts(content: readonly Content[], format: FormatName): WirePart[] {
  const parts: WirePart[] = [];
  // A chat message holds its reasoning apart from the text, so nothing tells that the text came first; it did.
  const textLater = format === "chat_completions";
  let waiting: Proof[] = [];
  const release = () => {
    for (const proof of waiting) parts.push({ text: "", thoughtSignature: proof.data });
    waiting = [];
  };
  for (const c of content) {
    if (c.type === "reasoning") {
      const proof = c.proof?.api === "gemini" ? c.proof : undefined;
      if (!proof) continue;
      if (proof.on === "thought" && c.sections.length > 0) {
        parts.push({ text: c.sections.join("\n\n"), thought: true, thoughtSignature: proof.data });
      } else if (textLater) waiting.push(proof);
      else if (proof.on !== "text" && proof.on !== "media") {
        parts.push({ text: "", thoughtSignature: proof.data });
      } else if (!sign(parts.at(-1), proof)) waiting.push(proof);
    } else if (c.type === "call") {
      release();
      parts.push(encodeCall(c));
    } else {
      for (const part of userParts([c])) {
        parts.push(part);
        const i = waiting.findIndex((proof) => sign(part, proof));
        if (i >= 0) waiting.splice(i, 1);
      }
    }
  }
  release();
  return parts;
}

/** Puts a signature on a part of the kind it came on; false when this is none, or signed already. */
function sign(part: WirePart | undefined, proof: Proof): boolean {
  const fits = proof.on === "media" ? part?.inlineData : proof.on === "text" && part?.text;
  if (!part || !fits || part.thoughtSignature) return false;
  part.thoughtSignature = proof.data;
  return true;
}

function encodeCall(c: CallContent): WirePart {
  const part: WirePart = { functionCall: { id: c.id, name: c.name, args: argumentsObject(c.arguments) } };
  if (c.proof?.api === "gemini") part.thoughtSignature = c.proof.data;
  return part;
}

/**
 * Gemini 3 and later refuse a history whose first call of a step is not signed, as far back as the last content that is
 * the user's own and no tool's. Calls that another model made, or whose signature a client lost, have none.
 */
function fillSignatures(contents: readonly WireContent[]): void {
  for (let i = contents.length - 1; i >= 0; i--) {
    const { role, parts } = contents[i];
    if (role === "user" && !parts.some((p) => p.functionResponse)) return;
    const call = role === "model" ? parts.find((p) => p.functionCall) : undefined;
    if (call) call.thoughtSignature ??= NO_SIGNATURE;
  }
}

/** Finds the result of each call, which may stand anywhere behind it, and knows which are taken. */
class Results {
  readonly #byCall = new Map<string, { turn: number; result: ResultContent }[]>();
  readonly #taken = new Set<ResultContent>();

  constructor(turns: readonly Turn[]) {
    turns.forEach((t, turn) => {
      for (const result of t.content) {
        if (result.type !== "result") continue;
        const list = this.#byCall.get(result.callId);
        if (list) list.push({ turn, result });
        else this.#byCall.set(result.callId, [{ turn, result }]);
      }
    });
  }

  /** The first result of this call from turn `from` on that no other call of this id had. */
  take(call: CallContent, from: number): ResultContent | undefined {
    const list = this.#byCall.get(call.id) ?? [];
    const at = list.findIndex((entry) => entry.turn >= from);
    if (at < 0) return undefined;
    const [{ result }] = list.splice(at, 1);
    this.#taken.add(result);
    return result;
  }

  answered(result: ResultContent): boolean {
    return this.#taken.has(result);
  }
}
