/**
 * Blocks of an answer for a caller, for complete messages and for block starts of streams.
 *
 * A proof of this API is sent unchanged. Any other is sealed, in the field where clients of this format keep
 * such data: as the signature of thinking with text, otherwise as redacted thinking; that of a tool call
 * directly before the call, that of a text directly after it.
 */
import { type Loose, string } from "../../exchange/json.ts";
import type { SearchHit } from "../../exchange/part.ts";
import { type Extra, extraOf, type Prompt } from "../../exchange/prompt.ts";
import type { Proof, Seal } from "../../exchange/proof.ts";

/** Clients' types require `citations` on every text block, and `caller` on every call: here, the model itself. */
const DIRECT = { type: "direct" };

const CALLED: ReadonlySet<unknown> = new Set([
  "server_tool_use",
  "web_search_tool_result",
  "web_fetch_tool_result",
]);

/** A block of this format, unchanged. */
export function wholeBlock(value: Loose): Loose {
  return CALLED.has(value.type) ? { caller: DIRECT, ...value } : value;
}

/**
 * A text without citations has an empty array, as at the start of a streamed block: clients' types require
 * the field, and `@ai-sdk/anthropic` up to version 3 rejects null.
 */
export function textBlock(text: string, extra?: Extra): Loose {
  return { type: "text", text, citations: [], ...extraOf(extra, "messages") };
}

/** Clients' types require a signature on every thinking block; "" means none. */
export function thinkingBlock(text: string, signature: string, extra?: Extra): Loose {
  return { type: "thinking", thinking: text, signature, ...extraOf(extra, "messages") };
}

/** A proof without text: hidden thinking if it is a signature of this API, else redacted thinking. */
export function proofBlock(proof: Proof, seal: Seal, extra?: Extra): Loose {
  return proof.api === "messages" && proof.kind === "signature"
    ? thinkingBlock("", proof.data, extra)
    : { type: "redacted_thinking", data: carried(proof, seal), ...extraOf(extra, "messages") };
}

/** Whether the client is Claude Code, which takes the last block of an answer for the whole answer. */
export function takesLastBlock({ headers }: Prompt): boolean {
  return headers?.["anthropic-beta"]?.includes("claude-code-") === true;
}

/** Whether a proof after a text may be returned before it; other APIs reject reasoning at another position. */
export function comesBackAnywhere({ api, kind, call }: Proof): boolean {
  return (api === "gemini" || api === "chat_completions") && call === undefined && kind !== "part";
}

/** The data of a proof of this format, or the sealed proof. */
export function carried(proof: Proof, seal: Seal): string {
  return proof.api === "messages" ? proof.data : seal(proof);
}

/** A `tool_use` block. */
export function callBlock(call: { id: string; name: string; extra?: Extra }, input: Loose): Loose {
  const { id, name } = call;
  return { type: "tool_use", id, name, input, caller: DIRECT, ...extraOf(call.extra, "messages") };
}

/** A `server_tool_use` block for a search run by the gateway. */
export function searchBlock(search: { id: string; extra?: Extra }, input: Loose): Loose {
  return {
    type: "server_tool_use",
    id: searchId(search.id),
    name: "web_search",
    input,
    caller: DIRECT,
    ...extraOf(search.extra, "messages"),
  };
}

/** The start of a block whose input is streamed. */
export function liveBlock(value: Loose): Loose {
  const block = wholeBlock({ ...value, input: {} });
  const isSearch = value.type === "server_tool_use" && value.name === "web_search";
  return isSearch ? { ...block, id: searchId(string(value.id) ?? "") } : block;
}

/** The block with results of a search, or its error. */
export function searchResultBlock(
  id: string,
  hits: readonly SearchHit[],
  failed: boolean,
  extra?: Extra,
): Loose {
  const content = failed
    ? { type: "web_search_tool_result_error", error_code: "unavailable" }
    : hits.map(encodeHit);
  return {
    type: "web_search_tool_result",
    tool_use_id: searchId(id),
    content,
    caller: DIRECT,
    ...extraOf(extra, "messages"),
  };
}

function encodeHit(hit: SearchHit): Loose {
  const own = extraOf(hit.extra, "messages");
  if (own) return own;
  return { type: "web_search_result", url: hit.url, title: hit.title, encrypted_content: "", page_age: null };
}

/** Ids of server tools have a prefix, by which clients distinguish them from calls that they must answer. */
function searchId(id: string): string {
  return id.startsWith("srvtoolu_") ? id : `srvtoolu_${id.replace(/[^a-zA-Z0-9_]/g, "_")}`;
}

/** Fields with DLP findings. */
export function dlpDetails(dlp: { findings: Loose[]; count: number } | undefined): Loose {
  return dlp ? { details: { dlp: dlp.findings, findings_count: dlp.count } } : {};
}

/** The id of a message, derived from the generation's. */
export function messageId(id: string): string {
  return `msg_${id.replace(/^gen_/, "")}`;
}

/** The input for arguments of a freeform tool, which this format does not support. */
export function freeformInput(text: string): Loose {
  return { input: text };
}

/** Splits a block into its start and one delta with late fields; input has its own deltas. */
export function withoutLate(block: Loose, late: readonly string[]): { start: Loose; brought: Loose } {
  const start = { ...block };
  const brought: Loose = {};
  for (const name of late) {
    start[name] = name === "input" ? {} : null;
    if (name !== "input") brought[name] = block[name];
  }
  return { start, brought };
}
