/** The API's file formats and their media types. */
import type { Attachment } from "../../exchange/prompt.ts";

/** Formats by media type. If a format has several, the first is used for decoding. */
const FORMATS: Readonly<Record<Attachment["type"], Readonly<Record<string, string>>>> = {
  image: {
    "image/png": "png",
    "image/jpeg": "jpeg",
    "image/jpg": "jpeg",
    "image/gif": "gif",
    "image/webp": "webp",
  },
  document: {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  },
  audio: {
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/flac": "flac",
    "audio/ogg": "ogg",
    "audio/opus": "opus",
    "audio/aac": "aac",
    "audio/mp4": "mp4",
    "audio/x-m4a": "m4a",
    "audio/m4a": "m4a",
    "audio/x-aac": "x-aac",
    "audio/x-matroska": "mka",
    "audio/webm": "webm",
    "audio/pcm": "pcm",
    "audio/pcm16": "pcm",
  },
  video: {
    "video/mp4": "mp4",
    "video/quicktime": "mov",
    "video/webm": "webm",
    "video/x-matroska": "mkv",
    "video/x-flv": "flv",
    "video/mpeg": "mpeg",
    "video/x-ms-wmv": "wmv",
    "video/3gpp": "three_gp",
  },
};

/** Undefined: not supported by the API. */
export function formatOf(type: Attachment["type"], mediaType: string): string | undefined {
  const name = bare(mediaType);
  return Object.hasOwn(FORMATS[type], name) ? FORMATS[type][name] : undefined;
}

/** The media type of a format in an answer. */
export function mediaTypeOf(type: Attachment["type"], format: string): string {
  const known = Object.entries(FORMATS[type]).find(([, name]) => name === format);
  return known?.[0] ?? `${type}/${format}`;
}

/** All supported formats of a kind. */
export function formatNames(type: Attachment["type"]): string[] {
  return [...new Set(Object.values(FORMATS[type]))];
}

/** A media type without parameters. */
export function bare(mediaType: string): string {
  return mediaType.split(";", 1)[0].trim().toLowerCase();
}
