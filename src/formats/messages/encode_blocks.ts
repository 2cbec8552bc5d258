/**
 * Blocks of an answer to a caller, as the whole message holds them and as a stream opens them.
 *
 * A proof of this API's own goes out as it came. Any other goes out sealed, where clients of this format keep such things:
 * as the signature of thinking that has text, else as redacted thinking; that of a tool call right before the call, that of
 * a text right after it.
 */
import type { Loose } from "../../exchange/json.ts";
import type { Part, SearchHit } from "../../exchange/part.ts";
import { type Extra, extraOf, type Prompt } from "../../exchange/prompt.ts";
import type { Proof, Seal } from "../../exchange/proof.ts";

/** Clients' types want to hear of every block whether it cites, and of every call who made it: here, the model itself. */
const DIRECT = { type: "direct" };

const CALLED: ReadonlySet<unknown> = new Set([
  "server_tool_use",
  "web_search_tool_result",
  "web_fetch_tool_result",
]);

/** A block of this format's own, as it came. */
export function wholeBlock(value: Loose): Loose {
  return CALLED.has(value.type) ? { caller: DIRECT, ...value } : value;
}

/**
 * A text without citations has an empty list of them, as the blocks of a stream begin: clients' types want the field, and
 * `@ai-sdk/anthropic` up to 3 refuses a whole answer in which it is null.
 */
export function textBlock(text: string, extra?: Extra): Loose {
  return { type: "text", text, citations: [], ...extraOf(extra, "messages") };
}

/** Clients' types want a signature on every thinking block; "" stands for none. */
export function thinkingBlock(text: string, signature: string, extra?: Extra): Loose {
  return { type: "thinking", thinking: text, signature, ...extraOf(extra, "messages") };
}

/** A proof without text: hidden thinking where it is a signature of this API's own, else redacted thinking. */
export function proofBlock(proof: Proof, seal: Seal, extra?: Extra): Loose {
  return proof.api === "messages" && proof.kind === "signature"
    ? thinkingBlock("", proof.data, extra)
    : { type: "redacted_thinking", data: carried(proof, seal), ...extraOf(extra, "messages") };
}

/** Whether the client is Claude Code, which takes the last block of an answer for all of it. */
export function takesLastBlock({ headers }: Prompt): boolean {
  return headers?.["anthropic-beta"]?.includes("claude-code-") === true;
}

/** Whether a proof behind a text may come back before it; reasoning in another place is refused by other APIs. */
export function comesBackAnywhere({ api, call }: Proof): boolean {
  return (api === "gemini" || api === "chat_completions") && call === undefined;
}

/** The data of a proof of this format, else the proof under a seal. */
export function carried(proof: Proof, seal: Seal): string {
  return proof.api === "messages" ? proof.data : seal(proof);
}

/** A `tool_use` block. */
export function callBlock(call: { id: string; name: string; extra?: Extra }, input: Loose): Loose {
  const { id, name } = call;
  return { type: "tool_use", id, name, input, caller: DIRECT, ...extraOf(call.extra, "messages") };
}

/** A `server_tool_use` block of a search that the gateway ran. */
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

/** The block with the hits of a search, or with its failure. */
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

/** Server tools' ids have a prefix of their own, by which clients may tell them from calls that they must answer. */
function searchId(id: string): string {
  return id.startsWith("srvtoolu_") ? id : `srvtoolu_${id.replace(/[^a-zA-Z0-9_]/g, "_")}`;
}

/** Places of the format's that hold what data-loss prevention found. */
export function dlpDetails(dlp: { findings: Loose[]; count: number } | undefined): Loose {
  return dlp ? { details: { dlp: dlp.findings, findings_count: dlp.count } } : {};
}

/** The id of a message, made of the generation's. */
export function messageId(id: string): string {
  return `msg_${id.replace(/^gen_/, "")}`;
}

/** Argument text of a freeform tool, which this format has not, as an input. */
export function freeformInput(text: string): Loose {
  return { input: text };
}

/** A block as it starts, and what one delta brings behind it but for the input, which has deltas of its own. */
export function withoutLate(block: Loose, late: readonly string[]): { start: Loose; brought: Loose } {
  const start = { ...block };
  const brought: Loose = {};
  for (const name of late) {
    start[name] = name === "input" ? {} : null;
    if (name !== "input") brought[name] = block[name];
  }
  return { start, brought };
}

/** Parts behind which nothing of their block comes. */
export const ENDS: ReadonlySet<Part["type"]> = new Set<Part["type"]>([
  "text-end",
  "reasoning-end",
  "call-end",
  "media",
  "search-start",
  "opaque",
]);
