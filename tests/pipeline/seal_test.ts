import { assertEquals } from "@std/assert";
import type { Proof } from "../../src/exchange/proof.ts";
import { lateSealer, sealer } from "../../src/pipeline/seal.ts";

const key = (byte: number) => new Uint8Array(32).fill(byte);
const PROOF: Proof = { api: "messages", kind: "signature", data: "abc" };

Deno.test("lateSealer() seals for itself until the shared secret comes, and keeps reading what it sealed", async () => {
  let tries = 0;
  const came = Promise.withResolvers<void>();
  const lateOf = lateSealer(key(1), () => {
    if (++tries < 3) return Promise.reject(new Error("away"));
    came.resolve();
    return Promise.resolve(key(2));
  }, 0);
  const late = { ...lateOf.of("a"), close: lateOf.close };
  const others = sealer(key(2)).of("a");
  const before = late.seal(PROOF);
  assertEquals(late.unseal(before), PROOF);
  assertEquals(others.unseal(before), null);
  await came.promise;
  await Promise.resolve();
  assertEquals(others.unseal(late.seal(PROOF)), PROOF);
  assertEquals(late.unseal(others.seal(PROOF)), PROOF);
  assertEquals(late.unseal(before), PROOF);
  late.close();
});

const PROOFS: Proof[] = [
  PROOF,
  { api: "responses", kind: "encrypted", data: "", id: "rs_1" },
  { api: "gemini", kind: "thought", data: "ä\u0000", call: "call_1" },
  { api: "gemini", kind: "thought", data: "x", on: "media" },
];

Deno.test("sealer() gives back what it sealed, field by field", () => {
  const { seal, unseal } = sealer(key(1)).of("a");
  for (const proof of PROOFS) assertEquals(unseal(seal(proof)), proof);
});

Deno.test("sealer() unseals nothing that was changed, cut, lengthened or sealed elsewhere", () => {
  const { seal, unseal } = sealer(key(1)).of("a");
  const sealed = seal(PROOF);
  const dot = sealed.lastIndexOf(".");
  const other = seal({ ...PROOF, data: "abd" });
  for (
    const text of [
      "",
      "abc",
      "svc1.",
      "svc1..",
      sealed.slice(0, dot),
      sealed.slice(0, -4),
      `${sealed}AAAA`,
      `${sealed.slice(0, dot)}.`,
      other.slice(0, other.lastIndexOf(".")) + sealed.slice(dot),
      sealer(key(2)).of("a").seal(PROOF),
      sealer(key(1)).of("b").seal(PROOF),
      sealer(key(1)).of("").seal(PROOF),
    ]
  ) {
    assertEquals(unseal(text), null, text);
  }
});
