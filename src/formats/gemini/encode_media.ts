/**
 * Encodes images, documents, audio and video as parts.
 *
 * Bytes are sent as `inlineData`; web URLs, YouTube, `gs://` and Google's file ids as `fileData`, which
 * Google fetches itself. Google supports images, audio, video and PDF; text files of any kind are sent as
 * text, everything else is refused.
 */
import { isRawAudio, isText, textOfSvg, typeOfEnding, typeOfFile, typeOfImage } from "../media.ts";
import { Failure } from "../../exchange/failure.ts";
import type { Attachment, DocumentContent, Source } from "../../exchange/prompt.ts";
import type { WirePart } from "./wire.ts";

/** The parts of a file: bytes or URL, preceded by its metadata as text. */
export function encodeAttachment(c: Attachment): WirePart[] {
  const part = encodeSource(c.type, c.type === "document" ? typed(c) : c.source);
  if (c.type !== "document") return [part];
  if (part.text !== undefined) {
    const text = documentText(c, part.text);
    return text === "" ? [] : [{ text }];
  }
  const about = [c.name && `Document: ${c.name}`, c.context].filter(Boolean).join("\n");
  return about === "" ? [part] : [{ text: about }, part];
}

/** If the client did not know the type, it is determined by the first bytes or the file name. */
function typed({ source, name }: DocumentContent): Source {
  return source.kind === "base64" ? { ...source, mediaType: typeOfFile(source, name) } : source;
}

function documentText(c: DocumentContent, text: string): string {
  const head = [c.name && `Document: ${c.name}`, c.context].filter(Boolean).join("\n");
  return [head, text].filter((piece) => piece !== "").join("\n\n");
}

function encodeSource(type: Attachment["type"], source: Source): WirePart {
  switch (source.kind) {
    case "text":
      return { text: source.text };
    case "base64":
      return encodeBytes(type, source.mediaType, source.data);
    case "url":
      return {
        fileData: {
          mimeType: wireType(source.mediaType ?? typeOfUrl(type, source.url)),
          fileUri: source.url,
        },
      };
    case "file": {
      if (!/^(?:files\/|gs:\/\/|https:\/\/)/.test(source.id)) {
        throw new Failure(
          "feature_not_supported",
          `Cannot send the ${type}: expected its content, an address or a Google file id, got a file id of another provider.`,
        );
      }
      return { fileData: { mimeType: typeOfUrl(type, source.id), fileUri: source.id } };
    }
  }
}

function encodeBytes(type: Attachment["type"], mediaType: string, data: string): WirePart {
  const mimeType = type === "image" ? typeOfImage(wireType(mediaType), data) : wireType(mediaType);
  const drawn = textOfSvg({ kind: "base64", mediaType: mimeType, data });
  if (drawn !== undefined) return { text: drawn };
  if (/^(?:image|audio|video)\/|^application\/pdf$/.test(mimeType)) return { inlineData: { mimeType, data } };
  if (isText(mimeType)) return { text: decodeText(type, data) };
  throw new Failure(
    "feature_not_supported",
    `Cannot send the ${type}: expected an image, audio, video, PDF or text, got ${mediaType.slice(0, 100)}.`,
  );
}

function decodeText(type: string, data: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(data));
  } catch (cause) {
    throw new Failure("validation_error", `Cannot read the ${type}: expected base64 data.`, { cause });
  }
}

/**
 * Without parameters, and with Google's name; for raw audio the parameters are kept, since they define the
 * samples.
 */
function wireType(mediaType: string): string {
  const type = mediaType.split(";", 1)[0].trim().toLowerCase();
  return isRawAudio(type) ? mediaType.trim() : type === "image/jpg" ? "image/jpeg" : type;
}

const USUAL: Readonly<Record<Attachment["type"], string>> = {
  image: "image/jpeg",
  document: "application/pdf",
  audio: "audio/mpeg",
  video: "video/mp4",
};

/** Google requires a media type for each URL; it is derived from the extension, or the default of the kind. */
function typeOfUrl(type: Attachment["type"], url: string): string {
  const ending = /\.([a-z0-9]{2,5})(?:[?#]|$)/i.exec(url)?.[1].toLowerCase();
  const known = ending === "xml" ? "text/xml" : typeOfEnding(ending ?? "");
  return known ?? USUAL[type];
}
