/**
 * A text of line breaks alone, as Claude writes them before a call of a tool. Sent back as the only text of a message, it is
 * refused: "messages: text content blocks must contain non-whitespace text". So a search failed in its second round, and a
 * conversation in its next turn once the blocks of a search beside the text had been left out.
 */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../src/exchange/json.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { openSearchRig, searchCall } from "../websearch/rig.ts";

const CONTEXT = { model: "m", stream: false, maxOutput: null, features: null, efforts: null };
const USER = { role: "user", content: "Hi" };
const THINKING = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
const BLANK = { type: "text", text: "\n\n" };
const CALL = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
const RESULT = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "1" }] };

function sent(...messages: Loose[]): unknown {
  const body = { model: "a/b", max_tokens: 100, messages };
  const prompt = CALLER_FORMATS.messages.decodeRequest(body, { unseal: () => null, headers: () => ({}) });
  return PROVIDER_FORMATS.messages.encodeRequest(prompt, CONTEXT).body.messages;
}

Deno.test("a blank text before a call is not sent back to Claude, and one beside words is", () => {
  assertEquals(sent(USER, { role: "assistant", content: [THINKING, BLANK, CALL] }, RESULT), [
    USER,
    { role: "assistant", content: [THINKING, CALL] },
    RESULT,
  ]);
  const words = { role: "assistant", content: [BLANK, { type: "text", text: "So." }, CALL] };
  assertEquals(sent(USER, words, RESULT), [USER, words, RESULT]);
});

Deno.test("a message of which only a blank text is left is not sent back to Claude", () => {
  const id = "srvtoolu_1";
  const searched = [
    { type: "server_tool_use", id, name: "web_search", input: { query: "x" } },
    { type: "web_search_tool_result", tool_use_id: id, content: [] },
    BLANK,
  ];
  assertEquals(sent(USER, { role: "assistant", content: searched }, USER), [USER, USER]);
  assertEquals(sent(USER, { role: "assistant", content: " " }, USER), [USER, USER]);
});

Deno.test("a blank text before a search is not part of the next round at Claude", async () => {
  const rig = await openSearchRig();
  try {
    const { response, seen } = await rig.ask(
      { caller: "messages", api: "anthropic-messages", stream: true },
      {
        answer: (round, _, ticket) => ({
          text: round === 0 ? "\n\n" : "Found.",
          ...(round === 0 && { calls: [searchCall(ticket)] }),
          usage: { input: 10, output: 5 },
        }),
      },
    );
    await response.text();
    const [, said] = (seen[1].body as { messages: { content: Loose[] }[] }).messages;
    assertEquals(said.content.map(({ type }) => type), ["tool_use"]);
  } finally {
    await rig.close();
  }
});
