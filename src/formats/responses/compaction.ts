/**
 * Compaction: reduces a conversation to a few items from which a client continues, `POST
 * /v1/responses/compact` of Open Responses 2026-04-24.
 *
 * A compaction by an API of this format is returned unchanged. For other models the gateway requests a
 * summary from the model and seals it for the account (summaries.ts opens it in later requests).
 */
import { Failure } from "../../exchange/failure.ts";
import { array, isObject, type Loose, object, string } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import type { Seal } from "../../exchange/proof.ts";
import { brokenAnswer } from "../failures/decode_failure.ts";
import type { ProviderFormat } from "../format.ts";
import { decodeAnswer } from "./decode_answer.ts";
import { encodeRequest } from "./encode_request.ts";
import { suffixOf } from "./encode_response.ts";
import { COMPACTIONS } from "./summaries.ts";

/** The instruction after the conversation. */
const TASK = "Your context is about to be cut. Write a summary that lets another model continue this work " +
  "without the messages above. State: what the user wants, with every requirement, constraint and preference in their own " +
  "words; what has been done and decided, and why; names, paths, commands, values and results that are still needed, " +
  "exactly as they are; what failed; what is unfinished, and the next steps. Leave out what no longer matters. " +
  "Call no tools, and write only the summary.";
/** Fields of a request that are kept. Fields for stored state are kept too, so that they are refused as usual. */
const KEPT = new Set([
  "model",
  "instructions",
  "tools",
  "reasoning",
  "prompt_cache_key",
  "prompt_cache_retention",
  "service_tier",
  "metadata",
  "user",
  "safety_identifier",
  "plugins",
  "client_metadata",
  "max_output_tokens",
  "store",
  "previous_response_id",
  "conversation",
  "background",
]);
/** Maximum total characters of user messages kept beside the summary, newest first: about 20,000 tokens. */
const MOST_KEPT_CHARS = 80_000;

/** A compaction request as a request for a summary. Anything but an object is left for the format to reject. */
export function summaryRequest(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { input } = body;
  const items = typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
  const asked: Loose = Object.fromEntries(Object.entries(body).filter(([name]) => KEPT.has(name)));
  asked.input = Array.isArray(items) && items.length > 0
    ? [...items, { type: "message", role: "user", content: TASK }]
    : items;
  // Rejected by the format.
  if (!Array.isArray(body.tools)) return asked;
  // Searches are run by the gateway, and are not needed for a summary.
  const tools = body.tools.filter((tool) => !String(object(tool).type).startsWith("web_search"));
  if (tools.length > 0) {
    asked.tools = tools;
    asked.tool_choice = "none";
  } else delete asked.tools;
  return asked;
}

/** The conversation of a prompt from {@link summaryRequest}. */
function conversationOnly(prompt: Prompt): Prompt {
  return { ...prompt, turns: prompt.turns.slice(0, -1) };
}

/**
 * The compacted conversation. A compaction by the provider is returned unchanged.
 * @param answer the response to {@link summaryRequest}
 * @param kept messages of the request
 */
export function compactedOf(answer: Loose, kept: readonly Loose[], seal: Seal): Loose {
  const output = array(answer.output).map(object);
  const given = output.some((item) => COMPACTIONS.has(item.type));
  return {
    id: answer.id,
    object: "response.compaction",
    created_at: answer.created_at,
    output: given ? output : [...kept, summaryItem(answer, output, seal)],
    usage: answer.usage,
    ...(answer.details !== undefined && { details: answer.details }),
  };
}

function summaryItem(answer: Loose, output: readonly Loose[], seal: Seal): Loose {
  if (answer.status === "incomplete") throw cutSummary(answer);
  const text = output.filter((item) => item.type === "message").flatMap((item) => array(item.content)).map((
    part,
  ) => string(object(part).text) ?? "").join("").trim();
  if (text === "") {
    throw new Failure("provider_unavailable", "Cannot compact the conversation: the model wrote no summary.");
  }
  return {
    id: `cmp_${suffixOf(String(answer.id))}`,
    type: "compaction",
    encrypted_content: seal({ api: "responses", kind: "summary", data: text }),
  };
}

/** Otherwise the client would continue from an incomplete summary. */
function cutSummary({ incomplete_details, max_output_tokens }: Loose): Failure {
  if (object(incomplete_details).reason === "content_filter") {
    return new Failure(
      "provider_forbidden",
      "Cannot compact the conversation: a content filter ended the summary.",
    );
  }
  const cap = typeof max_output_tokens === "number" ? ` of ${max_output_tokens} tokens` : "";
  return new Failure(
    "provider_bad_request",
    `Cannot compact the conversation: the summary was cut at the limit${cap} of output. Expected a larger max_output_tokens, ` +
      "or a budget that covers more.",
    { param: "max_output_tokens" },
  );
}

/** Messages of user and system, unchanged: summaries lose the wording of requests. */
export function keptMessages(input: unknown): Loose[] {
  const items = typeof input === "string" ? [{ role: "user", content: input }] : array(input).map(object);
  let left = MOST_KEPT_CHARS;
  const kept: Loose[] = [];
  for (const [i, item] of [...items.entries()].reverse()) {
    const { type = "message", role, content } = item;
    if (type !== "message" || (role !== "user" && role !== "system" && role !== "developer")) continue;
    const texts = typeof content === "string"
      ? [content]
      : array(content).map((part) => string(object(part).text)).filter((text) => text !== undefined);
    const chars = texts.reduce((sum, text) => sum + text.length, 0);
    if (chars === 0) continue;
    left -= chars;
    if (left < 0) break;
    kept.push({
      id: string(item.id) ?? `msg_kept_${i}`,
      type: "message",
      status: "completed",
      role,
      content: texts.map((text) => ({ type: "input_text", text })),
    });
  }
  return kept.reverse();
}

/** Fields of the API's own compaction request. */
const OF_THE_API = ["model", "input", "instructions", "prompt_cache_key"];

/** The API's own compaction, for providers. Its items are passed on unread. */
export const compaction: ProviderFormat = {
  name: "responses",
  encodeRequest(prompt, context) {
    const { body, headers, dropped } = encodeRequest(conversationOnly(prompt), context);
    const fields = Object.fromEntries(
      OF_THE_API.filter((name) => body[name] !== undefined).map((name) => [name, body[name]]),
    );
    return { body: fields, headers, dropped };
  },
  decodeStream() {
    throw brokenAnswer("a compaction is no stream");
  },
  decodeAnswer(body) {
    if (!isObject(body) || !Array.isArray(body.output)) return decodeAnswer(body);
    const items = body.output.map(object);
    if (!items.some((item) => COMPACTIONS.has(item.type))) throw brokenAnswer("it holds no compaction");
    const parts = decodeAnswer({ ...body, status: "completed", output: [] });
    const opaque = items.map((value, block): Part => ({
      type: "opaque",
      block,
      choice: 0,
      format: "responses",
      value,
    }));
    return [...parts.slice(0, 1), ...opaque, ...parts.slice(1)];
  },
};
