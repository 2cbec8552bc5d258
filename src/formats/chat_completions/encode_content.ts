/**
 * Content parts of messages, both ways.
 *
 * Officially text, image_url, input_audio, file and refusal; dialects add video_url, document_url (Mistral), file_url
 * (Perplexity) and thinking (Mistral). A part of any other type is kept as it is for providers of this API.
 */
import { Failure, type Mistake } from "../../exchange/failure.ts";
import { array, isObject, type Loose, object, rest, string } from "../../exchange/json.ts";
import type {
  AudioContent,
  CacheMark,
  Content,
  DocumentContent,
  Extra,
  FormatName,
  ImageContent,
  TextContent,
} from "../../exchange/prompt.ts";
import { extraOf } from "../../exchange/prompt.ts";
import {
  audioFormat,
  audioType,
  decodeText,
  decodeUrl,
  encodeUrl,
  isText,
  typeOfName,
  UNKNOWN_TYPE,
} from "./media.ts";
import { replayProof } from "./reasoning.ts";
import { mistake, type Path, unsupported, wrongKind } from "../validation.ts";

const FORMAT: FormatName = "chat_completions";

/** `cache_control` as a mark. */
export function decodeCache(value: unknown): CacheMark | undefined {
  if (!isObject(value)) return undefined;
  const ttl = string(value.ttl);
  return ttl === undefined ? {} : { ttl };
}

export function encodeCache(mark: CacheMark): Loose {
  return { type: "ephemeral", ...(mark.ttl !== undefined && { ttl: mark.ttl }) };
}

export function bag(fields: Loose | undefined): Extra | undefined {
  return fields && { format: FORMAT, fields };
}

const TEXT_KEYS: ReadonlySet<string> = new Set(["type", "text", "cache_control"]);

/** A list of content parts. */
export function decodeParts(list: readonly unknown[], loc: Path, mistakes: Mistake[]): Content[] {
  const contents: Content[] = [];
  for (let i = 0; i < list.length; i++) {
    const at = [...loc, i];
    const part = list[i];
    if (typeof part === "string") contents.push({ type: "text", text: part });
    else if (!isObject(part)) wrongKind(mistakes, at, "a content part", "dict_type", part);
    else {
      const content = decodePart(part, at, mistakes);
      if (content) contents.push(content);
    }
  }
  return contents;
}

function decodePart(part: Loose, loc: Path, mistakes: Mistake[]): Content | undefined {
  switch (part.type) {
    case "text":
    case "input_text":
    case "output_text":
      if (typeof part.text !== "string") {
        return void wrongKind(mistakes, [...loc, "text"], "a string", "string_type", part.text);
      }
      return marked<TextContent>({ type: "text", text: part.text }, part, rest(part, TEXT_KEYS));
    case "image_url":
      return decodeImage(part, loc, mistakes);
    case "input_audio":
      return decodeAudio(part, loc, mistakes);
    case "file":
      return decodeFile(part, loc, mistakes);
    case "video_url":
    case "document_url":
    case "file_url":
      return decodeAddress(part, part.type, loc, mistakes);
    case "refusal":
      if (typeof part.refusal !== "string") {
        return void wrongKind(mistakes, [...loc, "refusal"], "a string", "string_type", part.refusal);
      }
      return { type: "refusal", text: part.refusal };
    case "thinking": {
      const texts = array(part.thinking).map((piece) => string(object(piece).text) ?? "");
      return {
        type: "reasoning",
        sections: [typeof part.thinking === "string" ? part.thinking : texts.join("")],
        kind: "text",
        proof: replayProof({ field: "content" }),
        ...(part.closed !== undefined && { extra: bag({ closed: part.closed }) }),
      };
    }
    default:
      if (typeof part.type !== "string") {
        return void wrongKind(mistakes, [...loc, "type"], "the part's type", "string_type", part.type);
      }
      return { type: "opaque", format: FORMAT, value: part };
  }
}

/** Adds the cache mark and the unknown fields of a part. */
function marked<C extends Content>(content: C, part: Loose, unknown: Loose | undefined): C {
  const cache = decodeCache(part.cache_control);
  if (cache) content.cache = cache;
  if (unknown) content.extra = { format: FORMAT, fields: unknown };
  return content;
}

/** The part's unknown fields, with those of the object under `key` inside it. */
function unknownFields(part: Loose, key: string, known: ReadonlySet<string>): Loose | undefined {
  const outer = rest(part, new Set(["type", "cache_control", key]));
  const inner = isObject(part[key]) ? rest(part[key], known) : undefined;
  return inner ? { ...outer, [key]: inner } : outer;
}

const IMAGE_KEYS: ReadonlySet<string> = new Set(["url", "detail"]);
const AUDIO_KEYS: ReadonlySet<string> = new Set(["data", "format"]);
const FILE_KEYS: ReadonlySet<string> = new Set(["file_data", "file_id", "filename"]);
const URL_KEYS: ReadonlySet<string> = new Set(["url"]);

