/**
 * Encodes turns as `messages` and `system`.
 *
 * User and assistant alternate, every call has its result in the next message, images and documents belong to
 * the user. A system turn within the conversation is not supported: it becomes user text at its position,
 * between `<system>` tags.
 */
import { array, type Loose, object } from "../../exchange/json.ts";
import { isAttachment, splitSystem, type Turn } from "../../exchange/prompt.ts";
import { arrangeTurns, legalId } from "../messages/encode_turn_order.ts";
import { digest } from "../short_id.ts";
import { DocumentNames } from "./encode_media.ts";
import { type EncodeContent, encodeContents } from "./encode_content.ts";

interface EncodedTurns {
  system: Loose[];
  messages: Loose[];
  /** Reasoning of the current tool loop had to be omitted, so Claude would reject further thinking. */
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
      const blocks = encodeContents(turn.content.filter((c) => !isAttachment(c)), {
        ...context,
        cites: true,
      });
      const begins = blocks[0]?.reasoningContent !== undefined;
      if (i > loop && !begins && turn.content.some((c) => c.type === "call")) thinkingLost = true;
      if (blocks.every(isSilent)) return;
      push(messages, "assistant", trimLast(blocks, i === turns.length - 1));
      return;
    }
    const results = turn.content.filter((c) => c.type === "result");
    const others = turn.content.filter((c) => c.type !== "result");
    const encoded = encodeContents(results, context);
    // Nothing may be between the results of a turn's calls.
    push(messages, "user", [
      ...encoded.filter(isOfResults),
      ...encoded.filter((block) => !isOfResults(block)),
    ]);
    push(messages, "user", encodeContents([...carried, ...others], context));
    carried = [];
  });
  push(messages, "user", encodeContents(carried, context));
  // The first message must be from the user; it may have been empty.
  if (messages.length > 0 && messages[0].role !== "user") {
    messages.unshift({ role: "user", content: [{ text: "(no message)" }] });
  }
  const encodedSystem = encodeSystem(system, messages, context);
  for (const message of messages) captionDocuments(message);
  return { system: encodedSystem, messages, thinkingLost };
}

const LONGEST_ID = 64;

/** Letters, digits, `_` and `-`. Long ids with the same beginning remain distinct. */
function legalToolUseId(id: string): string {
  const legal = legalId(id);
  return legal.length <= LONGEST_ID ? legal : `${legal.slice(0, LONGEST_ID - 17)}_${digest(legal)}`;
}

/** At least one user message is required. If there is only system text, it becomes the user's. */
function withUser(turns: readonly Turn[], context: EncodeContent): { system: Turn[]; rest: Turn[] } {
  // A throwaway instance: names of documents are assigned only once.
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

/** System text and breakpoints; other content belongs to the user. */
function encodeSystem(turns: readonly Turn[], messages: readonly Loose[], context: EncodeContent): Loose[] {
  const content = turns.flatMap((turn) => turn.content);
  const others = encodeContents(content.filter((c) => c.type !== "text" && c.type !== "refusal"), context);
  if (others.length > 0) (messages[0].content as Loose[]).unshift(...others);
  return encodeContents(content.filter((c) => c.type === "text" || c.type === "refusal"), context);
}

/**
 * A turn that consists only of reasoning, as after a truncated answer, is rejected: newer Claudes treat it as
 * a prefill anywhere.
 */
function isSilent(block: Loose): boolean {
  return block.reasoningContent !== undefined || block.cachePoint !== undefined;
}

function isOfResults(block: Loose): boolean {
  return block.toolResult !== undefined || block.cachePoint !== undefined;
}

/** The turn between two turns of the same role may have been empty. */
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

/** A prefill must not end with white space. */
function trimLast(blocks: Loose[], last: boolean): Loose[] {
  const { text, citationsContent } = blocks.at(-1) ?? {};
  const said = text ?? object(array(object(citationsContent).content)[0]).text;
  if (!last || typeof said !== "string") return blocks;
  return [...blocks.slice(0, -1), { text: said.trimEnd() }];
}
