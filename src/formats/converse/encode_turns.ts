/**
 * Turns to `messages` and `system`.
 *
 * User and assistant alternate, every call has its result in the next message, images and documents are the user's. A system
 * turn in mid-conversation has no form: it becomes the user's text in its place, between `<system>` tags.
 */
import type { Loose } from "../../exchange/json.ts";
import { isAttachment, splitSystem, type Turn } from "../../exchange/prompt.ts";
import { arrangeTurns, legalId } from "../messages/encode_turn_order.ts";
import { digest } from "../short_id.ts";
import { DocumentNames } from "./encode_media.ts";
import { type EncodeContent, encodeContents } from "./encode_content.ts";

interface EncodedTurns {
  system: Loose[];
  messages: Loose[];
  /** Reasoning of the latest tool loop had to be left out, so Claude would refuse to think on. */
  thinkingLost: boolean;
}

export function encodeTurns(all: readonly Turn[], context: EncodeContent): EncodedTurns {
  const { system, rest } = withUser(all, context);
  const turns = arrangeTurns(rest.map(spoken), { legal: legalToolUseId, longest: LONGEST_ID });
  const messages: Loose[] = [];
  const loop = turns.findLastIndex((turn) =>
    turn.role === "user" && !turn.content.some((c) => c.type === "result")
  );
  let thinkingLost = false;
  let carried: Turn["content"] = [];
  turns.forEach((turn, i) => {
    if (turn.role === "assistant") {
      carried = [...carried, ...turn.content.filter(isAttachment)];
      const blocks = encodeContents(turn.content.filter((c) => !isAttachment(c)), context);
      const begins = blocks[0]?.reasoningContent !== undefined;
      if (i > loop && !begins && turn.content.some((c) => c.type === "call")) thinkingLost = true;
      if (blocks.every(isSilent)) return;
      push(messages, "assistant", trimLast(blocks, i === turns.length - 1));
      return;
    }
    const results = turn.content.filter((c) => c.type === "result");
    const others = turn.content.filter((c) => c.type !== "result");
    const told = encodeContents(results, context);
    // Nothing may stand between the results of a turn's calls.
    push(messages, "user", [...told.filter(isOfResults), ...told.filter((block) => !isOfResults(block))]);
    push(messages, "user", encodeContents([...carried, ...others], context));
    carried = [];
  });
  push(messages, "user", encodeContents(carried, context));
  for (const message of messages) captionDocuments(message);
  // The user speaks first; what it said may have been empty.
  if (messages.length > 0 && messages[0].role !== "user") {
    messages.unshift({ role: "user", content: [{ text: "(no message)" }] });
  }
  return { system: encodeSystem(system, messages, context), messages, thinkingLost };
}

const LONGEST_ID = 64;

/** Letters, digits, `_` and `-`. Two long ids that begin alike stay apart. */
function legalToolUseId(id: string): string {
  const legal = legalId(id);
  return legal.length <= LONGEST_ID ? legal : `${legal.slice(0, LONGEST_ID - 17)}_${digest(legal)}`;
}

/**
 * At least one message of the user. A prompt of system text alone, or with nothing but empty words beside it, says there what
 * it wants.
 */
function withUser(turns: readonly Turn[], context: EncodeContent): { system: Turn[]; rest: Turn[] } {
  // Names of documents are given out once.
  const says = (turn: Turn) =>
    encodeContents(turn.content, { ...context, names: new DocumentNames() }).length > 0;
  const split = splitSystem(turns);
  if (split.rest.some((turn) => turn.role !== "system" && says(turn))) return split;
  const system = turns.filter((turn) => turn.role === "system" && says(turn));
  const last = system.pop();
  return last ? { system, rest: [{ ...last, role: "user" }] } : split;
}

function spoken(turn: Turn): Turn {
  if (turn.role !== "system") return turn;
  const content = turn.content.map((c) =>
    c.type === "text" ? { ...c, text: `<system>\n${c.text}\n</system>` } : c
  );
  return { ...turn, role: "user", content };
}

/** System text and marks; anything else is the user's. */
function encodeSystem(turns: readonly Turn[], messages: readonly Loose[], context: EncodeContent): Loose[] {
  const content = turns.flatMap((turn) => turn.content);
  const others = encodeContents(content.filter((c) => c.type !== "text" && c.type !== "refusal"), context);
  if (others.length > 0) (messages[0].content as Loose[]).unshift(...others);
  return encodeContents(content.filter((c) => c.type === "text" || c.type === "refusal"), context);
}

/**
 * A turn of nothing but reasoning, as an answer leaves that was cut while the model thought, is refused: newer Claudes take
 * it for a beginning to go on with, wherever it stands.
 */
function isSilent(block: Loose): boolean {
  return block.reasoningContent !== undefined || block.cachePoint !== undefined;
}

function isOfResults(block: Loose): boolean {
  return block.toolResult !== undefined || block.cachePoint !== undefined;
}

/** What stood between two turns of a role may have had nothing to say here. */
function push(messages: Loose[], role: "user" | "assistant", blocks: readonly Loose[]): void {
  if (blocks.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === role) (last.content as Loose[]).push(...blocks);
  else messages.push({ role, content: [...blocks] });
}

/** "A text field is required when documents are included." */
function captionDocuments(message: Loose): void {
  const blocks = message.content as Loose[];
  if (!blocks.some((b) => b.document) || blocks.some((b) => b.text !== undefined)) return;
  blocks.push({ text: "The document is attached." });
}

/** A beginning for the model to go on with must not end in white space. */
function trimLast(blocks: Loose[], last: boolean): Loose[] {
  const block = blocks.at(-1);
  if (!last || typeof block?.text !== "string") return blocks;
  return [...blocks.slice(0, -1), { text: block.text.trimEnd() }];
}