function decodeImage(part: Loose, loc: Path, mistakes: Mistake[]): Content | undefined {
  const url = typeof part.image_url === "string" ? part.image_url : object(part.image_url).url;
  if (typeof url !== "string") {
    return void wrongKind(mistakes, [...loc, "image_url", "url"], "a string", "string_type", url);
  }
  const detail = string(object(part.image_url).detail);
  return marked<ImageContent>(
    { type: "image", source: decodeUrl(url), ...(detail !== undefined && { detail }) },
    part,
    unknownFields(part, "image_url", IMAGE_KEYS),
  );
}

function decodeAudio(part: Loose, loc: Path, mistakes: Mistake[]): Content | undefined {
  const audio = part.input_audio;
  const data = typeof audio === "string" ? audio : object(audio).data;
  if (typeof data !== "string") {
    return void wrongKind(mistakes, [...loc, "input_audio", "data"], "a string", "string_type", data);
  }
  const format = string(object(audio).format) ?? "wav";
  return marked<AudioContent>(
    {
      type: "audio",
      source: /^(?:https?|data):/.test(data)
        ? decodeUrl(data)
        : { kind: "base64", mediaType: audioType(format), data },
    },
    part,
    unknownFields(part, "input_audio", AUDIO_KEYS),
  );
}

function decodeFile(part: Loose, loc: Path, mistakes: Mistake[]): Content | undefined {
  const file = object(part.file);
  const name = string(file.filename);
  const data = string(file.file_data);
  const id = string(file.file_id);
  if (data === undefined && id === undefined) {
    return void mistake(
      mistakes,
      "missing",
      [...loc, "file"],
      "expected file_data or file_id, got neither",
    );
  }
  return marked<DocumentContent>(
    {
      type: "document",
      source: data === undefined ? { kind: "file", id: id! } : decodeBytes(data, name),
      ...(name !== undefined && { name }),
    },
    part,
    unknownFields(part, "file", FILE_KEYS),
  );
}

/** An address, a data URL, or bare base64 whose kind only the file's name may tell. */
function decodeBytes(data: string, name: string | undefined) {
  return /^(?:https?|data|gs|s3):/.test(data)
    ? decodeUrl(data)
    : { kind: "base64" as const, mediaType: typeOfName(name), data };
}

function decodeAddress(part: Loose, key: string, loc: Path, mistakes: Mistake[]): Content | undefined {
  const url = typeof part[key] === "string" ? part[key] : object(part[key]).url;
  if (typeof url !== "string") {
    return void wrongKind(mistakes, [...loc, key, "url"], "a string", "string_type", url);
  }
  const unknown = unknownFields(part, key, URL_KEYS);
  if (key === "video_url") return marked({ type: "video", source: decodeUrl(url) }, part, unknown);
  const name = string(part.document_name) ?? string(part.file_name);
  // The type goes along: only its own dialect knows it, the official part is `file`.
  return marked<DocumentContent>(
    { type: "document", source: decodeBytes(url, name), ...(name !== undefined && { name }) },
    part,
    { ...unknown, type: key },
  );
}

/** A content as a part; undefined for what is no part of a message. `own`: the caller speaks this format. */
export function encodePart(content: Content, own: boolean): Loose | undefined {
  const fields = own && "extra" in content ? extraOf(content.extra, FORMAT) : undefined;
  const cache = own && "cache" in content && content.cache
    ? { cache_control: encodeCache(content.cache) }
    : undefined;
  switch (content.type) {
    case "text":
      return { ...fields, type: "text", text: content.text, ...cache };
    case "refusal":
      return own ? { type: "refusal", refusal: content.text } : { type: "text", text: content.text };
    case "image": {
      const url = encodeUrl(content.source);
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
      return content.format === FORMAT ? content.value : undefined;
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

/** Documents of text become text with a title: most providers of this API take no files. */
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
  if (source.kind === "text") return titled(content, source.text);
  if (!own && source.kind === "base64" && isText(source.mediaType)) {
    return titled(content, decodeText(source.data));
  }
  // The API wants a name beside bytes, and goes by its ending.
  const filename = name ?? (!own && source.kind === "base64" ? nameFor(source.mediaType) : undefined);
  const bytes = source.kind === "file" ? { file_id: source.id } : { file_data: encodeUrl(source) };
  const file = { ...inner(fields, "file"), ...(filename !== undefined && { filename }), ...bytes };
  return { ...fields, type: "file", file, ...cache };
}

function nameFor(mediaType: string): string {
  return mediaType === "application/pdf" ? "document.pdf" : "document";
}

function titled(content: DocumentContent, text: string): Loose {
  const head = [content.name, content.context].filter((line) => line !== undefined && line !== "");
  return { type: "text", text: [...head, text].join("\n\n") };
}
