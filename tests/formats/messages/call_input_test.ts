/** Arguments of calls that do not begin as an object: the official client reads of the stream what the whole answer says. */
import { assertEquals } from "@std/assert";
import Anthropic from "@anthropic-ai/sdk";
import type { Part } from "../../../src/exchange/part.ts";
import { encodeParts, encodeWhole } from "./support.ts";

const INPUTS: readonly (readonly [args: string, input: unknown])[] = [
  ["", {}],
  ["  \n", {}],
  ['\n {"a":1}', { a: 1 }],
  ["null", {}],
  ["7", { input: 7 }],
  ["[1]", { input: [1] }],
  ['"{\\"a\\":1}"', { input: '{"a":1}' }],
  ["nope", { input: "nope" }],
  ["```json\n{}\n```", { input: "```json\n{}\n```" }],
];

for (const [args, input] of INPUTS) {
  Deno.test(`messages: the input of a call whose arguments are ${JSON.stringify(args)}`, async () => {
    for (const pieces of [[args], [...args]]) {
      const parts: Part[] = [
        { type: "start" },
        { type: "call-start", block: 0, choice: 0, id: "toolu_1", name: "look", kind: "function" },
        ...pieces.map((text): Part => ({ type: "call-delta", block: 0, text })),
        { type: "call-end", block: 0 },
        { type: "finish", choice: 0, reason: "tool-calls" },
      ];
      const whole = encodeWhole(parts).content as { input: unknown }[];
      assertEquals(whole[0].input, input);
      const stream = encodeParts(parts);
      const fetch = () =>
        Promise.resolve(new Response(stream, { headers: { "content-type": "text/event-stream" } }));
      const client = new Anthropic({ apiKey: "x", baseURL: "http://gateway.test", maxRetries: 0, fetch });
      const final = await client.messages.stream({
        model: "acme/one",
        max_tokens: 9,
        messages: [{ role: "user", content: "Hi" }],
      }).finalMessage();
      assertEquals(final.content.map((block) => block.type === "tool_use" && block.input), [input]);
    }
  });
}
