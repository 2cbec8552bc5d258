/**
 * Content blocks of Anthropic's format in messages of this format: calls, results and images. Cursor sends
 * them for models whose name contains `claude`, and some clients send a history of the other format.
 */
import type { Mistake } from "../../exchange/failure.ts";
import { isObject, type Loose, object, string } from "../../exchange/json.ts";
import type { Content } from "../../exchange/prompt.ts";
import { decodeCacheMark } from "../cache_mark.ts";
import { standardBase64 } from "../media.ts";
import type { Path } from "../validation.ts";

/** Decodes a list of parts, for the content of a result. */
type DecodeParts = (list: readonly unknown[], loc: Path, mistakes: Mistake[]) => Content[];

/**
 * Undefined: it is no such block, or not one of this role.
 * @param role of the message; absent: within a result
 */
export function decodeBlock(
  block: Loose,
  role: "user" | "assistant" | undefined,
  { loc, mistakes, decodeParts }: { loc: Path; mistakes: Mistake[]; decodeParts: DecodeParts },
): Content | undefined {
  const cache = decodeCacheMark(block.cache_control);
  const marks = cache && { cache };
  if (block.type === "image") return decodeImage(object(block.source), marks);
  if (block.type === "tool_use" && role === "assistant") {
    const { id, name, input } = block;
    if (typeof id !== "string" || typeof name !== "string" || name === "") return undefined;
    const args = typeof input === "string" ? input : JSON.stringify(input ?? {});
    return { type: "call", id, name, kind: "function", arguments: args, ...marks };
  }
  if (block.type !== "tool_result" || role !== "user" || typeof block.tool_use_id !== "string") {
    return undefined;
  }
  const { content } = block;
  return {
    type: "result",
    callId: block.tool_use_id,
    kind: "function",
    content: typeof content === "string"
      ? [{ type: "text", text: content }]
      : Array.isArray(content)
      ? decodeParts(content, [...loc, "content"], mistakes)
      : [],
    isError: block.is_error === true,
    ...(typeof content === "string" && { plain: true }),
    ...marks,
  };
}

function decodeImage(source: Loose, marks: Pick<Content, "cache"> | undefined): Content | undefined {
  if (!isObject(source)) return undefined;
  const url = string(source.url);
  const data = string(source.data);
  if (source.type === "url" && url !== undefined) {
    return { type: "image", source: { kind: "url", url }, ...marks };
  }
  if (source.type !== "base64" || data === undefined) return undefined;
  const mediaType = string(source.media_type) ?? "";
  return { type: "image", source: { kind: "base64", mediaType, data: standardBase64(data) }, ...marks };
}
