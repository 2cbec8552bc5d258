/**
 * Arranges turns of another format as this API requires: results directly after their calls and first in
 * their turn, every call answered, valid and unique ids, alternating roles.
 */
import { type CallIdRules, distinctCalls } from "../../exchange/call_ids.ts";
import type { CallContent, Content, ResultContent, TextContent, Turn } from "../../exchange/prompt.ts";
import { joinTurns } from "../../exchange/prompt.ts";

/** The API accepts letters, digits, `_` and `-` in ids. */
export function legalId(id: string): string {
  const legal = id.replace(/[^a-zA-Z0-9_-]/g, "_");
  return legal === "" ? "call" : legal;
}

/** @param turns without the leading system turns */
export function arrangeTurns(turns: readonly Turn[], rules: CallIdRules = { legal: legalId }): Turn[] {
  const joined = distinctCalls(joinTurns(turns), rules);
  const answers = matchResults(joined);
  const out: Turn[] = [];
  for (const turn of joined) {
    if (turn.role !== "assistant") {
      const content = turn.content.map((c) => c.type === "result" ? answers.strays.get(c) : c)
        .filter((c) => c !== undefined);
      if (content.length > 0) out.push({ ...turn, content });
      continue;
    }
    const results: Content[] = [];
    const content = turn.content.map((c) => {
      if (c.type !== "call") return c;
      results.push(answers.given.get(c) ?? noResult(c));
      return c;
    });
    out.push({ ...turn, content });
    if (results.length > 0) out.push({ role: "user", content: results });
  }
  return joinTurns(out);
}

/**
 * The API accepts system turns after a user turn, and before an assistant turn or at the end. Others, or all
 * if the model does not support them, become user text at their position, between `<system>` tags.
 *
 * @param turns result of {@link arrangeTurns}
 */
export function placeSystem(turns: Turn[], taken: boolean): Turn[] {
  const isLegal = (i: number) =>
    taken && turns[i - 1]?.role === "user" && (turns[i + 1]?.role ?? "assistant") === "assistant";
  if (turns.every(({ role }, i) => role !== "system" || isLegal(i))) return turns;
  const placed = turns.map((turn, i) => turn.role !== "system" || isLegal(i) ? turn : asUser(turn));
  return joinTurns(placed.filter(({ content }) => content.length > 0));
}

/** System text as user text. Other fields of a system message are not allowed in one of the user. */
function asUser({ extra: _, ...turn }: Turn): Turn {
  const said = turn.content.filter((c): c is TextContent => c.type === "text" && c.text.trim() !== "");
  return {
    ...turn,
    role: "user",
    content: said.map((c) => ({ ...c, text: `<system>\n${c.text}\n</system>` })),
  };
}

/**
 * A caller's own turns for a model without system messages: their text becomes user text, and everything else
 * in them is left out. One before the results of calls is moved after them, since nothing may be between calls
 * and results.
 */
export function withoutSystem(turns: Turn[]): Turn[] {
  const isSystem = ({ role }: Turn) => role === "system";
  const calls = (turn: Turn | undefined) =>
    turn?.role === "assistant" && turn.content.some(({ type }) => type === "call");
  if (!turns.some(isSystem)) return turns;
  const placed: Turn[] = [];
  let held: Turn[] = [];
  for (const turn of turns) {
    if (isSystem(turn) && calls(placed.at(-1))) held.push(asUser(turn));
    else {
      const first = turn.role !== "user" ? held.splice(0) : [];
      placed.push(...first, isSystem(turn) ? asUser(turn) : turn, ...held);
      held = [];
    }
  }
  return [...placed, ...held].filter(({ role, content }) => role !== "user" || content.length > 0);
}

/** Matches results to calls. A result without a call, or a second one, becomes text. */
function matchResults(turns: readonly Turn[]) {
  const calls = new Map<string, CallContent>();
  const given = new Map<CallContent, ResultContent>();
  const strays = new Map<ResultContent, Content>();
  for (const turn of turns) {
    for (const c of turn.content) {
      if (c.type === "call") calls.set(c.id, c);
      else if (c.type === "result") {
        const call = calls.get(c.callId);
        if (call && !given.has(call)) given.set(call, c);
        else {strays.set(c, {
            type: "text",
            text: `Result of a tool call${name(c)}:\n${textOf(c.content)}`,
          });}
      }
    }
  }
  return { given, strays };
}

function name(result: ResultContent): string {
  return result.name === undefined ? "" : ` of ${result.name}`;
}

function textOf(content: readonly Content[]): string {
  return content.map((c) => c.type === "text" ? c.text : "").filter((t) => t !== "").join("\n");
}

function noResult(call: CallContent): ResultContent {
  return {
    type: "result",
    callId: call.id,
    kind: call.kind,
    content: [{ type: "text", text: "No result was given." }],
    isError: true,
    plain: true,
  };
}
