/** Encodes contents of a turn as content blocks for a provider. */
import { encodeCacheMark } from "../cache_mark.ts";
import { isText, textOfBytes, textOfSvg, typeOfFile, typeOfImage } from "../media.ts";
import { Failure } from "../../exchange/failure.ts";
import { argumentsObject, type Loose } from "../../exchange/json.ts";
import {
  type Content,
  type DocumentContent,
  extraOf,
  type ImageContent,
  type ReasoningContent,
  type ResultContent,
} from "../../exchange/prompt.ts";
import { replayedCitations } from "./citations.ts";
import { textOfBlocks } from "./decode_content.ts";
import { legalId } from "./encode_turn_order.ts";
import { INSIDE, MARKED, WHOLE_BLOCK } from "../whole_blocks.ts";

export function encodeContents(contents: readonly Content[], own: boolean): Loose[] {
  const blocks: Loose[] = [];
  let wholeDocument = false;
  for (const c of contents) {
    // Images within a document are part of its source, unless its text was changed.
    if (c.type === "image" && extraOf(c.extra, "messages")?.[INSIDE]) {
      if (!wholeDocument) blocks.push(encodeImage({ ...c, extra: undefined }, own));
      continue;
    }
    const block = encodeContent(c, own);
    wholeDocument = c.type === "document" && (block?.source as Loose | undefined)?.type === "content";
    if (block) blocks.push(block);
  }
  return blocks;
}

function encodeContent(c: Content, own: boolean): Loose | undefined {
  switch (c.type) {
    case "text": {
      const whole = own ? extraOf(c.extra, "messages")?.[WHOLE_BLOCK] : undefined;
      if (whole !== undefined) return whole as Loose;
      // "text content blocks must be non-empty"; for other callers blank text is removed too.
      if (c.text === "" || (!own && c.text.trim() === "")) return undefined;
      const citations = own ? replayedCitations(c.citations) : [];
      return { type: "text", text: c.text, ...(citations.length > 0 && { citations }), ...ownFields(c) };
    }
    case "refusal":
      return c.text.trim() === "" ? undefined : { type: "text", text: c.text, ...ownFields(c) };
    case "image":
      return encodeImage(c, own);
    case "document":
      return encodeDocument(c, own);
    case "search-result": {
      const { [MARKED]: marked, ...fields } = ownFields(c);
      const whole = marked !== undefined && textOfBlocks({ content: marked }) === c.texts.join("\n\n");
      return {
        type: "search_result",
        source: c.url,
        title: c.title,
        content: whole ? marked : c.texts.map((text) => ({ type: "text", text })),
        ...(c.cite && { citations: { enabled: true } }),
        ...fields,
      };
    }
    case "audio":
    case "video":
      throw new Failure(
        "feature_not_supported",
        `Cannot send ${c.type}: the API of this model's provider takes text, images and documents.`,
        { param: "messages" },
      );
    case "reasoning":
      return encodeReasoning(c);
    case "call":
      return {
        type: "tool_use",
        id: legalId(c.id),
        name: c.name,
        input: c.kind === "custom" ? { input: c.arguments } : argumentsObject(c.arguments),
        ...ownFields(c),
      };
    case "result":
      return encodeResult(c, own);
    case "opaque":
      return c.format === "messages" ? c.value : undefined;
  }
}

/** The API accepts returned thinking only with its own signature, and unchanged. */
function encodeReasoning(c: ReasoningContent): Loose | undefined {
  if (c.proof?.api !== "messages") return undefined;
  if (c.proof.kind === "redacted") return { type: "redacted_thinking", data: c.proof.data };
  return {
    type: "thinking",
    thinking: c.sections.join("\n\n"),
    signature: c.proof.data,
    ...extraOf(c.extra, "messages"),
  };
}

function encodeResult(c: ResultContent, own: boolean): Loose {
  const blocks = encodeContents(c.content, own);
  const content = c.plain ? singleText(blocks) ?? blocks : blocks;
  return {
    type: "tool_result",
    tool_use_id: legalId(c.callId),
    ...(content.length > 0 && { content }),
    ...(c.isError && { is_error: true }),
    ...ownFields(c),
  };
}

function encodeImage(c: ImageContent, own: boolean): Loose {
  const { source } = c;
  const drawn = own ? undefined : textOfSvg(source);
  if (drawn !== undefined) return { type: "text", text: drawn, ...encodeCacheMark(c.cache) };
  switch (source.kind) {
    case "base64":
      return { type: "image", source: base64(source.mediaType, source.data, own), ...ownFields(c) };
    case "url":
      return { type: "image", source: { type: "url", url: source.url }, ...ownFields(c) };
    case "file":
      return { type: "image", source: storedFile(source.id, own), ...ownFields(c) };
    case "text":
      return { type: "text", text: source.text, ...encodeCacheMark(c.cache) };
  }
}

function base64(mediaType: string, data: string, own: boolean): Loose {
  return { type: "base64", media_type: own ? mediaType : typeOfImage(mediaType, data), data };
}

/** Longest title of a document. */
const LONGEST_TITLE = 500;

/** Undefined: a document of another format without a text. */
function encodeDocument(c: DocumentContent, own: boolean): Loose | undefined {
  const { source } = c;
  const raw = extraOf(c.extra, "messages")?.source as Loose | undefined;
  const title = own ? c.name : c.name?.slice(0, LONGEST_TITLE) || undefined;
  const context = own ? c.context : c.context || undefined;
  const words = {
    ...(title !== undefined && { title }),
    ...(context !== undefined && { context }),
    ...(c.cite && { citations: { enabled: true } }),
  };
  const document = (from: Loose) => ({ type: "document", ...words, ...ownFields(c), source: from });
  // The text of a document must not be empty.
  const written = (text: string) =>
    !own && text.trim() === "" ? undefined : document({ type: "text", media_type: "text/plain", data: text });
  switch (source.kind) {
    case "text": {
      if (raw?.type === "content" && textOfBlocks(raw) === source.text) return document(raw);
      return written(source.text);
    }
    case "url":
      return document(raw ?? { type: "url", url: source.url });
    case "file":
      return document(raw ?? storedFile(source.id, own));
    case "base64": {
      if (raw) return document(raw);
      const { data } = source;
      const mediaType = typeOfFile(source, c.name);
      if (mediaType === PDF) return document({ type: "base64", media_type: PDF, data });
      if (mediaType.startsWith("image/") && textOfSvg(source) === undefined) {
        return { type: "image", source: base64(mediaType, data, own), ...ownFields(c) };
      }
      const text = isText(mediaType) ? textOfBytes(data) : undefined;
      if (text !== undefined) return written(text);
      throw new Failure(
        "feature_not_supported",
        `Cannot send a document of type ${mediaType}: expected PDF, text or an image.`,
        { param: "messages" },
      );
    }
  }
}

function storedFile(id: string, own: boolean): Loose {
  if (own) return { type: "file", file_id: id };
  throw new Failure(
    "feature_not_supported",
    "Cannot send a stored file: its id means nothing to this model's provider. Send the bytes or an address.",
    { param: "messages" },
  );
}

const PDF = "application/pdf";

/** The text as a string, if it is the only content. */
export function singleText(blocks: readonly Loose[]): string | undefined {
  const [block] = blocks;
  if (blocks.length !== 1 || block.type !== "text" || Object.keys(block).length !== 2) return undefined;
  return block.text as string;
}

/** Cache breakpoint and fields of the same format. */
function ownFields(c: Content): Loose {
  return { ...encodeCacheMark(c.cache), ...extraOf(c.extra, "messages") };
}
