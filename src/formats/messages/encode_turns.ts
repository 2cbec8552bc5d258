/**
 * Encodes turns as `system` and `messages`.
 *
 * A caller of this format gets its own turns, boundaries and order. Only what the API would reject because of
 * the gateway's changes to the history is corrected: ids of other providers' calls, reasoning without
 * Claude's signature, empty texts, blank texts of the assistant. If a model is known to reject system
 * messages, their text becomes user text: callers do not know which model a route uses.
 */
import { distinctCalls } from "../../exchange/call_ids.ts";
import type { Loose } from "../../exchange/json.ts";
import { type Content, extraOf, type Prompt, splitSystem, type Turn } from "../../exchange/prompt.ts";
import { encodeContents, singleText } from "./encode_content.ts";
import { arrangeTurns, legalId, placeSystem, withoutSystem } from "./encode_turn_order.ts";

interface EncodedTurns {
  system?: string | Loose[];
  messages: Loose[];
  /** Reasoning of the current tool loop had to be omitted, so the API would reject further thinking. */
  thinkingLost: boolean;
  /** Citations in user text had to be omitted. */
  citationsLost: boolean;
}

interface EncodeTurns {
  /** A caller of this format wrote for an older API version. */
  fit: boolean;
  /** The model supports system messages within a conversation. */
  systemTaken: boolean;
  /** The model is known to reject them, for any caller. */
  systemRefused: boolean;
  /** The model accepts returned thinking that it did not sign. */
  unsignedTaken: boolean;
}

/** Thinking without a signature, with an empty one. */
function asSigned(c: Content): Content {
  return c.type !== "reasoning" || c.proof || c.sections.length === 0
    ? c
    : { ...c, proof: { api: "messages", kind: "signature", data: "" } };
}

export function encodeTurns(
  prompt: Prompt,
  { fit, systemTaken, systemRefused, unsignedTaken }: EncodeTurns,
): EncodedTurns {
  const own = prompt.format === "messages";
  let citationsLost = false;
  const { system, rest } = withUser(own ? prompt.turns : withTextualSystem(prompt.turns), own);
  const ownTurns = () => {
    const distinct = distinctCalls(rest, { legal: legalId });
    return systemRefused ? withoutSystem(distinct) : distinct;
  };
  const turns = own ? ownTurns() : placeSystem(arrangeTurns(rest), systemTaken);
  const messages: Loose[] = [];
  let thinkingLost = false;
  let carried: Loose[] = [];
  const loop = startOfToolLoop(turns);
  const push = (turn: Turn, blocks: Loose[]) => {
    const last = messages.at(-1);
    // The turn between two turns of the same role may have been empty.
    if (own || last?.role !== turn.role || blocks.length === 0) pushMessage(messages, turn, blocks);
    else if (Array.isArray(last.content)) last.content.push(...blocks);
    else last.content = [{ type: "text", text: last.content }, ...blocks];
  };
  turns.forEach((turn, i) => {
    if (turn.role === "assistant") {
      const { blocks, media } = splitMedia(
        encodeContents(withWords(own && unsignedTaken ? turn.content.map(asSigned) : turn.content), own),
        !own || fit,
      );
      carried.push(...media);
      if (i > loop && turn.content.some((c) => c.type === "call") && !startsWithThinking(blocks)) {
        thinkingLost ||= !own || turn.content.some((c) => c.type === "reasoning");
      }
      push(turn, trimLast(blocks, !own && i === turns.length - 1));
    } else if (turn.role === "user" && carried.length > 0) {
      push({ ...turn, plain: false }, [...encodeContents(turn.content, own), ...carried]);
      carried = [];
    } else {
      const blocks = encodeContents(turn.content, own);
      for (const block of fit ? blocks : []) {
        if (block.type === "text" && block.citations !== undefined) {
          delete block.citations;
          citationsLost = true;
        }
      }
      push(turn, blocks);
    }
  });
  if (carried.length > 0) push({ role: "user", content: [] }, carried);
  // The first message must be from the user; it may have been empty.
  if (!own && messages.length > 0 && messages[0].role !== "user") {
    messages.unshift({ role: "user", content: [{ type: "text", text: "(no message)" }] });
  }
  return { ...encodeSystem(system, own), messages, thinkingLost, citationsLost };
}

