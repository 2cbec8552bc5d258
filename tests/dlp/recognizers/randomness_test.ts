import { assert, assertEquals } from "@std/assert";
import { entropy, isPlaceholder, looksRandom, strangeness } from "../../../src/dlp/recognizers/randomness.ts";

Deno.test("entropy() counts bits in a unit", () => {
  assertEquals(entropy("aaaa"), 0);
  assertEquals(entropy("abab"), 1);
  assertEquals(entropy("abcdefgh"), 3);
});

Deno.test("strangeness() is low for words and high for letters drawn by chance", () => {
  for (const name of ["bytePairRankDecoder", "providerStateWithSdkEnvelopeFields", "isTokenLimit"]) {
    assert(strangeness(name) < 0.12, name);
  }
  for (const value of ["xzqvkjwpmd", "qsDGHwkrZtxMpLc"]) {
    assert(strangeness(value) > 0.2, value);
  }
});

Deno.test("looksRandom() accepts keys, and no names, paths, versions or constants", () => {
  for (
    const value of [
      "9c4f529c85bb9bbe727eba42d6085861",
      "b61acbe3-f7d0-1e57-d019-68bcd4939bf2",
      "kd93JsPq02LmVx7Y",
      "ynttclifiyarfsjfqwz",
    ]
  ) assert(looksRandom(value, true), value);
  for (
    const value of [
      "getSecretKeyFromEnvironment",
      "IBM866_RUSSIAN_MODEL",
      "request.headers.authorization2",
      "https://example.com/a1b2c3d4e5",
      "rc0.13.0_20230412_0712-SNAPSHOT",
      "token-counting-2024-11-01",
      "0xdeadbeefcafebabe",
      "aaaaaaaaaaaaaaaa1111",
    ]
  ) assertEquals(looksRandom(value, false), false, value);
});

Deno.test("isPlaceholder() knows stand-ins", () => {
  for (const value of ["your-api-key", "xxxxxxxx", "${TOKEN}", "AKIAIOSFODNN7EXAMPLE", "changeme1"]) {
    assert(isPlaceholder(value), value);
  }
  assertEquals(isPlaceholder("kd93JsPq02LmVx7Y"), false);
});
