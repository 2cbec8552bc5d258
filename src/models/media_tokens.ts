/**
 * Upper bound of an attachment's tokens, as far as determined by its bytes or the providers' documentation.
 *
 * | attachment | bound                                                                                          |
 * | ---------- | ---------------------------------------------------------------------------------------------- |
 * | image      | one token per 400 pixels plus 300, at most 10,000; 10,000 if its dimensions cannot be read     |
 * | audio      | 32 tokens per second of its duration: see `sound_length.ts`                                    |
 * | video      | one token per 20 bytes                                                                         |
 * | document   | one token per byte, plus 5,000                                                                 |
 *
 * Sources (July 2026): OpenAI "Images and vision" (32-pixel patches times at most 2.46, 10,000 patches at
 * detail `original`, 85 + 170 for each 512-pixel tile), Anthropic "Vision" (750 pixels a token), Google
 * "Understand and count tokens" (258 a tile or frame, 32 a second of audio), Anthropic "PDF support" (up to
 * 3,000 tokens of text a page, and its image). Attachments by URL or id may be as long as the model's
 * context.
 */
import { Buffer } from "node:buffer";
import type { Attachment, Source } from "../exchange/prompt.ts";
import { isText } from "../formats/media.ts";
import { soundSeconds } from "./sound_length.ts";

/** An attachment that only the provider can read. */
export const UNSEEN = Infinity;

const IMAGE_MOST = 10_000;
const IMAGE_LEAST = 300;
const PIXELS_PER_TOKEN = 400;
const AUDIO_TOKENS_PER_SECOND = 32;
const VIDEO_BYTES_PER_TOKEN = 20;
const DOCUMENT_LEAST = 5000;
/** Bytes per second. */
const RAW_RATE = 48_000;
/** Base64 characters of the start of an image that contain its dimensions, except for a JPEG with long metadata. */
const HEAD = 4096;

/** 0 for text, which is counted as text. */
export function mostTokens({ type, source }: Attachment): number {
  if (source.kind === "text") return 0;
  if (type === "image") return source.kind === "base64" ? imageTokens(source.data) : IMAGE_MOST;
  if (source.kind !== "base64") return UNSEEN;
  const bytes = bytesOf(source);
  switch (type) {
    case "audio":
      return Math.ceil(soundSeconds(source.data, source.mediaType, bytes) * AUDIO_TOKENS_PER_SECOND);
    case "video":
      return Math.ceil(bytes / VIDEO_BYTES_PER_TOKEN);
    case "document":
      return isText(source.mediaType) ? 0 : bytes + DOCUMENT_LEAST;
  }
}

/** Tokens of generated audio without a header: samples of 16 bits at 24 kHz. */
export function rawSoundTokens(data: string): number {
  return Math.ceil(Buffer.byteLength(data, "base64") / RAW_RATE * AUDIO_TOKENS_PER_SECOND);
}

/** Tokens of an image by its URL, which may hold it. */
export function imageAtMost(url: string): number {
  const data = /^data:[^,]{0,200};base64,/.exec(url);
  return data === null ? IMAGE_MOST : imageTokens(url.slice(data[0].length));
}

/** Approximate decoded size of base64 data. */
export function bytesOf(source: Extract<Source, { kind: "base64" }>): number {
  return Buffer.byteLength(source.data, "base64");
}

function imageTokens(data: string): number {
  const pixels = pixelsOf(Buffer.from(data.slice(0, HEAD), "base64"));
  if (pixels === null) return IMAGE_MOST;
  return Math.min(IMAGE_MOST, Math.ceil(pixels / PIXELS_PER_TOKEN) + IMAGE_LEAST);
}

/** Null: unknown image format, or the dimensions are not in the head. */
function pixelsOf(head: Buffer): number | null {
  if (head.length < 30) return null;
  if (head.readUInt32BE(0) === 0x89504e47) return head.readUInt32BE(16) * head.readUInt32BE(20);
  const name = head.toString("latin1", 0, 4);
  if (name === "GIF8") return head.readUInt16LE(6) * head.readUInt16LE(8);
  if (name === "RIFF" && head.toString("latin1", 8, 12) === "WEBP") return webpPixels(head);
  if (head.readUInt16BE(0) === 0xffd8) return jpegPixels(head);
  return null;
}

function webpPixels(head: Buffer): number | null {
  switch (head.toString("latin1", 12, 16)) {
    case "VP8 ":
      return (head.readUInt16LE(26) & 0x3fff) * (head.readUInt16LE(28) & 0x3fff);
    case "VP8L": {
      const bits = head.readUInt32LE(21);
      return ((bits & 0x3fff) + 1) * (((bits >>> 14) & 0x3fff) + 1);
    }
    case "VP8X":
      return (head.readUIntLE(24, 3) + 1) * (head.readUIntLE(27, 3) + 1);
    default:
      return null;
  }
}

/** Walks the segments up to the frame header. */
function jpegPixels(head: Buffer): number | null {
  for (let at = 2; at + 9 <= head.length;) {
    if (head[at] !== 0xff) return null;
    const marker = head[at + 1];
    // Frame headers are C0 to CF without the tables C4, C8 and CC.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker % 4 !== 0;
    if (isFrame || marker === 0xc0) return head.readUInt16BE(at + 5) * head.readUInt16BE(at + 7);
    at += 2 + head.readUInt16BE(at + 2);
  }
  return null;
}
