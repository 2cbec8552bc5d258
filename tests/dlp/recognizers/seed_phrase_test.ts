import { assertEquals } from "@std/assert";
import { entropyToMnemonic, validateMnemonic } from "npm:@scure/bip39@2.4.0";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { detector } from "../../../src/dlp/scan.ts";

const { scan } = detector(new Set(["SEED_PHRASE"]));

Deno.test("SEED_PHRASE reads the checksum of each length as the library does", () => {
  for (const bytes of [16, 20, 24, 28, 32]) {
    for (let seed = 0; seed < 20; seed++) {
      const entropy = Uint8Array.from(
        { length: bytes },
        (_, i) => (i * 97 + seed * 151 + (i * seed) ** 2) & 255,
      );
      const words = entropyToMnemonic(entropy, wordlist).split(" ");
      const phrase = words.join(" ");
      assertEquals(scan(phrase).map(({ start, end }) => phrase.slice(start, end)), [phrase]);
      const other = [...words.slice(0, -1), wordlist[(wordlist.indexOf(words.at(-1)!) + 1) % 2048]].join(" ");
      const valid = validateMnemonic(other, wordlist);
      assertEquals(scan(other).some(({ start, end }) => end - start === other.length), valid, other);
    }
  }
});
