import { assertEquals } from "@std/assert";
import type { Proof } from "../../src/exchange/proof.ts";
import { lateSealer, sealer } from "../../src/pipeline/seal.ts";

const key = (byte: number) => new Uint8Array(32).fill(byte);
const PROOF: Proof = { api: "messages", kind: "signature", data: "abc" };

Deno.test("lateSealer() seals for itself until the shared secret comes, and keeps reading what it sealed", async () => {
  let tries = 0;
  const came = Promise.withResolvers<void>();
  const late = lateSealer(key(1), () => {
    if (++tries < 3) return Promise.reject(new Error("away"));
    came.resolve();
    return Promise.resolve(key(2));
  }, 0);
  const others = sealer(key(2));
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
