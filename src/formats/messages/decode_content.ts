/**
 * Decodes content blocks of a caller's messages. Errors are collected, so that one response lists all of
 * them.
 *
 * Blocks of searches made by the gateway are removed: their results are not kept between requests. Blocks
 * without an equivalent in the vocabulary (other server tools, `container_upload`) are kept unchanged for a
 * provider of this format.
 */
import { decodeUrl, standardBase64 } from "../media.ts";
import { array, isObject, type Loose, rest, string } from "../../exchange/json.ts";
import type { Content, Role, Source } from "../../exchange/prompt.ts";
import { isSealed, type Proof, type Unseal } from "../../exchange/proof.ts";
import { mistake, type Path, shown, wrongKind } from "../validation.ts";
import { SUMMARY_HEAD } from "../summary_head.ts";
import { decodeCitations } from "./citations.ts";
import { readToolChange } from "./decode_tools.ts";
import { type DecodeState, marks } from "./marks.ts";
import { decodeMedia } from "./media.ts";
import { INSIDE, MARKED, WHOLE_BLOCK } from "../whole_blocks.ts";

/** The context of contents; a tool result allows fewer kinds. */
type Place = Role | "result";

const known = (...names: string[]): ReadonlySet<string> => new Set(["type", "cache_control", ...names]);
const TEXT = known("text", "citations");
const IMAGE = known("source");
const DOCUMENT = known("source", "title", "context", "citations");
const SEARCH_RESULT = known("source", "title", "content", "citations");
const THINKING = known("thinking", "signature");
const REDACTED = known("data");
const CALL = known("id", "name", "input");
const RESULT = known("tool_use_id", "content", "is_error");

/** Decodes a string or an array of blocks. `plain`: it was a string. */
export function readContent(
  value: unknown,
  loc: Path,
  place: Place,
  state: DecodeState,
): { content: Content[]; plain: boolean } {
  if (typeof value === "string") return { content: [{ type: "text", text: value }], plain: true };
  const content: Content[] = [];
  if (!Array.isArray(value)) {
    wrongKind(state.mistakes, loc, "a string or an array", "list_type", value);
    return { content, plain: false };
  }
  for (let i = 0; i < value.length; i++) readBlock(value[i], [...loc, i], place, state, content);
  return { content, plain: false };
}

function readBlock(block: unknown, loc: Path, place: Place, state: DecodeState, out: Content[]): void {
  if (typeof block === "string") {
    out.push({ type: "text", text: block });
    return;
  }
  if (!isObject(block)) return wrongKind(state.mistakes, loc, "an object", "dict_type", block);
  const type = block.type;
  if (typeof type !== "string") {
    return wrongKind(state.mistakes, [...loc, "type"], "a string", "string_type", type);
  }
  switch (type) {
    case "text":
      return readText(block, loc, place, state, out);
    case "image": {
      const source = readSource(block.source, [...loc, "source"], state);
      if (source) out.push({ type: "image", source: source.source, ...marks(block, IMAGE, source.raw) });
      return;
    }
    case "document":
      return readDocument(block, loc, state, out);
    case "search_result":
      return readSearchResult(block, loc, state, out);
    case "tool_reference":
      return readReference(block, out);
  }
  if (place !== "result") {
    switch (type) {
      case "thinking": {
        const text = string(block.thinking) ?? "";
        const proof = readProof(string(block.signature), "signature", state.unseal);
        out.push({
          type: "reasoning",
          sections: text === "" ? [] : [text],
          kind: "text",
          ...(proof && { proof }),
          ...marks(block, THINKING),
        });
        return;
      }
      case "redacted_thinking": {
        const data = requiredString(block, "data", loc, state);
        const proof = readProof(data, "redacted", state.unseal);
        if (proof) {
          out.push({ type: "reasoning", sections: [], kind: "text", proof, ...marks(block, REDACTED) });
        }
        return;
      }
      case "tool_use": {
        const id = requiredString(block, "id", loc, state);
        const name = requiredString(block, "name", loc, state);
        if (id === undefined || name === undefined) return;
        const args = block.input === undefined ? "{}" : JSON.stringify(block.input);
        out.push({ type: "call", id, name, kind: "function", arguments: args, ...marks(block, CALL) });
        return;
      }
      case "tool_result":
        return readResult(block, loc, state, out);
      case "server_tool_use":
        if (block.name === "web_search") return;
        break;
      case "web_search_tool_result":
        state.searched = true;
        return;
      case "compaction":
        return readCompaction(block, loc, state, out);
      case "tool_addition":
      case "tool_removal": {
        const represented = readToolChange(block, loc, state);
        if (represented !== undefined) {
          out.push({ type: "opaque", format: "messages", value: block, ...(represented && { represented }) });
        }
        return;
      }
    }
  }
  out.push({ type: "opaque", format: "messages", value: block });
}

