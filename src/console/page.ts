/**
 * `GET /console`: the console's page and its files. The browser loads the files of `page/` unchanged; there
 * is no build step.
 *
 * The content security policy allows only these scripts, so data from the administration cannot be executed.
 */
import { ifNoneMatch } from "@std/http/etag.js";
import { STATUS_CODE } from "@std/http/status.js";
import { Failure } from "../exchange/failure.ts";
import { hasAdministrators, sessionOf } from "../http/administrators.ts";
import type { Endpoint, OtherEndpoint, RequestContext } from "../http/endpoint.ts";
import { OPERATION } from "../http/surfaces.ts";
import type { PageFile } from "./page_document.ts";

const HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "vary": "accept-encoding",
};

type Served = Pick<OtherEndpoint, "path" | "summary" | "answer" | "parameters" | "handle">;

const served = (endpoint: Served): Endpoint => ({
  method: "GET",
  surface: OPERATION,
  credential: "none",
  exists: hasAdministrators,
  ...endpoint,
});

export const CONSOLE_PAGE: readonly Endpoint[] = [
  served({
    path: "/console",
    summary: "The operator's page.",
    answer: { types: ["text/html"], empty: [304] },
    async handle({ request }) {
      const { DOCUMENT_TAG, pageFile, POLICY } = await import("./page_document.ts");
      // Each form has a tag of its own, since a strong one stands for the same bytes.
      const tag = takesGzip(request) ? DOCUMENT_TAG.replace(/"$/, '-gzip"') : DOCUMENT_TAG;
      const headers = {
        ...HEADERS,
        "content-security-policy": POLICY,
        // Cached but revalidated each time, so that the page of an old version is not used.
        "cache-control": "private, no-cache",
        "etag": tag,
      };
      return ifNoneMatch(request.headers.get("if-none-match"), tag)
        ? answer(pageFile("")!, request, headers)
        : new Response(null, { status: STATUS_CODE.NotModified, headers });
    },
  }),
  served({
    path: "/console/ways",
    summary:
      "Shows the available methods of signing in to the console, whether this browser is signed in, and whether the manual is served.",
    answer: { schema: "SignInWays" },
    handle(context) {
      const { oidc, docs } = context.state;
      const ways = { signed_in: sessionOf(context) !== null, oidc: oidc !== null, docs };
      return Response.json(ways, { headers: { "cache-control": "no-store" } });
    },
  }),
  served({
    path: "/console/assets/{version}/{file+}",
    summary: "A file of the operator's page.",
    parameters: [
      { name: "version", in: "path", description: "The version of the page's files, as the page names it." },
      { name: "file", in: "path", description: "The file's path." },
    ],
    answer: { types: ["text/javascript", "text/css", "image/svg+xml"] },
    async handle({ request, parameters }) {
      const { pageFile, VERSION } = await import("./page_document.ts");
      // A request of another version's page, which must be reloaded.
      const file = parameters.version === VERSION ? pageFile(parameters.file) : undefined;
      if (file === undefined) throw new Failure("not_found", "The console has no such file.");
      return answer(file, request, { ...HEADERS, "cache-control": "public, max-age=31536000, immutable" });
    },
  }),
];

function answer(
  { type, bytes, gzip }: PageFile,
  request: RequestContext["request"],
  headers: Record<string, string>,
): Response {
  const packed = takesGzip(request);
  return new Response(packed ? gzip : bytes, {
    headers: { ...headers, "content-type": type, ...(packed && { "content-encoding": "gzip" }) },
  });
}

function takesGzip({ headers }: RequestContext["request"]): boolean {
  return (headers.get("accept-encoding") ?? "").split(",").some((one) => {
    const [coding, ...parameters] = one.split(";").map((part) => part.trim().toLowerCase());
    const refused = parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter));
    return (coding === "gzip" || coding === "x-gzip") && !refused;
  });
}
