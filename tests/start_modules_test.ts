/** What a plain start loads: each module costs some 0.15 ms, and its code stays in memory. */
import { assert, assertEquals } from "@std/assert";
import { listed, startModules } from "../.deploy/start_modules.ts";

/** What only some gateways need, and then with the first call that needs it. */
const LATER = [
  /^dlp\/(?:entities|restore|scan|escapes|lattice|packed|merge)\.ts$/,
  /^dlp\/recognizers\//,
  /^formats\/(?:messages|responses)\/(?!failure)/,
  /^formats\/(?:gemini|converse)\//,
  /^formats\/(?:mod|caller_formats)\.ts$/,
  /^http\/(?:compact|count_tokens|estimate)\.ts$/,
  /^providers\/(?:demo_model|hedge)\.ts$/,
  /^pipeline\/(?:screen|policies|screen_answer|dry_scan|ways|search_.*|choices|screened_call|audit_dlp)\.ts$/,
  /^websearch\/(?!mod\.ts|config\.ts|engines\/needs\.ts)/,
  /^accounts\/(?:administration\/(?:administration_methods|input|reports|statement|views)|live\/(?:live|rollup|timeline))\.ts$/,
  /^console\/(?!config|provider_metrics)/,
  /^store\/(?:alerts|audit|care_jobs|key_use|near_limits|payload_places|reports|retention|rollups|sums_build|usage)\.ts$/,
  /^store\/postgres\/(?:driver|socket)\.ts$/,
  /^telemetry\/(?!config)/,
  /^providers\/credentials\/(?:aws|azure|google)\//,
  /^manual\//,
  /^commands\/(?!(?:parse|command_table|option_values)\.ts)/,
  /^http\/(?:responses_socket|socket_events)\.ts$/,
  /^transport\/(?:websocket|websocket_frames|upgrade|host_server|host_socket)\.ts$/,
  /^workers\.ts$/,
  /^store\/migrations\/(?!mod|version)/,
];
/** Packages that come with those. */
const LATER_PACKAGES = [
  "libphonenumber-js/",
  "stdnum/",
  "entities",
  "gpt-tokenizer/",
  "re2-wasm/",
  "@opentelemetry/",
  "marked",
  "preact",
  "htm",
  "uplot",
  "github-slugger",
  "jose",
  "aws4fetch",
  "postgres",
  "node:crypto",
  "node:process",
  "node:net",
  "node:tls",
  "node:zlib",
  "node:http",
  "node:sqlite",
  "@std/streams/",
];

Deno.test("a start loads neither screening nor any other part that only some calls need", () => {
  const { files, packages } = startModules();
  assertEquals(files.includes("pipeline/run.ts") && packages.includes("zod/mini"), true);
  assertEquals(files.filter((name) => LATER.some((later) => later.test(name))), []);
  assertEquals(packages.filter((name) => LATER_PACKAGES.some((later) => name.startsWith(later))), []);
});

Deno.test("the list of modules that a start loads names none that it needs not, and nearly all that it needs", () => {
  const list = listed();
  const { files, packages } = startModules();
  const needless = [...list.files, ...list.packages].filter((name) =>
    !files.includes(name) && !packages.includes(name)
  );
  const missing = [...files, ...packages].filter((name) =>
    !list.files.includes(name) && !list.packages.includes(name)
  );
  assertEquals(needless, [], "`deno task start-modules` writes the list again");
  // One that is missing costs a start a third of a millisecond: not worth a conflict of two changes.
  assert(missing.length < 20, `\`deno task start-modules\` adds ${missing.join(", ")}`);
});