/**
 * The result of a search for tools, as by Claude Code, which then declares the tool. Providers of other formats
 * get a text: an empty result would mean that nothing was found.
 */
function readReference(block: Loose, out: Content[]): void {
  const name = string(block.tool_name) ?? "";
  if (name === "") {
    out.push({ type: "opaque", format: "messages", value: block });
    return;
  }
  const extra = { format: "messages" as const, fields: { [WHOLE_BLOCK]: block } };
  const { cache } = marks(block, EMPTY);
  out.push({ type: "text", text: `The tool ${name} can be called.`, extra, ...(cache && { cache }) });
}

/** For providers of other formats, the summary is used. */
function readCompaction(block: Loose, loc: Path, state: DecodeState, out: Content[]): void {
  array(block.tool_changes).forEach((change, i) => {
    if (isObject(change)) readToolChange(change, [...loc, "tool_changes", i], state);
  });
  const summary = string(block.content) ?? "";
  if (summary.trim() === "") {
    out.push({ type: "opaque", format: "messages", value: block });
    return;
  }
  const extra = { format: "messages" as const, fields: { [WHOLE_BLOCK]: block } };
  const { cache } = marks(block, EMPTY);
  out.push({ type: "text", text: SUMMARY_HEAD + summary, extra, ...(cache && { cache }) });
}

const EMPTY: ReadonlySet<string> = new Set();

function readText(block: Loose, loc: Path, place: Place, state: DecodeState, out: Content[]): void {
  const text = requiredString(block, "text", loc, state);
  if (text === undefined) return;
  const media = place === "assistant" ? decodeMedia(text) : undefined;
  if (media) {
    out.push(media);
    return;
  }
  const citations = decodeCitations(block.citations);
  out.push({ type: "text", text, ...(citations.length > 0 && { citations }), ...marks(block, TEXT) });
}

function readResult(block: Loose, loc: Path, state: DecodeState, out: Content[]): void {
  const callId = requiredString(block, "tool_use_id", loc, state);
  const { content, plain } = block.content === undefined || block.content === null || block.content === ""
    ? { content: [], plain: false }
    : readContent(block.content, [...loc, "content"], "result", state);
  if (callId === undefined) return;
  out.push({
    type: "result",
    callId,
    kind: "function",
    content,
    isError: block.is_error === true,
    ...(plain && { plain }),
    ...marks(block, RESULT),
  });
}

function readSearchResult(block: Loose, loc: Path, state: DecodeState, out: Content[]): void {
  const url = requiredString(block, "source", loc, state);
  const title = requiredString(block, "title", loc, state);
  const { content } = readContent(block.content, [...loc, "content"], "result", state);
  if (url === undefined || title === undefined) return;
  const marked = content.some((c) => c.cache !== undefined || c.extra !== undefined);
  const { cache, extra } = marks(block, SEARCH_RESULT);
  const fields = marked ? { ...extra?.fields, [MARKED]: block.content } : extra?.fields;
  out.push({
    type: "search-result",
    url,
    title,
    texts: content.map((c) => c.type === "text" ? c.text : "").filter((text) => text !== ""),
    ...(cites(block) && { cite: true }),
    ...(cache && { cache }),
    ...(fields && { extra: { format: "messages", fields } }),
  });
}

/**
 * A document whose source is an array of blocks becomes one text, followed by its images, which are marked so
 * that a provider of this format gets the original source without the images again.
 */
