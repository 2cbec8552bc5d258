/**
 * Gemini 3 signs a text behind its end. Claude Code makes a message of each block of a stream as it stops and takes the last
 * one for the answer: `claude -p` printed nothing, and a task's agent had no result, where that was the signature.
 */
import { assertEquals } from "@std/assert";
import Anthropic from "@anthropic-ai/sdk";
import { PROOFS, SECRET, stage } from "../clients/support.ts";
import { SCRIPTS } from "../support/script/mod.ts";

/** As Claude Code 2.1.330 sends it. */
const BETAS =
  "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,effort-2025-11-24";

const SIGNED = { reasoning: { text: "Rain.", proof: PROOFS[0] }, text: "Take an umbrella." };
const CALLS = {
  ...SIGNED,
  calls: [{ id: "call_1", name: "weather", input: { city: "Oslo" } }],
};
const TOOLS = [{ name: "weather", input_schema: { type: "object" as const } }];
const ask = { model: "p/model", max_tokens: 2000, tools: TOOLS };
const QUESTION = { role: "user" as const, content: "What should I pack?" };

type Block = Anthropic.ContentBlock;

/** The blocks of a stream in the order of their stops, and as the SDK adds them up. */
async function streamed(client: Anthropic): Promise<{ stops: Block[]; added: Block[] }> {
  const stream = client.messages.stream({ ...ask, messages: [QUESTION] });
  const stops: number[] = [];
  stream.on("streamEvent", (event) => {
    if (event.type === "content_block_stop") stops.push(event.index);
  });
  const { content } = await stream.finalMessage();
  return { stops: stops.map((index) => content[index]), added: content };
}

function clientOf(url: string, betas?: string): Anthropic {
  return new Anthropic({
    apiKey: SECRET,
    baseURL: url,
    maxRetries: 0,
    ...(betas && { defaultHeaders: { "anthropic-beta": betas } }),
  });
}

const types = (blocks: readonly Block[]) => blocks.map(({ type }) => type);

Deno.test("the block of a stream that stops last is the text for Claude Code, and the proof comes back", async () => {
  await using at = await stage("gemini", [SIGNED, { text: "Yes." }, { text: "Yes." }]);
  const client = clientOf(at.url, BETAS);
  const { stops, added } = await streamed(client);
  assertEquals(types(stops), ["thinking", "redacted_thinking", "text"]);
  assertEquals(types(added), ["thinking", "text", "redacted_thinking"]);
  for (const content of [stops, added]) {
    await client.messages.create({
      ...ask,
      messages: [QUESTION, { role: "assistant", content }, { role: "user", content: "And now?" }],
    });
  }
  assertEquals(SCRIPTS.gemini.proofs(at.seen[1].body), [PROOFS[0]]);
  assertEquals(at.seen[1].body.contents, at.seen[2].body.contents);
});

Deno.test("the last block of a whole answer is the text for Claude Code", async () => {
  await using at = await stage("gemini", [SIGNED, SIGNED]);
  const { content } = await clientOf(at.url, BETAS).messages.create({ ...ask, messages: [QUESTION] });
  assertEquals(types(content), ["thinking", "redacted_thinking", "text"]);
  const { content: usual } = await clientOf(at.url).messages.create({ ...ask, messages: [QUESTION] });
  assertEquals(types(usual), ["thinking", "text", "redacted_thinking"]);
});

Deno.test("other clients get one block after the other, and Claude Code a call's proof before the call", async () => {
  await using at = await stage("gemini", [SIGNED, CALLS]);
  const { stops } = await streamed(clientOf(at.url));
  assertEquals(types(stops), ["thinking", "text", "redacted_thinking"]);
  const called = await streamed(clientOf(at.url, BETAS));
  assertEquals(types(called.stops), ["thinking", "text", "redacted_thinking", "tool_use"]);
});

Deno.test("reasoning of the responses API keeps its place between a text and a call", async () => {
  await using at = await stage("openai-responses", [CALLS]);
  const { stops, added } = await streamed(clientOf(at.url, BETAS));
  assertEquals(types(stops), types(added));
});
