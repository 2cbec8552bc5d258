/**
 * Encodes images, documents, audio and video as blocks. Bytes are part of the request, or in S3; Bedrock does
 * not fetch other URLs.
 */
import { Buffer } from "node:buffer";
import { Failure } from "../../exchange/failure.ts";
import type { Loose } from "../../exchange/json.ts";
import type { Attachment, DocumentContent, Source } from "../../exchange/prompt.ts";
import { UnusedNames } from "../../exchange/unused_names.ts";
import { isText, textOfSvg, titledText, typeOfFile, typeOfImage, typeOfName } from "../media.ts";
import { bare, formatNames, formatOf } from "./media_types.ts";

/** Assigns valid document names. */
export class DocumentNames {
  readonly #unused = new UnusedNames([], 100);

  /** Letters, digits, single spaces, hyphens, parentheses and brackets; unique within a request. */
  take(name: string | undefined): string {
    const legal = (name ?? "").replace(/\.[a-z\d]{1,5}$/i, "").replace(/[^a-zA-Z0-9()-]+/g, " ").trim();
    // A number for uniqueness is added in brackets, which names themselves do not keep.
    return this.#unused.take(legal === "" ? "document" : legal).replace(/_(\d+)$/, " [$1]");
  }
}

/** No block for an empty text. Throws `feature_not_supported` for an unsupported type of file. */
export function encodeAttachment(c: Attachment, names: DocumentNames): Loose[] {
  if (c.type === "document") return encodeDocument(c, names);
  const { source, type } = c;
  // Text in place of an image.
  const said = source.kind === "text" ? source.text : textOfSvg(source);
  if (said !== undefined) return textBlocks(said);
  const from = encodeSource(type, source);
  const mediaType = source.kind !== "base64"
    ? typeOf(source)
    : type === "image"
    ? typeOfImage(source.mediaType, source.data)
    : source.mediaType;
  const format = formatOf(type, mediaType);
  if (format === undefined) throw refusal(type, `got ${mediaType.slice(0, 100)}`);
  return [{ [type]: { format, source: from } }];
}

/** Blank text is rejected. */
function textBlocks(text: string): Loose[] {
  return text.trim() === "" ? [] : [{ text }];
}

/** Clients also send images, audio and video as files. */
function encodeDocument(c: DocumentContent, names: DocumentNames): Loose[] {
  const { source } = c;
  const document = (format: string, from: Loose) => [{
    document: {
      format,
      name: names.take(c.name),
      source: from,
      ...(c.context !== undefined && c.context !== "" && { context: c.context }),
      ...(c.cite && { citations: { enabled: true } }),
    },
  }];
  if (source.kind === "text") {
    // The bytes of a document must not be empty.
    if (source.text.trim() === "") return textBlocks(titledText(c, ""));
    return document("txt", { bytes: Buffer.from(source.text).toString("base64") });
  }
  if (source.kind === "base64" && source.data === "") return textBlocks(titledText(c, ""));
  const mediaType = source.kind === "base64" ? typeOfFile(source, c.name) : typeOf(source);
  const type = MEDIA.find((kind) => bare(mediaType).startsWith(`${kind}/`));
  if (type !== undefined) {
    return encodeAttachment(
      { type, source: source.kind === "base64" ? { ...source, mediaType } : source },
      names,
    );
  }
  const from = encodeSource("document", source);
  const format = formatOf("document", mediaType) ?? (isText(mediaType) ? "txt" : undefined);
  if (format === undefined) throw refusal("document", `got ${mediaType.slice(0, 100)}`);
  return document(format, from);
}

const MEDIA = ["image", "audio", "video"] as const;

function encodeSource(type: Attachment["type"], source: Source): Loose {
  if (source.kind === "base64") return { bytes: source.data };
  const address = source.kind === "url" ? source.url : source.kind === "file" ? source.id : "";
  if (address.startsWith("s3://")) return { s3Location: { uri: address } };
  throw source.kind === "file"
    ? refusal(type, "got the id of a stored file")
    : refusal(type, "got an address, and nothing is fetched");
}

function typeOf(source: Source): string {
  if (source.kind === "url" && source.mediaType !== undefined) return source.mediaType;
  const address = source.kind === "url" ? source.url : source.kind === "file" ? source.id : "";
  return typeOfName(address);
}

function refusal(type: Attachment["type"], got: string): Failure {
  const kinds = formatNames(type).join(", ");
  return new Failure(
    "feature_not_supported",
    `Cannot send the ${type}: Bedrock takes its bytes or an s3:// address, as ${kinds}; ${got}.`,
    { param: "messages" },
  );
}