function readDocument(block: Loose, loc: Path, state: DecodeState, out: Content[]): void {
  const path = [...loc, "source"];
  const name = string(block.title);
  const context = string(block.context);
  const words = {
    ...(name !== undefined && { name }),
    ...(context !== undefined && { context }),
    ...(cites(block) && { cite: true }),
  };
  const raw = block.source;
  if (isObject(raw) && raw.type === "content") {
    const { content } = readContent(raw.content, [...path, "content"], "result", state);
    const text = content.map((c) => c.type === "text" ? c.text : "").filter((t) => t !== "").join("\n\n");
    out.push({
      type: "document",
      source: { kind: "text", text, mediaType: "text/plain" },
      ...words,
      ...documentMarks(block, raw),
    });
    const inside = { format: "messages" as const, fields: { [INSIDE]: true } };
    for (const c of content) if (c.type === "image") out.push({ ...c, extra: inside });
    return;
  }
  const source = readSource(raw, path, state);
  if (source) {
    out.push({ type: "document", source: source.source, ...words, ...documentMarks(block, source.raw) });
  }
}

/**
 * A document is sent unchanged to a provider of this format, so details of title, context and citations that
 * the vocabulary does not represent are kept: null values, disabled citations.
 */
function documentMarks(block: Loose, raw?: Loose): ReturnType<typeof marks> {
  const words = ["title", "context"].filter((name) => typeof block[name] === "string");
  const { citations } = block;
  if (cites(block) && Object.keys(citations as Loose).length === 1) words.push("citations");
  const all = ["title", "context", "citations"].every((name) =>
    block[name] === undefined || words.includes(name)
  );
  return marks(block, all ? DOCUMENT : known("source", ...words), raw);
}

/** The text of a document that consists of blocks. */
export function textOfBlocks(source: Loose): string {
  if (typeof source.content === "string") return source.content;
  const blocks = Array.isArray(source.content) ? source.content : [];
  return blocks.map((b) => typeof b === "string" ? b : isObject(b) ? string(b.text) ?? "" : "")
    .filter((t) => t !== "").join("\n\n");
}

const SOURCE_FIELDS = new Set(["type", "media_type", "data", "url", "file_id"]);

/** `raw`: the original source, if the vocabulary does not represent it completely. */
function readSource(
  raw: unknown,
  loc: Path,
  state: DecodeState,
): { source: Source; raw?: Loose } | undefined {
  if (!isObject(raw)) {
    wrongKind(state.mistakes, loc, "an object", "dict_type", raw);
    return undefined;
  }
  const source = knownSource(raw, loc, state);
  if (!source) return undefined;
  return { source, ...(source.kind !== "text" && rest(raw, SOURCE_FIELDS) && { raw }) };
}

function knownSource(raw: Loose, loc: Path, state: DecodeState): Source | undefined {
  const mediaType = string(raw.media_type);
  switch (raw.type) {
    case "base64": {
      const data = requiredString(raw, "data", loc, state);
      const type = requiredString(raw, "media_type", loc, state);
      return data === undefined || type === undefined
        ? undefined
        : { kind: "base64", mediaType: type, data: standardBase64(data) };
    }
    case "text": {
      const text = requiredString(raw, "data", loc, state);
      return text === undefined
        ? undefined
        : { kind: "text", text, ...(mediaType !== undefined && { mediaType }) };
    }
    case "url": {
      const url = requiredString(raw, "url", loc, state);
      return url === undefined ? undefined : decodeUrl(url);
    }
    case "file": {
      const id = requiredString(raw, "file_id", loc, state);
      return id === undefined ? undefined : { kind: "file", id };
    }
  }
  mistake(
    state.mistakes,
    "literal_error",
    [...loc, "type"],
    `expected one of "base64", "text", "url", "file", "content", got ${shown(raw.type)}`,
  );
  return undefined;
}

function readProof(text: string | undefined, kind: Proof["kind"], unseal: Unseal): Proof | undefined {
  if (text === undefined || text === "") return undefined;
  return unseal(text) ?? (isSealed(text) ? undefined : { api: "messages", kind, data: text });
}

function cites(block: Loose): boolean {
  return isObject(block.citations) && block.citations.enabled === true;
}

function requiredString(block: Loose, field: string, loc: Path, state: DecodeState): string | undefined {
  const value = block[field];
  if (typeof value === "string") return value;
  wrongKind(state.mistakes, [...loc, field], "a string", "string_type", value);
  return undefined;
}
