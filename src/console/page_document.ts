/**
 * The console's document and files. File URLs contain a hash of the contents, so browsers can cache them
 * permanently and never mix versions.
 */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { FILES, INDEX } from "./page_files.ts";

export interface PageFile {
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** Compressed with gzip. */
  gzip: Uint8Array<ArrayBuffer>;
}

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

const hash = (text: string) => createHash("sha256").update(text);

/** A hash of all files. */
export const VERSION = hash(JSON.stringify(Object.entries(FILES).sort())).digest("hex").slice(0, 16);

/** Every URL in the document is below the folder of this version. */
const HTML = INDEX.replaceAll("VERSION", VERSION);

/** The import map is the only inline script; the policy allows it by its hash. */
const IMPORT_MAP = /<script type="importmap">([^]*?)<\/script>/.exec(HTML)![1];

export const POLICY = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${hash(IMPORT_MAP).digest("base64")}'`,
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const made = new Map<string, PageFile>();

/** Undefined: no such file. The empty path is the document. */
export function pageFile(path: string): PageFile | undefined {
  const known = made.get(path);
  if (known !== undefined) return known;
  const text = path === "" ? HTML : Object.hasOwn(FILES, path) ? FILES[path] : undefined;
  if (text === undefined) return undefined;
  const bytes = new TextEncoder().encode(text);
  const file = {
    type: TYPES[path === "" ? "html" : path.slice(path.lastIndexOf(".") + 1)],
    bytes,
    gzip: new Uint8Array(gzipSync(bytes)),
  };
  made.set(path, file);
  return file;
}

export const DOCUMENT_TAG = `"${hash(HTML).digest("hex").slice(0, 32)}"`;
