/**
 * Encodes turns as `messages` for a provider.
 *
 * A caller of this format gets its messages unchanged. For other formats the API's order is established:
 * system text first, one assistant message with all its calls, directly followed by the results in separate
 * messages, and content that results do not support here (images) in a user message after the last of them.
 */
import { distinctCalls } from "../../exchange/call_ids.ts";
import { encodeCacheMark } from "../cache_mark.ts";
import type { Loose } from "../../exchange/json.ts";
import {
  type CallContent,
  type Content,
  extraOf,
  joinTurns,
  plainText,
  type ReasoningContent,
  type ResultContent,
  splitSystem,
  type Turn,
} from "../../exchange/prompt.ts";
import { ResultQueues } from "../../exchange/result_queues.ts";
import { failedText } from "../failed_text.ts";
import { encodePart } from "./encode_content.ts";
import { MADE } from "./decode_turns.ts";
import { encodeReasoning } from "./encode_reasoning.ts";
import { readReplay } from "./reasoning.ts";

interface EncodeTurns {
  /** The caller uses this format. */
  own: boolean;
  /** Calls and results are sent in the older `function` form. */
  legacy: boolean;
  /** Reasoning of other APIs is sent in `reasoning_content`. */
  reasons: boolean;
}

export function encodeTurns(turns: Turn[], options: EncodeTurns): Loose[] {
  return options.own
    ? encodeOwn(distinctCalls(turns, { legal: (id) => id, again: true }), options)
    : encodeForeign(distinctCalls(turns, { legal: callId, longest: LONGEST_CALL_ID, again: true }), options);
}

function encodeOwn(turns: readonly Turn[], options: EncodeTurns): Loose[] {
  const messages: Loose[] = [];
  for (const turn of turns) {
    const fields = extraOf(turn.extra, "chat_completions");
    if (turn.role === "assistant") messages.push({ ...fields, ...assistant(turn, options) });
    else {
      for (const c of turn.content) {
        if (c.type !== "result") continue;
        const name = turn.name !== undefined && { name: turn.name };
        messages.push({ ...fields, ...name, ...resultMessage(c, options) });
      }
      const spoken = turn.content.filter((c) => c.type !== "result");
      if (spoken.length === 0 && turn.content.length > 0) continue;
      messages.push({
        ...fields,
        role: turn.role === "system" && turn.developer ? "developer" : turn.role,
        content: ownContent(spoken, turn),
        ...(turn.name !== undefined && { name: turn.name }),
      });
    }
  }
  return messages;
}

/** A string if it was one, else parts. A breakpoint of the whole message is on the message. */
function ownContent(content: readonly Content[], turn: Turn): string | Loose[] {
  if (turn.plain && content.every((c) => c.type === "text")) return plainText(content);
  const whole = extraOf(turn.extra, "chat_completions")?.cache_control !== undefined;
  const parts: Loose[] = [];
  content.forEach((c, i) => {
    const part = encodePart(c, true);
    if (!part) return;
    if (whole && i === content.length - 1) delete part.cache_control;
    parts.push(part);
  });
  return parts;
}

function assistant(turn: Turn, options: EncodeTurns): Loose {
  const { own } = options;
  const calls = turn.content.filter((c) => c.type === "call");
  const reasoning: ReasoningContent[] = turn.content.filter((c) => c.type === "reasoning");
  const { fields, parts } = encodeReasoning(reasoning, calls.length > 0 && options.reasons);
  const made = turn.content.flatMap((c) => madeOf(c) ?? []);
  const spoken = turn.content.filter((c) =>
    c.type !== "call" && c.type !== "reasoning" && madeOf(c) === undefined
  );
  const message: Loose = { role: "assistant" };
  const refusals = spoken.filter((c) => c.type === "refusal");
  const texts = spoken.filter((c) => c.type === "text");
  if (parts.length > 0) message.content = [...parts, ...ownContent(spoken, { ...turn, plain: false })];
  else if (own && !turn.plain && spoken.some((c) => c.type !== "refusal")) {
    message.content = ownContent(spoken, turn);
  } else {
    const text = plainText(own ? texts : spoken);
    message.content = text === "" && (calls.length > 0 || refusals.length > 0) ? null : text;
    if (own && refusals.length > 0) message.refusal = plainText(refusals);
  }
  if (own && made.length > 0) message.images = made;
  if (own && turn.name !== undefined) message.name = turn.name;
  for (const name of Object.keys(fields)) message[name] = fields[name];
  if (calls.length > 0) {
    const older = options.legacy && calls.length === 1 &&
      extraOf(calls[0].extra, "chat_completions")?.function === true;
    if (older) message.function_call = { name: calls[0].name, arguments: calls[0].arguments };
    else message.tool_calls = calls.map((call) => encodeCall(call, own));
  }
  return message;
}

/** Media that were in `images`. */
function madeOf(c: Content): unknown {
  return c.type === "image" || c.type === "video" ? extraOf(c.extra, "chat_completions")?.[MADE] : undefined;
}

function encodeCall(call: CallContent, own: boolean): Loose {
  const custom = call.kind === "custom";
  const extra = own ? extraOf(call.extra, "chat_completions") : undefined;
  const { function: _legacy, ...fields } = extra ?? {};
  return {
    ...fields,
    id: call.id,
    type: custom ? "custom" : "function",
    ...(custom
      ? { custom: { name: call.name, input: call.arguments } }
      : { function: { name: call.name, arguments: call.arguments === "" && !own ? "{}" : call.arguments } }),
    ...(own && call.cache && encodeCacheMark(call.cache)),
    ...readReplay(call.proof)?.fields,
  };
}

