/**
 * Compaction: a conversation as the few items that a client goes on from, `POST /v1/responses/compact` of Open Responses
 * 2026-04-24.
 *
 * What an API of this format compacts itself comes back as it is. For other models the gateway asks the model for a summary
 * and seals it for the account (summaries.ts opens it in a later request).
 */
import { Failure } from "../../exchange/failure.ts";
import { array, isObject, type Loose, object, string } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import type { Seal } from "../../exchange/proof.ts";
import { brokenAnswer } from "../decode_failure.ts";
import type { ProviderFormat } from "../format.ts";
import { decodeAnswer } from "./decode_answer.ts";
import { encodeRequest } from "./encode_request.ts";
import { suffixOf } from "./encode_response.ts";
import { COMPACTIONS } from "./summaries.ts";

/** What is asked of a model behind the conversation. */
const TASK = "Your context is about to be cut. Write a summary that lets another model continue this work " +
  "without the messages above. State: what the user wants, with every requirement, constraint and preference in their own " +
  "words; what has been done and decided, and why; names, paths, commands, values and results that are still needed, " +
  "exactly as they are; what failed; what is unfinished, and the next steps. Leave out what no longer matters. " +
  "Call no tools, and write only the summary.";
/** Fields of a request that its compaction keeps. Of the others those that ask for state, which are refused as ever. */
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
/** Characters of messages of the user that stay beside the summary, the newest: about 20,000 tokens. */
const MOST_KEPT_CHARS = 80_000;

/** The request of a compaction as one that asks the model for a summary. What is no object is left for the format to refuse. */
export function summaryRequest(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { input } = body;
  const items = typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
  const asked: Loose = Object.fromEntries(Object.entries(body).filter(([name]) => KEPT.has(name)));
  asked.input = Array.isArray(items) && items.length > 0
    ? [...items, { type: "message", role: "user", content: TASK }]
    : items;
  // What is no list is refused as in any request of the format.
  if (!Array.isArray(body.tools)) return asked;
  // A search is run by the gateway, and a summary needs none.
  const tools = body.tools.filter((tool) => !String(object(tool).type).startsWith("web_search"));
  if (tools.length > 0) {
    asked.tools = tools;
    asked.tool_choice = "none";
  } else delete asked.tools;
  return asked;
}

/** The conversation of a prompt that was made by {@link summaryRequest}. */
function conversationOnly(prompt: Prompt): Prompt {
  return { ...prompt, turns: prompt.turns.slice(0, -1) };
}

/**
 * The compacted conversation. What the provider compacted is taken as it is.
 * @param answer the response to {@link summaryRequest}
 * @param kept of the request's messages
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

/** The client would go on from it as if it were whole, and lose what the rest would have said. */
function cutSummary({ incomplete_details, max_output_tokens }: Loose): Failure {
  if (object(incomplete_details).reason === "content_filter") {
    return new Failure(
      "provider_forbidden",
      "Cannot compact the conversation: a filter of content ended the summary.",
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

/** What the user and the system said, in full: summaries lose the wording of what was asked for. */
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

/** Fields that the API's own compaction takes. */
const OF_THE_API = ["model", "input", "instructions", "prompt_cache_key"];

/** The provider's side of the API's own compaction. Its items are passed on unread. */
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
