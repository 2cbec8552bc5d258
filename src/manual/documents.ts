/** The documents of the manual by their addresses. Loaded with the first request for one. */
import { configJsonSchema } from "../config/schema.ts";
import { FILES } from "./files.ts";
import { missingDocument, pageDocument } from "./document.ts";
import { PAGES } from "./pages.ts";
import { ROOT, SCHEMA } from "./paths.ts";
import style from "./style.css" with { type: "text" };

export interface Document {
  type: string;
  text: string;
}

/** The function that creates the document, which takes some 30 ms for a page. Null: the path does not exist. */
export function documentAt(path: string): (() => Document) | null {
  if (path === SCHEMA) {
    return () => ({ type: "application/schema+json", text: JSON.stringify(configJsonSchema(), null, 2) });
  }
  if (path === ROOT) return () => html(pageDocument(PAGES[0]));
  const name = path.slice(ROOT.length + 1);
  if (name === "style.css") return () => ({ type: "text/css; charset=utf-8", text: style });
  const file = /^files\/(.+)$/.exec(name)?.[1];
  if (file !== undefined) return Object.hasOwn(FILES, file) ? () => FILES[file] : null;
  const page = PAGES.find((p) => p.name === name || `${p.name}.md` === name);
  if (page === undefined) return null;
  if (name.endsWith(".md")) return () => ({ type: "text/markdown; charset=utf-8", text: page.text });
  return () => html(pageDocument(page));
}

export function missing(): Document {
  return html(missingDocument());
}

function html(text: string): Document {
  return { type: "text/html; charset=utf-8", text };
}
