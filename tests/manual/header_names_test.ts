/** Headers with a meaning for callers are in one table, from which the manual's page is made. */
import { assert, assertEquals } from "@std/assert";
import {
  ANSWER_HEADERS,
  EXPOSED_HEADERS,
  REQUEST_HEADERS,
  WEBHOOK_HEADERS,
} from "../../src/exchange/headers.ts";

const SOURCE = new URL("../../src/", import.meta.url);
const TABLE = "exchange/headers.ts";

/** Between Sluice and providers, token services or search engines, or part of HTTP itself: nothing a caller would look up. */
const ELSEWHERE = [
  /^x-goog-(?:api-key|cloud-target-resource|user-project)$/,
  /^x-vertex-ai-/,
  /^x-am(?:zn-errortype|z-)|^x-aws-ec2-|^x-identity-header$/,
  /^x-subscription-token$/,
  // A vendor, a format of audio, and a coding of content.
  /^x-(?:ai|aac|gzip)$/,
  /^x-loc-/,
  /^(?:x-ms-)?retry-after-ms$/,
  /^x-ratelimit-(?:remaining|reset)$/,
  /^www-authenticate$/,
  /^anthropic-(?:version|messages)$/,
  /^(?:accept-encoding|connection|content-type|date|transfer-encoding|upgrade|sec-websocket-(?:key|version|accept))$/,
];

function* sources(directory: URL): Generator<URL> {
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    if (isDirectory) yield* sources(new URL(`${name}/`, directory));
    else if (name.endsWith(".ts")) yield new URL(name, directory);
  }
}

/** Names that a source file writes as literals; what a template puts in is `*`. */
export function headerNames(text: string): string[] {
  const code = text.replaceAll(/^\s*(?:\*|\/\/|\/\*).*$/gm, "");
  const named = code.matchAll(
    /["'`]((?:x-(?=[a-z])|anthropic-ratelimit-|access-control-|retry-after|request-id)[^"'`\s,]*)["'`]/gi,
  );
  const asked = code.matchAll(
    /(?:headers\.(?:get|has|set|append|delete)|\bheader)\(\s*["'`]([\w${}-]+)["'`]/g,
  );
  return [...named, ...asked].map(([, name]) => name.toLowerCase().replaceAll(/\$\{[^}]*\}/g, "*"))
    .filter((name) => name.length > 2);
}

const known = [...REQUEST_HEADERS, ...ANSWER_HEADERS, ...WEBHOOK_HEADERS].map((row) => row.name);

function isListed(name: string): boolean {
  const pattern = new RegExp(`^${name.replaceAll("*", "[\\w-]+")}$`);
  // A family of names is listed as one.
  return known.some((row) =>
    row === name || pattern.test(row) || new RegExp(`^${row.replaceAll("*", "[\\w-]+")}$`).test(name)
  );
}

Deno.test("headerNames() sees literals, templates and look-ups", () => {
  assertEquals(
    headerNames(
      'a["x-svc-new"] = 1;\nheaders[`x-ratelimit-left-${kind}`] = 2;\nrequest.headers.get("accept");\n// "x-no"',
    ),
    ["x-svc-new", "x-ratelimit-left-*", "accept"],
  );
  assert(!isListed("x-svc-new"));
  assert(!isListed("x-ratelimit-left-*"));
});

Deno.test("every header that src/ reads or writes for callers is in the table of headers", () => {
  const unlisted: string[] = [];
  for (const file of sources(SOURCE)) {
    const path = file.href.slice(SOURCE.href.length);
    if (path === TABLE) continue;
    for (const name of headerNames(Deno.readTextFileSync(file))) {
      if (!isListed(name) && !ELSEWHERE.some((e) => e.test(name))) unlisted.push(`${path}: ${name}`);
    }
  }
  assertEquals(unlisted, []);
});

Deno.test("the table of headers has each name once, and browsers may read those that Sluice makes", () => {
  assertEquals(new Set(ANSWER_HEADERS.map((h) => h.name)).size, ANSWER_HEADERS.length);
  for (const name of ["x-request-id", "x-svc-route", "x-svc-dlp-findings", "retry-after", "x-should-retry"]) {
    assert(EXPOSED_HEADERS.includes(name), name);
  }
});
