/**
 * Sources that an answer cites by their numbers. Mistral's models are given sources as the result of a tool, as
 * JSON by number (`{"0": {"url", "title", …}}`), and refer to the numbers in the answer.
 */
import type { Citation } from "./citation.ts";
import { object, parse, string } from "./json.ts";
import type { Part } from "./part.ts";
import type { Prompt } from "./prompt.ts";

export type NumberedSources = ReadonlyMap<string, Pick<Citation, "url" | "title">>;

/** The beginning of a result that may have sources. */
const BEGINNING = /^\s*\{\s*"\d{1,9}"\s*:\s*\{/;

/** The sources in the results of tools, the last one of each number. Null: there are none. */
export function numberedSources({ turns }: Prompt): NumberedSources | null {
  let sources: Map<string, Pick<Citation, "url" | "title">> | null = null;
  for (const { content } of turns) {
    for (const result of content) {
      if (result.type !== "result") continue;
      for (const said of result.content) {
        if (said.type !== "text" || !BEGINNING.test(said.text)) continue;
        for (const [number, value] of Object.entries(object(parse(said.text)))) {
          const { url, title } = object(value);
          if (typeof url !== "string" || url === "") continue;
          (sources ??= new Map()).set(number, { url, title: string(title) ?? "" });
        }
      }
    }
  }
  return sources;
}

/** Parts whose citations have the sources in place of their numbers. Citations of other numbers are left out. */
export function withSources(parts: readonly Part[], sources: NumberedSources): readonly Part[] {
  if (!parts.some((part) => part.type === "citation")) return parts;
  return parts.flatMap((part): Part[] => {
    if (part.type !== "citation" || part.citation.kind !== "number") return [part];
    const source = sources.get(part.citation.number ?? "");
    return source ? [{ ...part, citation: { ...part.citation, kind: "url", ...source } }] : [];
  });
}
