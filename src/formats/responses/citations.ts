/** Annotations of a text, decoded and encoded. */
import { integer, type Loose, string } from "../../exchange/json.ts";
import type { Citation } from "../../exchange/citation.ts";
import { extraOf } from "../../exchange/prompt.ts";

export function decodeCitation(annotation: Loose): Citation {
  const url = string(annotation.url);
  const title = string(annotation.title) ?? string(annotation.filename);
  const start = integer(annotation.start_index);
  const end = integer(annotation.end_index);
  return {
    kind: annotation.type === "url_citation" ? "url" : "file",
    ...(url !== undefined && { url }),
    ...(title !== undefined && { title }),
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    extra: { format: "responses", fields: annotation },
  };
}

/** The original object for a provider of this format. Undefined: it is not representable. Missing indices are 0, since the types require numbers. */
export function encodeCitation(c: Citation): Loose | undefined {
  if (c.kind === "number") return undefined;
  const own = extraOf(c.extra, "responses");
  if (own && own.type !== "url_citation") return own;
  if (c.kind === "url") {
    return {
      ...own,
      type: "url_citation",
      url: c.url ?? "",
      title: c.title ?? "",
      start_index: c.start ?? 0,
      end_index: c.end ?? 0,
    };
  }
  const file_id = c.document === undefined ? "" : `document_${c.document}`;
  return { type: "file_citation", file_id, filename: c.title ?? "", index: c.start ?? 0 };
}
