/**
 * Encodes results of tool calls as `functionResponse` parts.
 *
 * The response is an object with the text in `output` or `error`. Other content is put into the response's
 * own `parts`, if the model (Gemini 3 and later) and the media type allow it, else after all responses in the
 * same content.
 */
import { type CallContent, type Content, isAttachment, type ResultContent } from "../../exchange/prompt.ts";
import { encodeAttachment } from "./encode_media.ts";
import type { Blob, WirePart } from "./wire.ts";

const INSIDE = /^(?:image\/(?:png|jpeg|webp)|application\/pdf)$/;

/** @param results in the order of the calls; undefined: missing in the history */
export function encodeResults(
  calls: readonly CallContent[],
  results: readonly (ResultContent | undefined)[],
  version: number | null,
): WirePart[] {
  const responses: WirePart[] = [];
  const behind: WirePart[] = [];
  calls.forEach((call, i) => {
    const result = results[i];
    const texts: string[] = [];
    const parts: { inlineData: Blob }[] = [];
    const outside: WirePart[] = [];
    for (const part of (result?.content ?? []).flatMap(resultParts)) {
      if (part.text !== undefined) texts.push(part.text);
      else if (part.inlineData && (version ?? 0) >= 3 && INSIDE.test(part.inlineData.mimeType)) {
        parts.push({ inlineData: part.inlineData });
      } else outside.push(part);
    }
    if (outside.length > 0) {
      behind.push({ text: `Attached to the result of ${call.name} (${call.id}):` }, ...outside);
    }
    const said = texts.length === 0 && outside.length > 0 ? "The result is attached." : texts.join("\n");
    const response = !result
      ? { error: "This call was not run: there is no result." }
      : result.isError
      ? { error: said.trim() === "" ? "The tool failed and gave no message." : said }
      : { output: said };
    responses.push({
      functionResponse: { id: call.id, name: call.name, response, ...(parts.length > 0 && { parts }) },
    });
  });
  return [...responses, ...behind];
}

function resultParts(c: Content): WirePart[] {
  if (isAttachment(c)) return encodeAttachment(c);
  if (c.type === "text" || c.type === "refusal") return [{ text: c.text }];
  if (c.type === "search-result") return [{ text: [c.title, c.url, "", ...c.texts].join("\n") }];
  return [];
}
