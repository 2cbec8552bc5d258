import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import type { Content } from "../../src/exchange/prompt.ts";
import { mostTokens } from "../../src/models/media_tokens.ts";

type Attachment = Parameters<typeof mostTokens>[0];

const bytes = (type: Attachment["type"], mediaType: string, data: Uint8Array): Attachment => ({
  type,
  source: { kind: "base64", mediaType, data: Buffer.from(data).toString("base64") },
});
const image = (head: Buffer) =>
  mostTokens(bytes("image", "image/png", Buffer.concat([head, Buffer.alloc(64)])));

function png(width: number, height: number): Buffer {
  const head = Buffer.from("89504e470d0a1a0a0000000d494844520000000000000000", "hex");
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return head;
}

function jpeg(width: number, height: number, before = Buffer.alloc(0)): Buffer {
  const frame = Buffer.from("ffc2001108000000000301", "hex");
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  const segment = Buffer.concat([Buffer.from([0xff, 0xe1, 0, before.length + 2]), before]);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), segment, frame]);
}

Deno.test("mostTokens() of an image goes by its size, whatever its kind", () => {
  // 400,000 pixels.
  assertEquals(image(png(800, 500)), 1300);
  assertEquals(image(jpeg(800, 500)), 1300);
  assertEquals(image(jpeg(800, 500, Buffer.alloc(100))), 1300);
  assertEquals(image(Buffer.from("4749463839612003f401", "hex")), 1300);
  const vp8x = Buffer.concat([Buffer.from("RIFF....WEBPVP8X............"), Buffer.alloc(2)]);
  vp8x.writeUIntLE(799, 24, 3);
  vp8x.writeUIntLE(499, 27, 3);
  assertEquals(image(vp8x), 1300);
  assertEquals(image(png(10_000, 10_000)), 10_000);
  assertEquals(image(Buffer.from("what is this?")), 10_000);
  assertEquals(mostTokens({ type: "image", source: { kind: "url", url: "https://a.test" } }), 10_000);
});

Deno.test("mostTokens() of silence, which takes hardly any bytes, goes by what the file tells of its length", () => {
  // An hour of each, at 32 tokens a second.
  const HOUR = 3600 * 32;
  const flac = Buffer.alloc(200);
  flac.write("fLaC", "latin1");
  flac.writeUIntBE(16_000 << 4, 18, 3);
  flac.writeUInt32BE(16_000 * 3600, 22);
  assertEquals(mostTokens(bytes("audio", "audio/flac", flac)), HOUR);
  const page = (position: number, inside: string) => {
    const head = Buffer.alloc(28);
    head.write("OggS", "latin1");
    head.writeBigUInt64LE(BigInt(position), 6);
    return Buffer.concat([head, Buffer.from(inside, "latin1"), Buffer.alloc(60)]);
  };
  const filling = Buffer.alloc(400_001, 7);
  const opus = Buffer.concat([page(0, "OpusHead"), filling, page(48_000 * 3600, "")]);
  assertEquals(mostTokens(bytes("audio", "audio/ogg", opus)), HOUR);
  const vorbis = Buffer.concat([page(0, "\x01vorbis....."), filling, page(8000 * 3600, "")]);
  vorbis.writeUInt32LE(8000, 40);
  assertEquals(mostTokens(bytes("audio", "audio/ogg", vorbis)), HOUR);
  // A rate of bytes far above that of the samples.
  const wav = Buffer.alloc(3600 * 1000);
  wav.write("RIFF....WAVEfmt ", "latin1");
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(1000, 24);
  wav.writeUInt32LE(4_000_000_000, 28);
  wav.writeUInt16LE(8, 34);
  assertEquals(mostTokens(bytes("audio", "audio/wav", wav)), HOUR);
  // Nothing is told: half of the lowest rate of MP3.
  assertEquals(mostTokens(bytes("audio", "audio/webm", Buffer.alloc(48_000, 1))), 3200);
});

Deno.test("mostTokens() of sound goes by the rate of a WAV file, else by the lowest rate in use", () => {
  const wav = Buffer.alloc(32_000);
  wav.write("RIFF....WAVEfmt ", "latin1");
  wav.writeUInt32LE(16_000, 28);
  assertEquals(mostTokens(bytes("audio", "audio/wav", wav.subarray(0, 31_998))), 64);
  assertEquals(mostTokens(bytes("audio", "audio/mpeg", Buffer.alloc(3000, 1))), 100);
  assertEquals(mostTokens(bytes("video", "video/mp4", Buffer.alloc(3000, 1))), 150);
});

Deno.test("mostTokens() of a document goes by its bytes; what is elsewhere has no bound", () => {
  assertEquals(mostTokens(bytes("document", "application/pdf", Buffer.alloc(300, 1))), 5300);
  assertEquals(mostTokens(bytes("document", "text/plain", Buffer.alloc(300, 65))), 0);
  const elsewhere: Content[] = ["document", "audio", "video"].map((type) => ({
    type: type as "document",
    source: { kind: "file", id: "f" },
  }));
  for (const content of elsewhere) assertEquals(mostTokens(content as Attachment), Infinity);
});
