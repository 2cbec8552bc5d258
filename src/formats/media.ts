/**
 * Bytes inside JSON: data URLs (RFC 2397), base64, and media types by file name and back. One rule for all formats.
 */
import { Buffer } from "node:buffer";
import type { Source } from "../exchange/prompt.ts";

/** `data:<type>[;param…][;base64],<bytes>` as bytes; anything else is an address. */
export function decodeUrl(url: string): Source {
  if (!url.startsWith("data:")) return { kind: "url", url };
  const comma = url.indexOf(",");
  if (comma < 0 || comma > 200) return { kind: "url", url };
  const [type, ...params] = url.slice(5, comma).split(";");
  const mediaType = type.trim() || "text/plain";
  const data = url.slice(comma + 1);
  if (params.some((p) => p.trim() === "base64")) return { kind: "base64", mediaType, data };
  try {
    return { kind: "base64", mediaType, data: Buffer.from(decodeURIComponent(data)).toString("base64") };
  } catch {
    return { kind: "url", url };
  }
}

/** The address of bytes that may stand where a URL stands; undefined for a stored file and for text. */
export function encodeUrl(source: Source): string | undefined {
  if (source.kind === "url") return source.url;
  if (source.kind === "base64") return dataUrl(source.mediaType, source.data);
}

/** @param data base64 */
export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}

/** The text in base64 bytes of UTF-8. */
export function decodeText(data: string): string {
  return Buffer.from(data, "base64").toString("utf8");
}

/**
 * Whether bytes of this type are text that a model can read as such.
 *
 * @param mediaType may have parameters (`text/plain; charset=utf-8`) and capitals
 */
export function isText(mediaType: string): boolean {
  return TEXT_TYPE.test(mediaType.split(";", 1)[0].trim().toLowerCase());
}

const TEXT_TYPE =
  /^text\/|^application\/(?:x-)?(?:json|jsonl|ndjson|xml|yaml|toml|csv|sql|sh|python|javascript|typescript|markdown|tex|latex)$|\+(?:json|xml|yaml)$/;

/** Media types by the ending of a file name. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  json: "application/json",
  xml: "application/xml",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  heif: "image/heif",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  m4a: "audio/mp4",
  aac: "audio/aac",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
  mpeg: "video/mpeg",
};

/** The media type that an ending promises, such as `pdf`, in small letters; undefined for an unknown one. */
export function typeOfEnding(ending: string): string | undefined {
  return Object.hasOwn(MEDIA_TYPES, ending) ? MEDIA_TYPES[ending] : undefined;
}

/** The usual ending for a media type; `bin` for an unknown one. */
export function endingOfType(mediaType: string): string {
  for (const ending in MEDIA_TYPES) if (MEDIA_TYPES[ending] === mediaType) return ending;
  return "bin";
}

/** The type that a file name promises; `application/octet-stream` for an unknown one. */
export function typeOfName(name: string | undefined): string {
  return typeOfEnding(name?.slice(name.lastIndexOf(".") + 1).toLowerCase() ?? "") ?? UNKNOWN_TYPE;
}

/** What clients say of a file whose type they do not know. */
export const UNKNOWN_TYPE = "application/octet-stream";

/** `%PDF-` in base64. */
const PDF_MAGIC = "JVBERi";

/** The type of a file by what its client says, or else by its first bytes, by its name, or because all of it is text. */
export function typeOfFile({ mediaType, data }: { mediaType: string; data: string }, name?: string): string {
  if (mediaType.split(";", 1)[0].trim().toLowerCase() !== UNKNOWN_TYPE) return mediaType;
  if (data.startsWith(PDF_MAGIC)) return "application/pdf";
  const named = typeOfName(name);
  return named === UNKNOWN_TYPE && textOfBytes(data) !== undefined ? "text/plain" : named;
}

/** The text that base64 holds; undefined: it is none. */
export function textOfBytes(data: string): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.fromBase64(data));
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** `input_audio.format` (`wav`, `mp3`) as a media type, and back. */
export function audioType(format: string): string {
  return format === "mp3" ? "audio/mpeg" : `audio/${format}`;
}

/** The name of a sound's format as OpenAI has it: `mp3`, `wav`. */
export function audioFormat(mediaType: string): string {
  const name = mediaType.slice(mediaType.indexOf("/") + 1).replace(/^x-/, "").replace(/;.*$/, "");
  return name === "mpeg" ? "mp3" : name === "wave" || name === "vnd.wave" ? "wav" : name;
}

/** Samples without a container: pieces of them join to a longer sound, which pieces of a WAV or MP3 file do not. */
export function isRawAudio(mediaType: string): boolean {
  return /^audio\/(?:l16|l24|pcm)\b/i.test(mediaType);
}

/** Base64 pieces, each encoded by itself, as one: a padded piece cannot simply be followed by another. */
export function joinBase64(pieces: readonly string[]): string {
  if (!pieces.slice(0, -1).some((p) => p.endsWith("=") || p.length % 4 !== 0)) return pieces.join("");
  return Buffer.concat(pieces.map((p) => Buffer.from(p, "base64"))).toString("base64");
}
