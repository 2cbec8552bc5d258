/** Bytes inside JSON: data URLs, base64, and the names of their kinds. */
import { Buffer } from "node:buffer";
import type { Source } from "../../exchange/prompt.ts";

/** `data:<type>[;param…][;base64],<bytes>`; anything else is an address. */
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

/** The address of bytes that this API takes as one; undefined for a stored file and for text. */
export function encodeUrl(source: Source): string | undefined {
  if (source.kind === "url") return source.url;
  if (source.kind === "base64") return dataUrl(source.mediaType, source.data);
}

export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}

/** The text in base64 bytes of UTF-8. */
export function decodeText(data: string): string {
  return Buffer.from(data, "base64").toString("utf8");
}

/** Whether bytes of this type are text that a model can read as such. */
export function isText(mediaType: string): boolean {
  return /^text\/|^application\/(?:json|xml|yaml|x-yaml|javascript|x-ndjson)$|\+(?:json|xml)$/.test(
    mediaType.toLowerCase(),
  );
}

const TYPES_BY_SUFFIX: Readonly<Record<string, string>> = {
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
};

/** The type that a file name promises; bytes of no known kind otherwise. */
export function typeOfName(name: string | undefined): string {
  const suffix = name?.slice(name.lastIndexOf(".") + 1).toLowerCase() ?? "";
  return Object.hasOwn(TYPES_BY_SUFFIX, suffix) ? TYPES_BY_SUFFIX[suffix] : UNKNOWN_TYPE;
}

export const UNKNOWN_TYPE = "application/octet-stream";

/** `input_audio.format` as a media type, and back. */
export function audioType(format: string): string {
  return format === "mp3" ? "audio/mpeg" : `audio/${format}`;
}

export function audioFormat(mediaType: string): string {
  const name = mediaType.slice(mediaType.indexOf("/") + 1).replace(/^x-/, "").replace(/;.*$/, "");
  return name === "mpeg" ? "mp3" : name === "wave" || name === "vnd.wave" ? "wav" : name;
}

/** First base64 characters of sound files. The answer does not name its format; the request did. */
const SOUNDS: readonly (readonly [string, string])[] = [
  ["UklGR", "audio/wav"],
  ["SUQz", "audio/mpeg"],
  ["//", "audio/mpeg"],
  ["T2dnUw", "audio/ogg"],
  ["ZkxhQw", "audio/flac"],
];

export function soundType(data: string): string {
  return SOUNDS.find(([head]) => data.startsWith(head))?.[1] ?? "audio/pcm";
}

/** Base64 pieces, each encoded by itself, as one: a padded piece cannot simply be followed by another. */
export function joinBase64(pieces: readonly string[]): string {
  if (!pieces.slice(0, -1).some((p) => p.endsWith("=") || p.length % 4 !== 0)) return pieces.join("");
  return Buffer.concat(pieces.map((p) => Buffer.from(p, "base64"))).toString("base64");
}
