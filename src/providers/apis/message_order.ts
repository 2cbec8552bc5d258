/**
 * The order of messages that chat-completions servers and models accept.
 *
 * Many chat templates accept only one system message, the first. Mistral's models also reject a message of the
 * user directly after the result of a tool, and an answer of the assistant as the last message, at every
 * server: "Unexpected role 'user' after role 'tool'", "Expected last role User or Tool (or Assistant with
 * prefix True) for serving but got assistant". Perplexity wants user and assistant by turns, the user first and
 * last: "After the (optional) system message(s), user or tool message(s) should alternate with assistant
 * message(s)".
 */
import { array, type Loose, object } from "../../exchange/json.ts";

/** Mistral's models by name, at any provider. */
const MISTRAL = /(?:mi|mini|magi|code|dev|math)stral|(?:mi|pi|vo)xtral/i;

export interface Order {
  /** The server accepts only one system message, the first. */
  readonly oneSystem?: boolean;
  /** User and assistant must alternate. */
  readonly alternates?: boolean;
}

export function orderMessages(messages: Loose[], model: string, { oneSystem, alternates }: Order): Loose[] {
  if (alternates) return alternating(withOneSystem(messages));
  if (!MISTRAL.test(model)) return oneSystem ? withOneSystem(messages) : messages;
  const known = messages.some(({ role }) => role === "developer")
    ? messages.map((message) => message.role === "developer" ? { ...message, role: "system" } : message)
    : messages;
  return inMistralOrder(withOneSystem(known));
}

function alternating(messages: readonly Loose[]): Loose[] {
  const turns: Loose[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    const calls = array(message.tool_calls).length + array(last?.tool_calls).length > 0;
    if (last !== undefined && last.role === message.role && message.role !== "tool" && !calls) {
      turns[turns.length - 1] = { ...last, content: joined(last.content ?? "", message.content ?? "") };
    } else {
      if (message.role === "assistant" && (last === undefined || last.role === "system")) {
        turns.push({ role: "user", content: "(The conversation begins earlier.)" });
      }
      turns.push(message);
    }
  }
  const last = turns.at(-1);
  if (last?.role === "system") turns[turns.length - 1] = { ...last, role: "user" };
  else if (last?.role === "assistant") turns.push({ role: "user", content: "Continue." });
  return turns;
}

/** The same list if nothing is to be added. */
function inMistralOrder(messages: Loose[]): Loose[] {
  const ordered: Loose[] = [];
  for (const message of messages) {
    if (message.role === "user" && ordered.at(-1)?.role === "tool") {
      ordered.push({ role: "assistant", content: "OK." });
    }
    ordered.push(message);
  }
  const last = messages.at(-1);
  if (last?.role === "assistant" && last.prefix !== true && !array(last.tool_calls).length) {
    ordered.push({ role: "user", content: "Continue." });
  }
  return ordered.length === messages.length ? messages : ordered;
}

/**
 * Keeps only the first system message. Those directly after it are merged into it; the text of later ones is
 * inserted as user text at the same position, between `<system>` tags, so that the preceding messages still
 * match a prompt cache. Alternating roles, which some templates require, are preserved.
 */
function withOneSystem(messages: Loose[]): Loose[] {
  if (!messages.some(({ role }, i) => role === "system" && i > 0)) return messages;
  const first = messages.findIndex(({ role }) => role !== "system");
  const leading = first < 0 ? messages : messages.slice(0, first);
  const placed: Loose[] = leading.length === 0 ? [] : [
    leading.reduce((all, { content }) => ({ ...all, content: joined(all.content, content) })),
  ];
  let note = "";
  for (const message of messages.slice(leading.length)) {
    const { role, content } = message;
    if (role === "system") {
      const text = textOf(content);
      if (text.trim() !== "") note += `${note && "\n\n"}<system>\n${text}\n</system>`;
    } else if (note === "" || role === "tool") {
      // Nothing may be inserted between tool calls and their results.
      placed.push(message);
    } else {
      if (role === "user" && placed.at(-1)?.role !== "user") {
        placed.push({ ...message, content: joined(note, content) });
      } else {
        say(note, placed);
        placed.push(message);
      }
      note = "";
    }
  }
  if (note !== "") say(note, placed);
  return placed;
}

/** Appends to the previous user message, or adds one. */
function say(note: string, placed: Loose[]): void {
  const last = placed.at(-1);
  if (last?.role !== "user") placed.push({ role: "user", content: note });
  else placed[placed.length - 1] = { ...last, content: joined(last.content, note) };
}

/** Concatenates contents: a string if both are strings, else a list of parts. */
function joined(a: unknown, b: unknown): unknown {
  if (typeof a === "string" && typeof b === "string") return a === "" || b === "" ? a + b : `${a}\n\n${b}`;
  return [...partsOf(a), ...partsOf(b)];
}

function partsOf(content: unknown): Loose[] {
  if (typeof content !== "string") return array(content).map(object);
  return content === "" ? [] : [{ type: "text", text: content }];
}

function textOf(content: unknown): string {
  return partsOf(content).map(({ text }) => text).join("\n\n");
}
