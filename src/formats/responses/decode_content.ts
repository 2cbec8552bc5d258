/**
 * Decodes content parts: `input_text`, `input_image`, `input_file`, `input_audio`, `input_video`,
 * `output_text`, `refusal`.
 *
 * Messages and tool results are decoded alike for all roles: clients send `output_text` as user and
 * `input_text` as assistant, and providers accept it.
 */
import { ownExtra } from "../../exchange/prompt.ts";
import { decodePartMark } from "../cache_mark.ts";
import { audioType, decodeUrl, standardBase64, typeOfName } from "../media.ts";
import type { Mistake } from "../../exchange/failure.ts";
import { isObject, type Loose, object, rest, string } from "../../exchange/json.ts";
import type {
  CacheMark,
  Content,
  DocumentContent,
  Extra,
  ImageContent,
  Source,
} from "../../exchange/prompt.ts";
import { mistake, type Path, shown, wrongKind } from "../validation.ts";

/** Decodes the parts of a message or result. Errors are added to `mistakes`. */
export function decodeParts(parts: readonly unknown[], loc: Path, mistakes: Mistake[]): Content[] {
  const content: Content[] = [];
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i];
    if (!isObject(part)) wrongKind(mistakes, [...loc, i], "a content part", "dict_type", part);
    else {
      const decoded = decodePart(part, [...loc, i], mistakes);
      if (decoded) content.push(decoded);
    }
  }
  return content;
}

const TEXT = new Set(["type", "text", "cache_control"]);

const REFUSAL = new Set(["type", "refusal"]);

const IMAGE = new Set(["type", "image_url", "file_id", "detail", "cache_control"]);

const FILE = new Set(["type", "file_data", "file_url", "file_id", "filename", "cache_control"]);

const AUDIO = new Set(["type", "input_audio", "cache_control"]);

const VIDEO = new Set(["type", "video_url", "cache_control"]);

function decodePart(part: Loose, loc: Path, mistakes: Mistake[]): Content | undefined {
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text": {
      const text = string(part.text);
      if (text === undefined) {
        return wrongKind(mistakes, [...loc, "text"], "a string", "string_type", part.text) as undefined;
      }
      return { type: "text", text, ...marks(part, TEXT) };
    }
    case "refusal":
      if (typeof part.refusal !== "string") {
        return wrongKind(
          mistakes,
          [...loc, "refusal"],
          "a string",
          "string_type",
          part.refusal,
        ) as undefined;
      }
      return { type: "refusal", text: part.refusal, ...marks(part, REFUSAL) };
    case "input_image":
      return decodeImage(part, loc, mistakes);
    case "input_file":
      return decodeFile(part, loc, mistakes);
    case "input_audio":
      return decodeAudio(part, loc, mistakes);
    case "input_video": {
      const url = string(part.video_url);
      if (url === undefined) {
        return wrongKind(
          mistakes,
          [...loc, "video_url"],
          "a string",
          "string_type",
          part.video_url,
        ) as undefined;
      }
      return { type: "video", source: decodeUrl(url), ...marks(part, VIDEO) };
    }
    default:
      mistake(
        mistakes,
        "literal_error",
        [...loc, "type"],
        "expected one of input_text, input_image, input_file, input_audio, input_video, output_text, refusal, got " +
          shown(part.type),
      );
      return undefined;
  }
}

/**
 * Fields of any part: unknown ones, and a cache breakpoint. `prompt_cache_breakpoint` belongs to this format
 * and is sent unchanged; `cache_control` does not, but callers send it for providers that support it.
 */
function marks(part: Loose, known: ReadonlySet<string>): { cache?: CacheMark; extra?: Extra } {
  const extra = ownExtra("responses", rest(part, known));
  const cache = decodePartMark(part);
  return { ...(cache && { cache }), ...(extra && { extra }) };
}

function decodeImage(part: Loose, loc: Path, mistakes: Mistake[]): ImageContent | undefined {
  // A string in this format; the nested form is that of chat-completions.
  const url = string(part.image_url) ?? string(object(part.image_url).url);
  const id = string(part.file_id);
  if (url === undefined && id === undefined) {
    return wrongKind(
      mistakes,
      [...loc, "image_url"],
      "an address, a data URL or a file_id",
      "string_type",
      part.image_url ?? undefined,
    ) as undefined;
  }
  const source: Source = url !== undefined ? decodeUrl(url) : { kind: "file", id: id! };
  const detail = string(part.detail);
  return { type: "image", source, ...(detail !== undefined && { detail }), ...marks(part, IMAGE) };
}

function decodeFile(part: Loose, loc: Path, mistakes: Mistake[]): DocumentContent | undefined {
  const data = string(part.file_data);
  const url = string(part.file_url);
  const id = string(part.file_id);
  const name = string(part.filename);
  let source: Source;
  if (data !== undefined) source = decodeData(data, name);
  else if (url !== undefined) source = decodeUrl(url);
  else if (id !== undefined) source = { kind: "file", id };
  else {
    mistake(
      mistakes,
      "missing",
      [...loc, "file_data"],
      "expected file_data, file_url or file_id, got nothing",
    );
    return undefined;
  }
  return { type: "document", source, ...(name !== undefined && { name }), ...marks(part, FILE) };
}

function decodeAudio(part: Loose, loc: Path, mistakes: Mistake[]): Content | undefined {
  const audio = object(part.input_audio);
  if (typeof audio.data !== "string") {
    return wrongKind(
      mistakes,
      [...loc, "input_audio", "data"],
      "base64 text",
      "string_type",
      audio.data,
    ) as undefined;
  }
  const format = string(audio.format) ?? "wav";
  const source: Source = {
    kind: "base64",
    mediaType: audioType(format),
    data: standardBase64(audio.data),
  };
  return { type: "audio", source, ...marks(part, AUDIO) };
}

/** `file_data` is a data URL; some clients send bare base64, and then the file name determines the type. */
function decodeData(data: string, name: string | undefined): Source {
  return data.startsWith("data:")
    ? decodeUrl(data)
    : { kind: "base64", mediaType: typeOfName(name ?? ".pdf"), data: standardBase64(data) };
}
