import { assert, assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Attachment, Source } from "../../../src/exchange/prompt.ts";
import { encodeAttachment } from "../../../src/formats/gemini/encode_media.ts";

const b64 = (text: string) => new TextEncoder().encode(text).toBase64();
const bytes = (mediaType: string, data = "AA=="): Source => ({ kind: "base64", mediaType, data });
const inline = (mimeType: string) => [{ inlineData: { mimeType, data: "AA==" } }];
const file = (mimeType: string, fileUri: string) => [{ fileData: { mimeType, fileUri } }];

Deno.test("encodeAttachment() sends bytes, addresses and text each in its form", async (t) => {
  const url = (u: string, mediaType?: string): Source => ({ kind: "url", url: u, mediaType });
  const cases: [Attachment, unknown][] = [
    [{ type: "image", source: bytes("image/jpg") }, inline("image/jpeg")],
    [{ type: "image", source: bytes("image/webp") }, inline("image/webp")],
    [{ type: "audio", source: bytes("audio/wav; codecs=1") }, inline("audio/wav")],
    [
      { type: "audio", source: bytes("audio/L16;codec=pcm;rate=24000") },
      inline("audio/L16;codec=pcm;rate=24000"),
    ],
    [{ type: "document", source: bytes("audio/pcm; rate=16000") }, inline("audio/pcm; rate=16000")],
    [{ type: "video", source: bytes("video/mp4") }, inline("video/mp4")],
    [{ type: "document", source: bytes("application/pdf") }, inline("application/pdf")],
    [
      { type: "document", source: bytes("application/pdf"), name: "a.pdf", context: "read it" },
      [{ text: "Document: a.pdf\nread it" }, ...inline("application/pdf")],
    ],
    [{ type: "document", source: bytes("text/plain", b64("Grüße")) }, [{ text: "Grüße" }]],
    [{ type: "document", source: bytes("application/json", b64("{}")), name: "x.json" }, [{
      text: "Document: x.json\n\n{}",
    }]],
    [{ type: "document", source: { kind: "text", text: "t" }, name: "n" }, [{ text: "Document: n\n\nt" }]],
    [{ type: "image", source: url("https://x.org/a.PNG?w=1") }, file("image/png", "https://x.org/a.PNG?w=1")],
    [{ type: "image", source: url("https://x.org/a") }, file("image/jpeg", "https://x.org/a")],
    [{ type: "image", source: url("https://x.org/a", "image/gif") }, file("image/gif", "https://x.org/a")],
    [{ type: "document", source: url("https://x.org/a") }, file("application/pdf", "https://x.org/a")],
    [{ type: "video", source: url("https://youtu.be/abc") }, file("video/mp4", "https://youtu.be/abc")],
    [{ type: "audio", source: url("gs://b/a.wav") }, file("audio/wav", "gs://b/a.wav")],
    [{ type: "document", source: { kind: "file", id: "files/abc" } }, file("application/pdf", "files/abc")],
  ];
  for (const [attachment, expected] of cases) {
    await t.step(
      JSON.stringify(attachment),
      () => assertEquals<unknown>(encodeAttachment(attachment), expected),
    );
  }
});

Deno.test("encodeAttachment() refuses by name what Google cannot read", () => {
  const refuse = (source: Source) =>
    assertThrows(() => encodeAttachment({ type: "document", source }), Failure);
  const word = refuse(bytes("application/msword"));
  assertEquals(word.code, "feature_not_supported");
  assert(word.message.includes("application/msword"));
  assertEquals(refuse({ kind: "file", id: "file-abc123" }).code, "feature_not_supported");
  assertEquals(refuse(bytes("text/plain", "no base64!")).code, "validation_error");
});
