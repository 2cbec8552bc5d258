/**
 * `thinking: {type: "adaptive"}` without an effort, from callers whose request is written anew for Claude: through Converse,
 * and from chat-completions. It vanished, so the model did not think and nothing said so.
 */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../src/exchange/json.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";

const messages = [{ role: "user", content: "Hi" }];
const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];

type Ask = [from: "messages" | "chat_completions", to: "messages" | "converse"];

function ask([from, to]: Ask, model: string, fields: Loose = {}, reasons = true): [unknown, string[]] {
  const body = { model: "a/b", max_tokens: 64, messages, thinking: { type: "adaptive" }, ...fields };
  const prompt = CALLER_FORMATS[from].decodeRequest(body, { unseal: () => null, headers: () => ({}) });
  const features = new Set(reasons ? ["tools", "reasoning"] : ["tools"]);
  const context = { model, stream: false, maxOutput: null, features, efforts: null };
  const sent = PROVIDER_FORMATS[to].encodeRequest(prompt, context);
  const own = to === "converse" ? sent.body.additionalModelRequestFields as Loose | undefined : sent.body;
  return [own?.thinking, sent.dropped];
}

const WAYS: Ask[] = [["messages", "converse"], ["chat_completions", "converse"], [
  "chat_completions",
  "messages",
]];

Deno.test("thinking that the model measures itself reaches Claude, or is listed", () => {
  for (const way of WAYS) {
    const [from, to] = way;
    const id = (name: string) => to === "converse" ? `us.anthropic.${name}-v1:0` : name;
    const thinking = { type: "adaptive", display: "summarized" };
    assertEquals(ask(way, id("claude-opus-4-6")), [thinking, []]);
    assertEquals(ask(way, id("claude-sonnet-5")), [thinking, []]);
    const choice = from === "messages" ? { type: "any" } : "required";
    for (
      const lost of [
        ask(way, id("claude-sonnet-4-20250514")),
        ask(way, id("claude-opus-4-6"), {}, false),
        ask(way, id("claude-opus-4-6"), { tools, tool_choice: choice }),
      ]
    ) assertEquals(lost, [undefined, ["thinking"]]);
  }
});
