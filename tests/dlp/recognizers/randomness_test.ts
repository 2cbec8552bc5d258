import { assert, assertEquals } from "@std/assert";
import { drawing } from "../drawn_values.ts";
import {
  entropy,
  isPlaceholder,
  looksRandom,
  strangeness,
  wordy,
} from "../../../src/dlp/recognizers/randomness.ts";

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

Deno.test("wordy() and looksRandom() distinguish random letters and digits from names by the positions of capitals", () => {
  const draw = drawing(20261127);
  const base62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const missed = { wordy: 0, looksRandom: 0 };
  for (let i = 0; i < 2000; i++) {
    const value = Array.from({ length: 20 }, () => base62[draw(62)]).join("");
    if (wordy(value)) missed.wordy++;
    if (!looksRandom(value, true)) missed.looksRandom++;
  }
  assert(missed.wordy <= 15 && missed.looksRandom <= 15, JSON.stringify(missed));
  for (
    const name of [
      "xsltInitAllDocKeys",
      "HomeEfsFileSystemKmsKeyId",
      "X-Amz-Security-Token",
      "ExtraJarsS3Path",
    ]
  ) {
    assertEquals(looksRandom(name, false), false, name);
  }
  for (const name of ["personal_access_token_for_admins", "your-api-key-goes-here", "AccessTokenProvider"]) {
    assert(wordy(name), name);
  }
  assertEquals(looksRandom("int32/Elem=int32", false), false);
});
