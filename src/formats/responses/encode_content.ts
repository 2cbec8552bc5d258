/**
 * Encodes contents as content parts for a provider: `input_text`, `input_image`, `input_file`, `input_audio`,
 * `input_video`, `output_text`, `refusal`.
 */
import { audioFormat, dataUrl, encodeUrl, endingOfType, imageUrl, textOfSvg, titledText } from "../media.ts";
import { Failure } from "../../exchange/failure.ts";
import { breakpointOf } from "../cache_mark.ts";
import { type Loose } from "../../exchange/json.ts";
import { type Content, type DocumentContent, extraOf, type ImageContent } from "../../exchange/prompt.ts";

/** Parts for a provider. `own`: the caller uses this format. */
export function encodeParts(content: readonly Content[], role: "input" | "output", own: boolean): Loose[] {
  const parts: Loose[] = [];
  for (const c of content) encodePart(c, role, own, parts);
  return parts;
}

function encodePart(c: Content, role: "input" | "output", own: boolean, out: Loose[]): void {
  /** The request field reported in errors. */
  const blame = own ? "input" : "messages";
  switch (c.type) {
    case "text":
      out.push({ ...(role === "input" ? fieldsOf(c) : ownFields(c)), type: `${role}_text`, text: c.text });
      return;
    case "refusal":
      out.push(
        role === "output"
          ? { ...ownFields(c), type: "refusal", refusal: c.text }
          : { type: "input_text", text: c.text },
      );
      return;
    case "image": {
      const drawn = own ? undefined : textOfSvg(c.source);
      if (drawn !== undefined) {
        out.push({ type: `${role}_text`, text: drawn });
        return;
      }
      if (role === "output") throw impossible("an image as the assistant's own words", blame);
      out.push({ ...fieldsOf(c), type: "input_image", ...imageSource(c, own, blame) });
      return;
    }
    case "document":
      if (role === "output") throw impossible("a file as the assistant's own words", blame);
      return encodeDocument(c, out);
    case "audio": {
      if (role === "output" || c.source.kind !== "base64") {
        throw impossible("audio that is not base64", blame);
      }
      const { mediaType, data } = c.source;
      const format = audioFormat(mediaType);
      out.push({ ...ownFields(c), type: "input_audio", input_audio: { data, format } });
      return;
    }
    case "search-result": {
      const text = [`${c.title}\n${c.url}`, ...c.texts].join("\n\n");
      out.push({ type: `${role}_text`, text });
      return;
    }
    case "video": {
      // OpenAI has no such part: it is sent only for callers of this format, whose provider may support it.
      const url = own && role === "input" ? encodeUrl(c.source) : undefined;
      if (url === undefined) throw impossible("video", blame);
      out.push({ ...ownFields(c), type: "input_video", video_url: url });
    }
  }
}

/** Fields of a part that only this format has. */
function ownFields({ extra }: Content): Loose | undefined {
  return extraOf(extra, "responses");
}

/** As above. The cache breakpoint is the same in both of OpenAI's APIs; here only texts, images and files of the input have it. */
function fieldsOf(c: Content): Loose | undefined {
  return ownFields(c) ?? breakpointOf(c.extra);
}

function impossible(what: string, blame: string): Failure {
  return new Failure(
    "feature_not_supported",
    `Cannot send ${what} to this model: its API has no form for it.`,
    {
      param: blame,
    },
  );
}

/** The official types require `detail`, so callers of other formats get the default. */
function imageSource(c: ImageContent, own: boolean, blame: string): Loose {
  const said = c.detail ?? (own ? undefined : "auto");
  const detail = said === undefined ? undefined : { detail: said };
  switch (c.source.kind) {
    case "file":
      return { file_id: c.source.id, ...detail };
    case "url":
      return { image_url: c.source.url, ...detail };
    case "base64":
      return { image_url: imageUrl(c.source), ...detail };
    default:
      throw impossible("text as an image", blame);
  }
}

function encodeDocument(c: DocumentContent, out: Loose[]): void {
  const extra = fieldsOf(c);
  if (c.context) out.push({ type: "input_text", text: c.context });
  switch (c.source.kind) {
    case "text": {
      const text = titledText({ ...c, context: undefined }, c.source.text);
      if (text !== "") out.push({ type: "input_text", text });
      return;
    }
    case "file":
      out.push({
        ...extra,
        type: "input_file",
        file_id: c.source.id,
        ...(c.name && extra && { filename: c.name }),
      });
      return;
    case "url":
      out.push({ ...extra, type: "input_file", file_url: c.source.url });
      return;
    case "base64": {
      // OpenAI rejects `file_data` without a name, and uses its extension.
      const filename = c.name || `document.${endingOfType(c.source.mediaType)}`;
      const file_data = dataUrl(c.source.mediaType, c.source.data);
      out.push({ ...extra, type: "input_file", filename, file_data });
      return;
    }
  }
}
