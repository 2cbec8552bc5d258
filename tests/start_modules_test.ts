/** What a plain start loads: each module costs some 0.15 ms, and its code stays in memory. */
import { assertEquals } from "@std/assert";

const SOURCE = new URL("../src/", import.meta.url);
/** What only some gateways need, and then with the first call that needs it. */
const LATER = [
  /^dlp\/(?:entities|scan|escapes|lattice|packed|merge)\.ts$/,
  /^dlp\/recognizers\//,
  /^pipeline\/(?:screen|policies|screen_answer|dry_scan)\.ts$/,
  /^websearch\/clean\.ts$/,
  /^accounts\/(?:live|timeline|rollup)\.ts$/,
  /^console\/(?:page_(?:document|files)|overview|attention)\.ts$/,
  /^store\/postgres_(?:driver|socket)\.ts$/,
  /^telemetry\/(?!config)/,
  /^providers\/credentials\/(?:aws|azure|google)\//,
  /^manual\/(?:document|documents|pages|render|write)\.ts$/,
  /^commands\/(?!parse)/,
  /^http\/(?:responses_socket|socket_events)\.ts$/,
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
  "node:net",
  "node:tls",
  "node:zlib",
  "node:http",
  "node:sqlite",
];

/** Imports that are followed at once: not those of types, and not `import()`. */
function imports(text: string): string[] {
  const statements = text.matchAll(
    /^(?:import|export)(?!\s+type\b)\s*(?:[^"';]*?\bfrom\s*)?["']([^"'\n]+)["']/gm,
  );
  return [...statements].filter(([whole]) =>
    !/^(?:import|export)\s*\{(?:\s*type\s[^,}]*,?)*\s*\}/.test(whole)
  )
    .map(([, specifier]) => specifier);
}

Deno.test("a start loads neither screening nor any other part that only some calls need", () => {
  const files = new Set([new URL("main.ts", SOURCE).href]);
  const packages = new Set<string>();
  for (const file of files) {
    if (!file.endsWith(".ts")) continue;
    for (const specifier of imports(Deno.readTextFileSync(new URL(file)))) {
      if (specifier.startsWith(".")) files.add(new URL(specifier, file).href);
      else packages.add(specifier);
    }
  }
  const names = [...files].map((file) => file.slice(SOURCE.href.length));
  assertEquals(names.includes("pipeline/run.ts") && packages.has("zod"), true);
  assertEquals(names.filter((name) => LATER.some((later) => later.test(name))), []);
  assertEquals([...packages].filter((name) => LATER_PACKAGES.some((later) => name.startsWith(later))), []);
});
