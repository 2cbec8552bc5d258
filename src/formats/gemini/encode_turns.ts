/**
 * Encodes turns as `contents`.
 *
 * Gemini requires that user and model alternate, that the results of a model's calls are all in the user's
 * next content, one for each call, and that each signature is on its original part. A system turn within the
 * conversation is not supported: it becomes user text at its position, between `<system>` tags.
 */
import { distinctCalls } from "../../exchange/call_ids.ts";
import { argumentsObject, isObject, parse } from "../../exchange/json.ts";
import {
  type CallContent,
  type Content,
  type FormatName,
  isAttachment,
  type Turn,
} from "../../exchange/prompt.ts";
import type { Proof } from "../../exchange/proof.ts";
import { ResultQueues } from "../../exchange/result_queues.ts";
import { encodeAttachment } from "./encode_media.ts";
import { encodeResults } from "./encode_results.ts";
import type { WireContent, WirePart } from "./wire.ts";

/** Google's documented value for a call that was not made by Gemini 3: the signature is not verified. */
const NO_SIGNATURE = "skip_thought_signature_validator";

interface EncodeTurns {
  /** The caller's format. */
  format: FormatName;
  /** Version in the model's name. */
  version: number | null;
  /** Calls without a signature get the value above. */
  signed: boolean;
}

export function encodeTurns(given: Turn[], options: EncodeTurns): WireContent[] {
  const contents: WireContent[] = [];
  const turns = distinctCalls(given, { legal: (id) => id, again: true });
  const results = new ResultQueues(turns);
  let i = 0;
  while (i < turns.length) {
    const turn = turns[i];
    if (turn.role !== "assistant") {
      const open = turn.content.filter((c) => c.type !== "result" || !results.taken(c));
      append(contents, "user", turn.role === "system" ? systemParts(open) : userParts(open));
      i++;
      continue;
    }
    let end = i;
    while (end < turns.length && turns[end].role === "assistant") end++;
    const content = turns.slice(i, end).flatMap((t) => t.content);
    append(contents, "model", modelParts(content, options.format));
    const calls = content.filter((c) => c.type === "call");
    append(
      contents,
      "user",
      encodeResults(calls, calls.map((c) => results.take(c.id, end)), options.version),
    );
    i = end;
  }
  if (contents[0]?.role === "model" && contents[0].parts.some((p) => p.functionCall)) {
    // A call must follow a user turn.
    contents.unshift({ role: "user", parts: [{ text: "(The conversation begins earlier.)" }] });
  }
  if (options.signed) fillSignatures(contents);
  return contents;
}

/** Parts of system text; also used for `systemInstruction`. */
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
        // Its call is not in the history, and Gemini rejects a response without one.
        return [
          { text: `${`Result of the tool call ${c.callId || c.name || ""}`.trim()}:` },
          ...userParts(c.content),
        ];
      default:
        return [];
    }
  });
}

function modelParts(content: readonly Content[], format: FormatName): WirePart[] {
  const parts: WirePart[] = [];
  // A chat message has its reasoning in a separate field, so the order is unknown; the text came first.
  const textLater = format === "chat_completions";
  const waiting = new WaitingProofs();
  const release = () => {
    for (const proof of waiting.release()) parts.push({ text: "", thoughtSignature: proof.data });
  };
  for (const [i, c] of content.entries()) {
    if (c.type === "reasoning") {
      const proof = c.proof?.api === "gemini" ? c.proof : undefined;
      if (!proof) continue;
      if (proof.kind === "part") {
        const part = parse(proof.data);
        if (isObject(part)) parts.push(part);
      } else if (proof.on === "thought" && c.sections.length > 0) {
        parts.push({ text: c.sections.join("\n\n"), thought: true, thoughtSignature: proof.data });
      } else if (textLater || (format === "messages" && precedes(content[i + 1], parts))) waiting.add(proof);
      else if (proof.on !== "text" && proof.on !== "media") {
        parts.push({ text: "", thoughtSignature: proof.data });
      } else if (!sign(parts.at(-1), proof)) waiting.add(proof);
    } else if (c.type === "call") {
      release();
      parts.push(encodeCall(c));
    } else {
      for (const part of userParts([c])) {
        parts.push(part);
        waiting.sign(part);
      }
    }
  }
  release();
  return parts;
}

/** Whether a proof precedes its text, as in requests of Claude Code, and no text before it could be meant. */
function precedes(next: Content | undefined, parts: readonly WirePart[]): boolean {
  return next?.type === "text" && !parts.at(-1)?.text;
}

/** Puts a signature on a part of the right kind; false: not such a part, or signed already. */
function sign(part: WirePart | undefined, proof: Proof): boolean {
  const fits = proof.on === "media" ? part?.inlineData : proof.on === "text" && part?.text;
  if (!part || !fits || part.thoughtSignature) return false;
  part.thoughtSignature = proof.data;
  return true;
}

/** Signatures whose part has not been encountered yet. Each kind of part takes its own in order. */
class WaitingProofs {
  #all: Proof[] = [];
  readonly #used = new Set<Proof>();
  readonly #next = { text: 0, media: 0 };

  add(proof: Proof): void {
    this.#all.push(proof);
  }

  /** Puts the first matching one on a part. */
  sign(part: WirePart): void {
    const kind = part.inlineData ? "media" : part.text ? "text" : undefined;
    if (kind === undefined || part.thoughtSignature) return;
    while (this.#next[kind] < this.#all.length) {
      const proof: Proof = this.#all[this.#next[kind]++];
      if (proof.on === kind && sign(part, proof)) {
        this.#used.add(proof);
        return;
      }
    }
  }

  /** Returns and removes those that no part took. */
  release(): Proof[] {
    const left = this.#all.filter((proof) => !this.#used.has(proof));
    this.#all = [];
    this.#used.clear();
    this.#next.text = this.#next.media = 0;
    return left;
  }
}

function encodeCall(c: CallContent): WirePart {
  const part: WirePart = { functionCall: { id: c.id, name: c.name, args: argumentsObject(c.arguments) } };
  if (c.proof?.api === "gemini") part.thoughtSignature = c.proof.data;
  return part;
}

/**
 * Gemini 3 and later reject a history whose first call of a step is not signed, back to the last content of
 * the user that is not a tool result. Calls by another model, or whose signature a client dropped, have none.
 */
function fillSignatures(contents: readonly WireContent[]): void {
  for (let i = contents.length - 1; i >= 0; i--) {
    const { role, parts } = contents[i];
    if (role === "user" && !parts.some((p) => p.functionResponse)) return;
    const call = role === "model" ? parts.find((p) => p.functionCall) : undefined;
    if (call) call.thoughtSignature ??= NO_SIGNATURE;
  }
}
