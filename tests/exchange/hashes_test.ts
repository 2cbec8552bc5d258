/** The hashes that a start makes are those of `node:crypto`, before it is loaded and after. */
import { assert, assertEquals } from "@std/assert";
import { createHash, createHmac } from "node:crypto";
import {
  base64url,
  hmacSha256,
  loadNodeCrypto,
  nodeCrypto,
  randomBytes,
  sha256Hex,
} from "../../src/exchange/hashes.ts";

const TEXTS = [
  "",
  "a",
  "pepper",
  "naïve – 漢字 🙂",
  "lone \ud800 half",
  "x".repeat(63),
  "y".repeat(64),
  "z".repeat(1000),
];

function compare(): void {
  for (const text of TEXTS) {
    assertEquals(sha256Hex(text), createHash("sha256").update(text).digest("hex"));
    for (const key of ["", "key", "schlüssel", "k".repeat(65), new Uint8Array([0, 255, 7])]) {
      const made = hmacSha256(key, text);
      const expected = createHmac("sha256", key).update(text).digest();
      assertEquals([made.toHex(), base64url(made)], [
        expected.toString("hex"),
        expected.toString("base64url"),
      ]);
    }
  }
}

Deno.test("hashes are those of node:crypto, few, many, and once it is loaded", async () => {
  compare();
  for (let i = 0; i < 200; i++) sha256Hex(`${i}`);
  compare();
  await loadNodeCrypto();
  compare();
  assertEquals(nodeCrypto().createHash, createHash);
});

Deno.test("random bytes are as many as asked for, and differ", () => {
  assertEquals(randomBytes(6).length, 6);
  assert(randomBytes(32).toHex() !== randomBytes(32).toHex());
});
