/**
 * Bytes in JSON: data URLs (RFC 2397), base64, and conversion between media types and file extensions, for
 * all formats.
 */
import { Buffer } from "node:buffer";
import type { DocumentContent, Source } from "../exchange/prompt.ts";

/** Decodes `data:<type>[;param…][;base64],<bytes>`; anything else is a URL. */
export function decodeUrl(url: string): Source {
  if (!url.startsWith("data:") && !/^data:/i.test(url)) return { kind: "url", url };
  const comma = url.indexOf(",");
  if (comma < 0 || comma > 200) return { kind: "url", url };
  const [type, ...params] = url.slice(5, comma).split(";");
  const mediaType = type.trim() || "text/plain";
  const data = url.slice(comma + 1);
  if (params.some((p) => p.trim() === "base64")) {
    return { kind: "base64", mediaType, data: standardBase64(data) };
  }
  try {
    return { kind: "base64", mediaType, data: Buffer.from(decodeURIComponent(data)).toString("base64") };
  } catch {
    return { kind: "url", url };
  }
}

/**
 * Base64 as APIs require it: in one line, in the standard alphabet, padded. MIME encoders, such as Python's
 * `encodebytes`, break lines after 64 or 76 characters and after the last one; only these places are examined,
 * since the data may be large. Encoders for URLs write `-` and `_`, and often no padding.
 */
export function standardBase64(data: string): string {
  const breaks = /\s/.test(data.slice(0, 80)) || /\s$/.test(data.slice(-1));
  let text = breaks ? data.replace(/\s+/g, "") : data;
  if (text.includes("-") || text.includes("_")) text = text.replaceAll("-", "+").replaceAll("_", "/");
  const rest = text.length % 4;
  return rest === 2 || rest === 3 ? text + "=".repeat(4 - rest) : text;
}

/** The URL or data URL of a source; undefined for a stored file and for text. */
export function encodeUrl(source: Source): string | undefined {
  if (source.kind === "url") return source.url;
  if (source.kind === "base64") return dataUrl(source.mediaType, source.data);
}

/** @param data base64 */
export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}

/** Decodes base64 to UTF-8 text. */
export function decodeText(data: string): string {
  return Buffer.from(data, "base64").toString("utf8");
}

/**
 * Whether bytes of this type are text that a model can read.
 *
 * @param mediaType may have parameters (`text/plain; charset=utf-8`) and capitals
 */
export function isText(mediaType: string): boolean {
  return TEXT_TYPE.test(mediaType.split(";", 1)[0].trim().toLowerCase());
}

const TEXT_TYPE =
  /^text\/|^application\/(?:x-)?(?:json|jsonl|ndjson|xml|yaml|toml|csv|sql|sh|python|javascript|typescript|markdown|tex|latex)$|\+(?:json|xml|yaml)$/;

/** Media types by file extension. */
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

/** The media type of a file extension, such as `pdf`, in lower case; undefined: unknown. */
export function typeOfEnding(ending: string): string | undefined {
  return Object.hasOwn(MEDIA_TYPES, ending) ? MEDIA_TYPES[ending] : undefined;
}

/** The usual extension of a media type; `bin` if unknown. */
export function endingOfType(mediaType: string): string {
  for (const ending in MEDIA_TYPES) if (MEDIA_TYPES[ending] === mediaType) return ending;
  return "bin";
}

/** The media type by file name; `application/octet-stream` if unknown. */
export function typeOfName(name: string | undefined): string {
  return typeOfEnding(name?.slice(name.lastIndexOf(".") + 1).toLowerCase() ?? "") ?? UNKNOWN_TYPE;
}

/** The type that clients send for files of unknown type. */
export const UNKNOWN_TYPE = "application/octet-stream";

/** `%PDF-` in base64. */
const PDF_MAGIC = "JVBERi";

/** The type of a file: as declared, or by its first bytes, its name, or because all of it is text. */
export function typeOfFile({ mediaType, data }: { mediaType: string; data: string }, name?: string): string {
  if (mediaType.split(";", 1)[0].trim().toLowerCase() !== UNKNOWN_TYPE) return mediaType;
  if (data.startsWith(PDF_MAGIC)) return "application/pdf";
  const image = typeOfImage(UNKNOWN_TYPE, data);
  if (image !== UNKNOWN_TYPE) return image;
  const named = typeOfName(name);
  return named === UNKNOWN_TYPE && textOfBytes(data) !== undefined ? "text/plain" : named;
}

/**
 * The type of an image by its first bytes, else as declared. OpenAI ignores the declared type, so clients of
 * its formats often send a wrong one; other APIs reject an image of a type other than declared.
 */
export function typeOfImage(mediaType: string, data: string): string {
  if (data.startsWith("iVBORw0KGgo")) return "image/png";
  if (data.startsWith("/9j/")) return "image/jpeg";
  if (data.startsWith("R0lGOD")) return "image/gif";
  // RIFF, any length, WEBP.
  if (data.startsWith("UklGR") && data.startsWith("XRUJQ", 11)) return "image/webp";
  return mediaType === "image/jpg" ? "image/jpeg" : mediaType;
}

/**
 * The source text of an SVG image; undefined: another type. No API accepts SVG as an image, but models read its
 * source.
 */
export function textOfSvg(source: Source): string | undefined {
  if (source.kind !== "base64" || !/^image\/svg\b/i.test(source.mediaType)) return undefined;
  return textOfBytes(source.data);
}

/** What is said about a document, and its text, if it has one. */
export function titledText({ name, context }: DocumentContent, text: string): string {
  return [name, context, text].filter((piece) => piece !== undefined && piece !== "").join("\n\n");
}

/** URL of an image. A type that is none of an image, such as that of `data:;base64,…`, is replaced. */
export function imageUrl(source: Source): string | undefined {
  return source.kind === "base64" && !source.mediaType.startsWith("image/")
    ? dataUrl(typeOfImage(source.mediaType, source.data), source.data)
    : encodeUrl(source);
}

/** The text in base64 data; undefined: not text. */
export function textOfBytes(data: string): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.fromBase64(data));
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Converts `input_audio.format` (`wav`, `mp3`) to a media type. */
export function audioType(format: string): string {
  return format === "mp3" ? "audio/mpeg" : `audio/${format}`;
}

/** OpenAI's name of an audio format: `mp3`, `wav`. */
export function audioFormat(mediaType: string): string {
  const [subtype] = mediaType.slice(mediaType.indexOf("/") + 1).split(";", 1);
  const name = subtype.replace(/^x-/, "");
  return name === "mpeg" ? "mp3" : name === "wave" || name === "vnd.wave" ? "wav" : name;
}

/** Raw audio samples, whose pieces can be concatenated, unlike WAV or MP3 files. */
export function isRawAudio(mediaType: string): boolean {
  return /^audio\/(?:l16|l24|pcm)\b/i.test(mediaType);
}

/** Concatenates base64 pieces that were encoded separately, and may have padding. */
export function joinBase64(pieces: readonly string[]): string {
  if (!pieces.slice(0, -1).some((p) => p.endsWith("=") || p.length % 4 !== 0)) return pieces.join("");
  return Buffer.concat(pieces.map((p) => Buffer.from(p, "base64"))).toString("base64");
}
