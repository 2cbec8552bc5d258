/** Proofs on tool calls, from the answer back to the next request. */
import { assertEquals } from "@std/assert";
import { object } from "../../../src/exchange/json.ts";
import type { Answer } from "../../../src/exchange/answer.ts";
import { collect } from "../../../src/exchange/answer.ts";
import type { Part } from "../../../src/exchange/part.ts";
import type { Proof } from "../../../src/exchange/proof.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import { sealer } from "../../../src/pipeline/seal.ts";

const { seal, unseal } = sealer(new Uint8Array(32)).of("acme");
const signature = (data: string): Proof => ({ api: "messages", kind: "signature", data });

function thought(block: number, text: string, proof: Proof): Part[] {
  return [
    { type: "reasoning-start", block, choice: 0, kind: "text" },
    { type: "reasoning-delta", block, section: 0, text },
    { type: "reasoning-end", block, proof },
  ];
}

function call(block: number, id: string, proof?: Proof): Part[] {
  return [
    { type: "call-start", block, choice: 0, id, name: "f", kind: "function", ...(proof && { proof }) },
    { type: "call-delta", block, text: "{}" },
    { type: "call-end", block },
  ];
}

function messageOf(parts: Part[]): Record<string, unknown> {
  const all: Part[] = [{ type: "start" }, ...parts, { type: "finish", choice: 0, reason: "tool-calls" }];
  const answer: Answer = collect(all);
  const prompt = chatCompletions.decodeRequest({ model: "p/m", messages: [{ role: "user", content: "x" }] }, {
    unseal,
    headers: () => ({}),
  });
  const body = chatCompletions.encodeAnswer(answer, {
    id: "gen_1",
    created: 0,
    model: () => "p/m",
    prompt,
    seal,
  });
  return object(object((body.choices as unknown[])[0]).message);
}

/** Reasoning and calls of the assistant's message, as a request brings them back. */
function back(message: Record<string, unknown>) {
  const messages = [{ role: "user", content: "x" }, message];
  const { turns } = chatCompletions.decodeRequest({ model: "p/m", messages }, {
    unseal,
    headers: () => ({}),
  });
  return turns[1].content.map((c) =>
    c.type === "reasoning"
      ? [c.sections.join("|"), c.proof?.data]
      : c.type === "call"
      ? [c.id, c.proof?.data]
      : [c.type]
  );
}

/** What a client keeps that knows `reasoning_content` and calls with `extra_content` alone. */
function kept({ role, content, reasoning_content, tool_calls }: Record<string, unknown>) {
  return { role, content, reasoning_content, tool_calls };
}

Deno.test("several thoughts before several calls come back with their texts and proofs", () => {
  const message = messageOf([
    ...thought(0, "One.", signature("first")),
    ...thought(1, "Two, more.", signature("second")),
    ...call(2, "call_a"),
    ...thought(3, "Three.", signature("third")),
    ...call(4, "call_b"),
  ]);
  const expected = [["One.", "first"], ["Two, more.", "second"], ["Three.", "third"], ["call_a", undefined], [
    "call_b",
    undefined,
  ]];
  assertEquals(back(kept(message)), expected);
  // With `reasoning_details` beside them they are the same, once.
  assertEquals(back(message), expected);
});

Deno.test("a proof of the call itself comes back on the call", () => {
  const proof: Proof = { api: "gemini", kind: "thought", data: "signed", call: "call_a" };
  const message = messageOf(call(0, "call_a", proof));
  assertEquals(back(kept(message)), [["call_a", "signed"]]);
  assertEquals(back(message), [["call_a", "signed"]]);
});

Deno.test("what is no bundle of this account is nobody's proof, and goes to no provider", () => {
  const message = messageOf([...thought(0, "One.", signature("first")), ...call(1, "call_a")]);
  const foreign = sealer(new Uint8Array(32)).of("other").seal(signature("stolen"));
  for (
    const thought_signature of [
      `svcs1,0-4:${foreign}`,
      "svcs1,",
      "svcs1,0-4:svc1.x.y",
      `svcs1,9999999999-4:${seal(signature("first"))}`,
      `svcs1,${"0-0:svc1.a.b,".repeat(100_000)}`,
    ]
  ) {
    const [call] = message.tool_calls as Record<string, unknown>[];
    const changed = { ...call, extra_content: { google: { thought_signature } } };
    const [reasoning, found] = back({ ...kept(message), tool_calls: [changed] });
    assertEquals(reasoning[0], "One.");
    assertEquals(found, ["call_a", undefined]);
  }
});
