/**
 * Encodes contents of a turn as content parts for a provider. Content that this API does not support is
 * refused (`feature_not_supported`).
 */
import { encodeCacheMark } from "../cache_mark.ts";
import { Failure } from "../../exchange/failure.ts";
import { type Loose, object } from "../../exchange/json.ts";
import { type Content, type DocumentContent, extraOf } from "../../exchange/prompt.ts";
import { unsupported } from "../validation.ts";
import {
  audioFormat,
  decodeText,
  encodeUrl,
  imageUrl,
  isText,
  textOfSvg,
  titledText,
  UNKNOWN_TYPE,
} from "../media.ts";

/** A content as a part; undefined if it is not part of a message. `own`: the caller uses this format. */
export function encodePart(content: Content, own: boolean): Loose | undefined {
  const fields = own && "extra" in content ? extraOf(content.extra, "chat_completions") : undefined;
  const mark = own && "cache" in content ? content.cache : undefined;
  const cache = mark && !mark.breakpoint ? encodeCacheMark(mark) : undefined;
  switch (content.type) {
    case "text":
      return { ...fields, type: "text", text: content.text, ...cache };
    case "refusal":
      return own ? { type: "refusal", refusal: content.text } : { type: "text", text: content.text };
    case "image": {
      const drawn = own ? undefined : textOfSvg(content.source);
      if (drawn !== undefined) return { type: "text", text: drawn };
      const url = imageUrl(content.source);
      if (url === undefined) throw noForm("an image by the id of a stored file");
      const detail = content.detail !== undefined && { detail: content.detail };
      return {
        ...fields,
        type: "image_url",
        image_url: { ...inner(fields, "image_url"), url, ...detail },
        ...cache,
      };
    }
    case "audio": {
      const { source } = content;
      if (source.kind === "base64") {
        const input = {
          ...inner(fields, "input_audio"),
          data: source.data,
          format: audioFormat(source.mediaType),
        };
        return { ...fields, type: "input_audio", input_audio: input, ...cache };
      }
      if (source.kind !== "url" || !own) throw noForm("audio by its address");
      return {
        ...fields,
        type: "input_audio",
        input_audio: { ...inner(fields, "input_audio"), data: source.url },
        ...cache,
      };
    }
    case "video": {
      const url = encodeUrl(content.source);
      if (url === undefined) throw noForm("a video by the id of a stored file");
      return { ...fields, type: "video_url", video_url: { ...inner(fields, "video_url"), url }, ...cache };
    }
    case "document":
      return encodeDocument(content, own, fields, cache);
    case "search-result":
      return { type: "text", text: [content.title, content.url, ...content.texts].join("\n") };
    case "opaque":
      return content.format === "chat_completions" ? content.value : undefined;
    default:
      return undefined;
  }
}

function inner(fields: Loose | undefined, key: string): Loose {
  return object(fields?.[key]);
}

function noForm(what: string): Failure {
  return unsupported(`The provider of this model does not take ${what}.`, "messages");
}

/** Text documents become text with a title: most providers of this API do not accept files. */
function encodeDocument(
  content: DocumentContent,
  own: boolean,
  fields: Loose | undefined,
  cache: Loose | undefined,
): Loose {
  const { source, name } = content;
  const dialect = fields?.type;
  if (dialect === "document_url" || dialect === "file_url") {
    const bare = source.kind === "base64" && source.mediaType === UNKNOWN_TYPE;
    const url = bare ? source.data : encodeUrl(source) ?? "";
    const value = dialect === "document_url" ? url : { ...inner(fields, dialect), url };
    return { ...fields, [dialect]: value, ...cache };
  }
  if (source.kind === "text") return { type: "text", text: titledText(content, source.text) };
  if (!own && source.kind === "base64" && isText(source.mediaType)) {
    return { type: "text", text: titledText(content, decodeText(source.data)) };
  }
  // The API requires a name for bytes, and uses its extension.
  const filename = (own ? name : name || undefined) ??
    (!own && source.kind === "base64" ? nameFor(source.mediaType) : undefined);
  const bytes = source.kind === "file" ? { file_id: source.id } : { file_data: encodeUrl(source) };
  const file = { ...inner(fields, "file"), ...(filename !== undefined && { filename }), ...bytes };
  return { ...fields, type: "file", file, ...cache };
}

function nameFor(mediaType: string): string {
  return mediaType === "application/pdf" ? "document.pdf" : "document";
}
