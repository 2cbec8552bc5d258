/**
 * `GET /console`: the operator's page, one HTML document without anything from elsewhere. Its parts are the files in `page/`,
 * which become one text when the program starts.
 *
 * The content security policy lets run only this script, so that whatever the administration answers cannot become one.
 */
import { eTag, ifNoneMatch } from "@std/http/etag.js";
import { STATUS_CODE } from "@std/http/status.js";
import { createHash } from "node:crypto";
import { hasAdministrators } from "../http/administrators.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { OPERATION } from "../http/surfaces.ts";
import dom from "./page/dom.js" with { type: "text" };
import document from "./page/index.html" with { type: "text" };
import main from "./page/script.js" with { type: "text" };
import style from "./page/style.css" with { type: "text" };

/** Both parts as one: a page that loads nothing has no place for imports. */
const script = dom.replaceAll(/^export /gm, "") + main.replaceAll(/^import .* from ".*";$/gm, "");

// A function, because `$` means something in a replacement text.
const HTML = document
  .replace('<link rel="stylesheet" href="style.css">', () => `<style>${style}</style>`)
  .replace(
    '<script type="module" src="script.js"></script>',
    () => `<script type="module">${script}</script>`,
  );

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  // Kept by the browser and asked for anew each time: the page of another version must not stay.
  "cache-control": "private, no-cache",
};

let tag: Promise<string> | undefined;

export const CONSOLE_PAGE: Endpoint = {
  method: "GET",
  path: "/console",
  surface: OPERATION,
  credential: "none",
  summary: "The operator's page. It asks the administration with a key that the operator types in.",
  answer: { types: ["text/html"] },
  exists: hasAdministrators,
  async handle({ request }) {
    const etag = await (tag ??= eTag(HTML) as Promise<string>);
    const headers = { ...HEADERS, etag };
    return ifNoneMatch(request.headers.get("if-none-match"), etag)
      ? new Response(HTML, { headers })
      : new Response(null, { status: STATUS_CODE.NotModified, headers });
  },
};
