import { assertEquals } from "@std/assert";
import { attachProofs } from "../../src/exchange/attach_proofs.ts";
import type { Content, Turn } from "../../src/exchange/prompt.ts";
import type { Proof } from "../../src/exchange/proof.ts";

const proof = (call?: string): Proof => ({
  api: "gemini",
  kind: "thought",
  data: "SIG",
  ...(call !== undefined && { call }),
});
const thought = (sections: string[], call?: string): Content => ({
  type: "reasoning",
  sections,
  kind: "text",
  proof: proof(call),
});
const call = (id: string): Content => ({ type: "call", kind: "function", id, name: "f", arguments: "{}" });
const said = (...content: Content[]): Turn => ({ role: "assistant", content });

Deno.test("attachProofs() moves a call's proof to the call, wherever that stands", () => {
  const turns = attachProofs([said(thought(["hm"], "b"), call("a"), call("b"))]);
  assertEquals(turns, [
    said({ type: "reasoning", sections: ["hm"], kind: "text", proof: undefined }, call("a"), {
      ...call("b"),
      proof: proof("b"),
    } as Content),
  ]);
});

Deno.test("attachProofs() leaves no reasoning behind that only carried a proof, and no turn of such", () => {
  const empty = said();
  const turns = attachProofs([empty, said(thought([], "a")), said(thought([], "a"), call("a"))]);
  assertEquals(turns, [empty, said({ ...call("a"), proof: proof("a") } as Content)]);
});

Deno.test("attachProofs() leaves alone what no call carried", () => {
  const turns = [said(thought(["hm"]), call("a"))];
  assertEquals(attachProofs(turns), turns);
  assertEquals(attachProofs([said(thought(["hm"]), thought([], "a"), call("a"))]), [
    said(thought(["hm"]), { ...call("a"), proof: proof("a") } as Content),
  ]);
});