/** System turns may contain only text. Other content becomes a user turn after them. */
function withTextualSystem(turns: readonly Turn[]): readonly Turn[] {
  const isText = (c: Content) => c.type === "text" || c.type === "refusal";
  if (turns.every((turn) => turn.role !== "system" || turn.content.every(isText))) return turns;
  const { system, rest } = splitSystem(turns);
  const split = (turn: Turn): Turn[] => {
    if (turn.role !== "system") return [turn];
    const others = turn.content.filter((c) => !isText(c));
    const texts = { ...turn, content: turn.content.filter(isText) };
    return others.length > 0 ? [texts, { role: "user", content: others }] : [texts];
  };
  const leading = system.flatMap(split);
  return [
    ...leading.filter((turn) => turn.role === "system"),
    ...leading.filter((turn) => turn.role !== "system"),
    ...rest.flatMap(split),
  ];
}

/** The API requires at least one user message. If there is only system text, it becomes the user's. */
function withUser(turns: readonly Turn[], own: boolean): { system: Turn[]; rest: Turn[] } {
  const says = (turn: Turn) => encodeContents(turn.content, own).length > 0;
  const split = own ? splitOwn(turns) : splitSystem(turns);
  if (split.rest.some((turn) => turn.role !== "system" && says(turn))) return split;
  const system = turns.filter((turn) => turn.role === "system" && says(turn));
  const last = system.pop();
  return last ? { system, rest: [{ ...last, role: "user", top: false }] } : split;
}

/** System turns before the first other turn. One that only changes settings stays at its position. */
function splitOwn(turns: readonly Turn[]): { system: Turn[]; rest: Turn[] } {
  const { system, rest } = splitSystem(turns);
  return { system: system.filter((turn) => !isSetting(turn)), rest: [...system.filter(isSetting), ...rest] };
}

function isSetting({ role, content, extra }: Turn): boolean {
  return role === "system" && content.length === 0 && extra !== undefined;
}

function encodeSystem(turns: readonly Turn[], own: boolean): { system?: string | Loose[] } {
  const blocks = turns.flatMap((turn) => encodeContents(turn.content, own));
  if (blocks.length === 0) return {};
  const text = turns.length === 1 && turns[0].plain ? singleText(blocks) : undefined;
  return { system: text ?? blocks };
}

function pushMessage(messages: Loose[], turn: Turn, blocks: Loose[]): void {
  if (blocks.length === 0 && !(isSetting(turn) && extraOf(turn.extra, "messages"))) return;
  const text = turn.plain ? singleText(blocks) : undefined;
  messages.push({ role: turn.role, content: text ?? blocks, ...extraOf(turn.extra, "messages") });
}

/**
 * "text content blocks must contain non-whitespace text", unless another text beside them does. Models
 * themselves generate line breaks before a call, and a search between two texts may have been removed.
 */
function withWords(contents: readonly Content[]): readonly Content[] {
  const isBlank = (c: Content) => c.type === "text" && !/\S/.test(c.text);
  if (!contents.some(isBlank) || contents.some((c) => c.type === "text" && !isBlank(c))) return contents;
  return contents.filter((c) => !isBlank(c));
}

/** The API accepts images from the user only, and from version 2026-10-21 on documents too. */
function splitMedia(blocks: Loose[], documents: boolean): { blocks: Loose[]; media: Loose[] } {
  const isMedia = (b: Loose) => b.type === "image" || (documents && b.type === "document");
  const media = blocks.filter(isMedia);
  return media.length === 0 ? { blocks, media } : { blocks: blocks.filter((b) => !isMedia(b)), media };
}

/** "final assistant content cannot end with trailing whitespace" */
function trimLast(blocks: Loose[], last: boolean): Loose[] {
  const block = blocks.at(-1);
  if (!last || block?.type !== "text") return blocks;
  return [...blocks.slice(0, -1), { ...block, text: (block.text as string).trimEnd() }];
}

/** The last user turn with text and without results: what follows is one tool loop. */
function startOfToolLoop(turns: readonly Turn[]): number {
  return turns.findLastIndex((turn) =>
    turn.role === "user" && !turn.content.some((c) => c.type === "result")
  );
}

function startsWithThinking(blocks: readonly Loose[]): boolean {
  return blocks[0]?.type === "thinking" || blocks[0]?.type === "redacted_thinking";
}
