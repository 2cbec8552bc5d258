/**
 * Situations, each a folder of `tests/scenarios`: a request in every caller format and the prompt that all of them mean
 * (`<format>.prompt.json` where a format says more or less), or an answer as every provider API streams and sends it whole,
 * and the parts that all of them mean.
 */
import type { Answer } from "../../src/exchange/answer.ts";
import type { Loose } from "../../src/exchange/json.ts";
import { joinTurns, type Prompt } from "../../src/exchange/prompt.ts";

const FOLDER = new URL("../scenarios/", import.meta.url);

export type Caller = "chat_completions" | "messages" | "responses";
export type Target = Caller | "gemini" | "converse";
export const CALLERS: readonly Caller[] = ["chat_completions", "messages", "responses"];
export const TARGETS: readonly Target[] = [...CALLERS, "gemini", "converse"];

export function scenarios(): string[] {
  return [...Deno.readDirSync(FOLDER)].filter((e) => e.isDirectory).map((e) => e.name).sort();
}

/** The text of a scenario's file; null when it has none of that name. */
export function read(scenario: string, name: string): string | null {
  try {
    return Deno.readTextFileSync(new URL(`${scenario}/${name}`, FOLDER));
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

export function readJson(scenario: string, name: string): Loose | null {
  const text = read(scenario, name);
  return text === null ? null : JSON.parse(text);
}

/** What a prompt means, without what belongs to its wire: bags, borders of turns, where system text stood. */
export function meaning(prompt: Prompt): Loose {
  const { format: _1, model: _2, stream: _3, verbatim: _4, unknown: _5, headers: _6, ...rest } = prompt;
  const turns = joinTurns(prompt.turns.map((t) => ({ role: t.role, content: t.content })));
  const text = JSON.stringify({ ...rest, turns: turns.map((t) => ({ role: t.role, content: t.content })) });
  return JSON.parse(text, function (this: Loose, key, value) {
    if (key === "extra" || key === "plain" || (key === "name" && this.type === "result")) return undefined;
    // A result that says nothing is a text of no length in some formats.
    if (key === "content" && Array.isArray(value)) {
      return value.filter((c) => c.type !== "text" || c.text !== "");
    }
    // JSON text of arguments has no one form.
    if (key === "arguments" && this.kind === "function" && typeof value === "string") {
      return JSON.parse(value);
    }
    return value;
  });
}

/** What an answer means. A provider's own names and the borders between its blocks are left out. */
export function sense(answer: Answer): Loose {
  const [choice] = answer.choices;
  const blocks = <T extends string>(type: T) =>
    choice.blocks.filter((b): b is Extract<typeof choice.blocks[number], { type: T }> => b.type === type);
  const texts = (refusal: boolean) =>
    blocks("text").filter((b) => b.refusal === refusal).map((b) => b.text).join("");
  return {
    text: texts(false),
    refusal: texts(true),
    reasoning: blocks("reasoning").flatMap((b) => b.sections).join(""),
    calls: blocks("call").map((b) => ({
      id: b.id,
      name: b.name,
      kind: b.kind,
      arguments: JSON.parse(b.arguments || "{}"),
    })),
    citations: blocks("text").flatMap((b) => b.citations.map((c) => ({ url: c.url, title: c.title }))),
    reason: choice.reason,
    usage: answer.usage ?? null,
  };
}
