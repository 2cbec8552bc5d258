/** What recognizers say of themselves: every sample of every one, and the names that outside users count on. */
import { assert, assertEquals } from "@std/assert";
import { ALL_ENTITY_NAMES, resolveEntityTypes } from "../../../src/dlp/entities.ts";
import { RECOGNIZERS } from "../../../src/dlp/recognizers/list.ts";
import { detector } from "../../../src/dlp/scan.ts";
import { shared, sharedTest } from "../../support/shared.ts";

/** A text without its marks, and what stood between them. */
function unmarked(sample: string): { text: string; spans: { start: number; end: number }[] } {
  const spans: { start: number; end: number }[] = [];
  let text = "";
  for (const piece of sample.split(/(?=[«»])/)) {
    if (piece.startsWith("«")) spans.push({ start: text.length, end: -1 });
    if (piece.startsWith("»")) spans[spans.length - 1].end = text.length;
    text += piece.replace(/^[«»]/, "");
  }
  return { text, spans };
}

for (const { type, samples } of RECOGNIZERS) {
  Deno.test(`recognizer ${type} finds what its samples mark, and nothing else`, () => {
    assert(samples.found.length > 0, `${type} has no sample of what it finds`);
    assert(samples.clean.length > 0, `${type} has no sample of what it leaves alone`);
    const scan = (text: string) => detector(new Set([type])).scan(text);
    for (const sample of samples.found) {
      const { text, spans } = unmarked(sample);
      assert(spans.length > 0, `nothing is marked in ${JSON.stringify(sample)}`);
      const found = scan(text).map(({ entityType, start, end }) => ({ entityType, start, end }));
      assertEquals(found, spans.map((span) => ({ entityType: type, ...span })), sample);
    }
    for (const sample of samples.clean) assertEquals(scan(sample), [], sample);
  });
}

Deno.test("recognizers have something that starts them, and no name twice", () => {
  const names = new Map<string, string>();
  for (const { type, aliases = [], triggers = [], numbers = [] } of RECOGNIZERS) {
    assert(triggers.length + numbers.length > 0, `${type} is never started`);
    for (const name of [type, ...aliases]) {
      assert(/^[A-Z][A-Z0-9_]*$/.test(name), `${name} is not in upper snake case`);
      assert(!names.has(name), `${name} is a name of ${names.get(name)} and of ${type}`);
      names.set(name, type);
    }
  }
});

interface Aliases {
  core: string[];
  secret_family: string[];
  request: Record<string, string>;
}

sharedTest("dlp/aliases.json", "recognizers cover the core types and aliases of the corpus", async () => {
  const corpus: Aliases = JSON.parse(await Deno.readTextFile(shared("dlp/aliases.json")));
  const names = [...corpus.core, ...corpus.secret_family, ...Object.entries(corpus.request).flat()];
  const missing = names.filter((name) => !ALL_ENTITY_NAMES.includes(name));
  assertEquals(missing, [], "core types without a recognizer");
  for (const [alias, type] of Object.entries(corpus.request)) {
    assertEquals(resolveEntityTypes([alias]).types, resolveEntityTypes([type]).types, alias);
  }
});
