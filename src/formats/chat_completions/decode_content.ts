/**
 * Decodes content parts of a caller's messages.
 *
 * Official types are text, image_url, input_audio, file and refusal; dialects add video_url, document_url
 * (Mistral), file_url (Perplexity) and thinking (Mistral). Parts of other types are kept unchanged for
 * providers of this API.
 */
import { ownExtra } from "../../exchange/prompt.ts";
import { decodePartMark } from "../cache_mark.ts";
import type { Mistake } from "../../exchange/failure.ts";
import { array, isObject, type Loose, object, rest, string } from "../../exchange/json.ts";
import type {
  AudioContent,
  Content,
  DocumentContent,
  ImageContent,
  TextContent,
} from "../../exchange/prompt.ts";
import { mistake, type Path, wrongKind } from "../validation.ts";
import { audioType, decodeUrl, standardBase64, typeOfName } from "../media.ts";
import { decodeBlock } from "./decode_anthropic_parts.ts";
import { replayProof } from "./reasoning.ts";

const TEXT_KEYS: ReadonlySet<string> = new Set(["type", "text", "cache_control"]);

/**
 * Decodes a list of content parts.
 * @param role of the message; absent: none that may have calls or results of Anthropic's format
 */
export function decodeParts(
  list: readonly unknown[],
  loc: Path,
  mistakes: Mistake[],
  role?: "user" | "assistant",
): Content[] {
  const contents: Content[] = [];
  for (let i = 0; i < list.length; i++) {
    const at = [...loc, i];
    const part = list[i];
    if (typeof part === "string") contents.push({ type: "text", text: part });
    else if (!isObject(part)) wrongKind(mistakes, at, "a content part", "dict_type", part);
    else {
      const content = decodePart(part, at, mistakes, role);
      if (content) contents.push(content);
    }
  }
  return contents;
}

function decodePart(
  part: Loose,
  loc: Path,
  mistakes: Mistake[],
  role: "user" | "assistant" | undefined,
): Content | undefined {
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
        ...(part.closed !== undefined && { extra: ownExtra("chat_completions", { closed: part.closed }) }),
      };
    }
    default:
      if (typeof part.type !== "string") {
        return void wrongKind(mistakes, [...loc, "type"], "the part's type", "string_type", part.type);
      }
      return decodeBlock(part, role, { loc, mistakes, decodeParts }) ??
        { type: "opaque", format: "chat_completions", value: part };
  }
}

/** Adds the cache breakpoint and the unknown fields of a part. */
function marked<C extends Content>(content: C, part: Loose, unknown: Loose | undefined): C {
  const cache = decodePartMark(part);
  if (cache) content.cache = cache;
  if (unknown) content.extra = { format: "chat_completions", fields: unknown };
  return content;
}

/** Unknown fields of the part, and of the nested object under `key`. */
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
        : { kind: "base64", mediaType: audioType(format), data: standardBase64(data) },
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

/** A URL, a data URL, or bare base64, whose type is derived from the file name. */
function decodeBytes(data: string, name: string | undefined) {
  return /^(?:https?|data|gs|s3):/.test(data)
    ? decodeUrl(data)
    : { kind: "base64" as const, mediaType: typeOfName(name), data: standardBase64(data) };
}

function decodeAddress(part: Loose, key: string, loc: Path, mistakes: Mistake[]): Content | undefined {
  const url = typeof part[key] === "string" ? part[key] : object(part[key]).url;
  if (typeof url !== "string") {
    return void wrongKind(mistakes, [...loc, key, "url"], "a string", "string_type", url);
  }
  const unknown = unknownFields(part, key, URL_KEYS);
  if (key === "video_url") return marked({ type: "video", source: decodeUrl(url) }, part, unknown);
  const name = string(part.document_name) ?? string(part.file_name);
  // The type is kept, since only its dialect knows it; the official part is `file`.
  return marked<DocumentContent>(
    { type: "document", source: decodeBytes(url, name), ...(name !== undefined && { name }) },
    part,
    { ...unknown, type: key },
  );
}