function resultMessage(result: ResultContent, options: EncodeTurns): Loose {
  const content = result.plain || result.isError || (result.content.length > 0 && !options.own)
    ? resultText(result)
    : result.content.map((c) => encodePart(c, options.own)).filter((part) => part !== undefined);
  if (options.legacy && extraOf(result.extra, "chat_completions")?.function === true) {
    return { role: "function", name: result.name ?? "", content };
  }
  return {
    role: "tool",
    tool_call_id: result.callId,
    content: content.length === 0 ? "" : content,
    ...(options.own && result.cache && encodeCacheMark(result.cache)),
  };
}

/** The API has no error flag for tool results, so the text is prefixed. */
function resultText(result: ResultContent): string {
  const texts: string[] = [];
  for (const c of result.content) {
    if (!speaks(c)) continue;
    const part = encodePart(c, false);
    if (typeof part?.text === "string") texts.push(part.text);
  }
  const text = texts.join("\n");
  return result.isError ? failedText(text) : text;
}

/** Whether a content can be sent as text; anything else is not allowed in a result. */
function speaks(c: Content): boolean {
  if (c.type === "document") return encodePart(c, false)?.type === "text";
  return c.type === "text" || c.type === "refusal" || c.type === "search-result";
}

/** OpenAI's limit. */
const LONGEST_CALL_ID = 40;

/** Longer ids are replaced by a hash. */
function callId(id: string): string {
  if (id !== "" && id.length <= LONGEST_CALL_ID) return id;
  let a = 0x811c9dc5;
  let b = 0x9dc5811c;
  for (let i = 0; i < id.length; i++) {
    a = Math.imul(a ^ id.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ id.charCodeAt(id.length - 1 - i), 0x01000193);
  }
  return `call_${(a >>> 0).toString(36)}${(b >>> 0).toString(36)}`;
}

function encodeForeign(turns: readonly Turn[], options: EncodeTurns): Loose[] {
  const messages: Loose[] = [];
  const { system, rest } = splitSystem(turns);
  const head = system.map(systemText).filter((text) => text !== "").join("\n\n");
  if (head !== "") messages.push({ role: "system", content: head });

  const joined = joinTurns(rest);
  const results = new ResultQueues(joined);
  // System messages are text in this API; other content is sent as user content.
  const carried = system.flatMap((turn) => turn.content.filter(isSilentMedia));
  for (let i = 0; i < joined.length; i++) {
    const turn = joined[i];
    if (turn.role === "system") {
      carried.push(...turn.content.filter(isSilentMedia));
      const text = systemText(turn);
      if (text !== "") messages.push({ role: "system", content: text });
    } else if (turn.role === "assistant") {
      // The API accepts media from the user only, including media generated by a model.
      carried.push(...turn.content.filter((c) => MEDIA.has(c.type) || c.type === "search-result"));
      const message = assistant(turn, options);
      if (!message.content && Object.keys(message).length === 2) continue;
      messages.push(message);
      const shown: Content[] = [];
      for (const call of turn.content) {
        if (call.type !== "call") continue;
        const result = results.take(call.id);
        if (result) {
          messages.push(resultMessage(result, options));
          const rest = result.content.filter((c) => !speaks(c) && c.type !== "opaque");
          if (rest.length > 0) shown.push({ type: "text", text: `From tool ${call.name}:` }, ...rest);
        } else {
          // OpenAI rejects a call without a result.
          messages.push({ role: "tool", tool_call_id: call.id, content: "(no result)" });
        }
      }
      if (shown.length > 0) messages.push({ role: "user", content: partsOf(shown) });
    } else {
      const content = carried.splice(0).concat(turn.content).flatMap((c): Content[] => {
        if (c.type !== "result") return [c];
        return results.taken(c) ? [] : [
          { type: "text", text: `Result of tool ${c.name ?? c.callId}`.trim() + `:\n${resultText(c)}` },
          ...c.content.filter((inner) => !speaks(inner)),
        ];
      });
      const message = userContent(content);
      if (message !== undefined) {
        messages.push({
          role: "user",
          content: message,
          ...(turn.name !== undefined && { name: turn.name }),
        });
      }
    }
  }
  if (carried.length > 0) messages.push({ role: "user", content: userContent(carried) });
  return messages;
}

const MEDIA: ReadonlySet<Content["type"]> = new Set(["image", "document", "audio", "video"]);

/** Whether a content is media that does not become text. */
function isSilentMedia(c: Content): boolean {
  return MEDIA.has(c.type) && !speaks(c);
}

function systemText(turn: Turn): string {
  const texts = turn.content.map((c) => encodePart(c, false)?.text);
  return texts.filter((text) => typeof text === "string" && text !== "").join("\n\n");
}

/** A string if there is only text: some providers accept no arrays. */
function userContent(content: readonly Content[]): string | Loose[] | undefined {
  const parts = partsOf(content);
  if (parts.length === 0) return undefined;
  if (parts.every((part) => part.type === "text")) return parts.map((part) => part.text).join("\n\n");
  return parts;
}

function partsOf(content: readonly Content[]): Loose[] {
  const parts: Loose[] = [];
  for (const c of content) {
    if (c.type === "document" && c.context && c.source.kind !== "text") {
      parts.push({ type: "text", text: c.context });
    }
    const part = encodePart(c, false);
    if (part && part.text !== "") parts.push(part);
  }
  return parts;
}
