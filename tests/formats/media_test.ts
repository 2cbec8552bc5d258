import { assertEquals } from "@std/assert";
import { audioFormat, audioType, decodeUrl, joinBase64 } from "../../src/formats/media.ts";
import { soundType } from "../../src/formats/chat_completions/decode_media_blocks.ts";

Deno.test("decodeUrl() data URLs, and what only looks like one", () => {
  assertEquals(decodeUrl("data:image/png;base64,AAAA"), {
    kind: "base64",
    mediaType: "image/png",
    data: "AAAA",
  });
  assertEquals(decodeUrl("data:text/plain;charset=utf-8;base64,YQ=="), {
    kind: "base64",
    mediaType: "text/plain",
    data: "YQ==",
  });
  assertEquals(decodeUrl("data:,a%20b"), { kind: "base64", mediaType: "text/plain", data: btoa("a b") });
  for (const url of ["https://a.test/x", "data:nothing", "data:,%"]) {
    assertEquals(decodeUrl(url), { kind: "url", url });
  }
});

Deno.test("audioType() and audioFormat() are each other's reverse", () => {
  for (const format of ["wav", "mp3", "flac", "opus", "pcm16"]) {
    assertEquals(audioFormat(audioType(format)), format);
  }
  assertEquals([audioFormat("audio/x-wav"), audioFormat("audio/mpeg")], ["wav", "mp3"]);
});

Deno.test("soundType() by the first bytes", () => {
  assertEquals(["UklGRgAA", "SUQzBAAA", "T2dnUwAC", "AAAA"].map(soundType), [
    "audio/wav",
    "audio/mpeg",
    "audio/ogg",
    "audio/pcm",
  ]);
});

Deno.test("joinBase64() of pieces with padding inside and without", () => {
  assertEquals(joinBase64(["YWJj", "ZA=="]), btoa("abcd"));
  assertEquals(joinBase64(["YQ==", "YmM=", "ZA=="]), btoa("abcd"));
  assertEquals(joinBase64([]), "");
});
