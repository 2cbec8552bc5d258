import { assertEquals } from "@std/assert";
import { createHash, createHmac } from "node:crypto";
import { hmac, sha256 } from "../../src/exchange/sha256.ts";

Deno.test("sha256() gives what the standard says", () => {
  const hash = (text: string) => sha256(new TextEncoder().encode(text)).toHex();
  assertEquals(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assertEquals(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assertEquals(
    hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  );
  assertEquals(
    hash("a".repeat(1_000_000)),
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
  );
});

Deno.test("sha256() and hmac() are those of node:crypto, for every length around the ends of blocks", () => {
  for (let length = 0; length <= 260; length++) {
    const bytes = crypto.getRandomValues(new Uint8Array(length));
    assertEquals(sha256(bytes).toHex(), createHash("sha256").update(bytes).digest("hex"), `${length}`);
    const key = crypto.getRandomValues(new Uint8Array(length * 7 % 200));
    assertEquals(
      hmac(key, bytes).toHex(),
      createHmac("sha256", key).update(bytes).digest("hex"),
      `${key.length} ${length}`,
    );
  }
});
