/**
 * `GET /docs`: the manual, `GET /openapi.json`: the API as OpenAPI, and `GET /config.schema.json`: the
 * configuration as a JSON Schema for editors. They are the same for every caller and need no credential.
 *
 * A document is created with the first request for it, so that a gateway whose manual is not read does not
 * load the renderer.
 */
import { setImmediate } from "node:timers";
import { eTag, ifNoneMatch } from "@std/http/etag.js";
import { STATUS_CODE } from "@std/http/status.js";
import type {
  AnswerDescription,
  Endpoint,
  Parameter,
  RequestContext,
  ServerState,
} from "../http/endpoint.ts";
import { OPERATION } from "../http/surfaces.ts";
import type { Document } from "./documents.ts";
import { OPENAPI, ROOT, SCHEMA } from "./paths.ts";

export const MANUAL: readonly Endpoint[] = [
  endpoint(ROOT, "The manual's first page.", { types: ["text/html"] }),
  endpoint(`${ROOT}/{page+}`, "A page of the manual; with `.md` at its end as Markdown.", {
    types: ["text/html", "text/markdown"],
  }, [{ name: "page", in: "path", description: "The page's name, as the navigation has it." }]),
  endpoint(OPENAPI, "The API and the administration as an OpenAPI 3.1 document.", {
    types: ["application/json"],
  }),
  endpoint(SCHEMA, "The configuration as a JSON Schema, for editors.", {
    types: ["application/schema+json"],
  }),
];

function endpoint(
  path: string,
  summary: string,
  answer: AnswerDescription,
  parameters: readonly Parameter[] = [],
): Endpoint {
  return {
    method: "GET",
    path,
    surface: OPERATION,
    credential: "none",
    summary,
    parameters,
    answer: { ...answer, empty: [304] },
    exists: (state) => state.docs,
    handle: serve,
  };
}

/** No script runs on these pages, and they load only their own stylesheet. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type Tagged = Document & { tag: string };

/**
 * Documents by path, only for paths that exist, so their number is limited. A promise is stored, so that
 * concurrent requests for a document create it once.
 */
const documents = new Map<string, Promise<Tagged | null>>();

async function serve({ request, path, state }: RequestContext): Promise<Response> {
  const found = await find(path, state);
  if (found === null) {
    const { missing } = await import("./documents.ts");
    const { type, text } = missing();
    return new Response(text, { status: STATUS_CODE.NotFound, headers: headersFor(type) });
  }
  const headers = { ...headersFor(found.type), "cache-control": "no-cache", etag: found.tag };
  const changed = ifNoneMatch(request.headers.get("if-none-match"), found.tag);
  return changed
    ? new Response(found.text, { headers })
    : new Response(null, { status: STATUS_CODE.NotModified, headers });
}

function find(path: string, state: ServerState): Promise<Tagged | null> {
  let found = documents.get(path);
  if (found === undefined) {
    found = made(path, state);
    documents.set(path, found);
    const forget = () => documents.delete(path);
    found.then((document) => document ?? forget(), forget);
  }
  return found;
}

async function made(path: string, state: ServerState): Promise<Tagged | null> {
  const make = path === OPENAPI ? await apiDocument(state) : await manualDocument(path);
  if (make === null) return null;
  const document = await inTurn(make);
  return { ...document, tag: (await eTag(document.text))! };
}

let before: Promise<unknown> = Promise.resolve();

/** Creates one document after the other. Between two documents other tasks run. */
function inTurn(make: () => Document): Promise<Document> {
  const document = before.then(() => new Promise((resolve) => setImmediate(resolve))).then(make);
  before = document.catch(() => {});
  return document;
}

async function manualDocument(path: string): Promise<(() => Document) | null> {
  const { documentAt } = await import("./documents.ts");
  return documentAt(path);
}

async function apiDocument({ endpoints, program }: ServerState): Promise<() => Document> {
  const { openApiDocument } = await import("./openapi/document.ts");
  const all = await endpoints();
  return () => ({ type: "application/json", text: JSON.stringify(openApiDocument(all, program)) });
}

function headersFor(type: string): Record<string, string> {
  return {
    "content-type": type,
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  };
}
