/** Walks: by turns over several texts, and the hints on encoded parts that they give. */
import { assert, assertEquals } from "@std/assert";
import { decodings } from "../../src/dlp/decode.ts";
import { DEFAULT_TYPES } from "../../src/dlp/entities.ts";
import { planFor } from "../../src/dlp/plan.ts";
import { RECOGNIZERS } from "../../src/dlp/recognizers/list.ts";
import { scannedView } from "../../src/dlp/recognizers/scanned_view.ts";
import { Walk } from "../../src/dlp/walk.ts";

const PLAN = planFor(DEFAULT_TYPES);
const walkOver = (text: string) => new Walk(PLAN, scannedView(text, PLAN));

function walked(text: string): Walk {
  const walk = walkOver(text);
  walk.until(text.length);
  return walk;
}

Deno.test("walks that go on by turns find what each finds by itself", () => {
  const filler = "words that say nothing at all, ".repeat(60);
  const texts = [
    `${filler}card 4539 5787 6362 1486, ${filler}mail a.b@example.org`,
    `é ${filler}${filler}IBAN DE89 3704 0044 0532 0130 00 ${filler}`,
    `${filler.toUpperCase()}call +49 30 901820, ${filler}`,
    `${"x".repeat(9000)} c.d@example.org`,
  ];
  const walks = texts.map(walkOver);
  for (let limit = 100; limit < 12_000; limit += 100) for (const walk of walks) walk.until(limit);
  for (const [i, text] of texts.entries()) {
    assertEquals(walks[i].view.candidates, walked(text).view.candidates);
    assert(walks[i].view.candidates.length > 0);
  }
});

/** The same numbers in each run. */
function draws(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

Deno.test("decodings() decodes the same with the hints of a walk as without", () => {
  const draw = draws(3);
  const pick = <T>(list: ArrayLike<T>) => list[draw(list.length)];
  const samples = RECOGNIZERS.flatMap(({ samples }) => samples.found).map((text) =>
    text.replace(/[«»]/g, "")
  );
  const bytes = (text: string) => String.fromCharCode(...new TextEncoder().encode(text));
  const hex = (text: string) =>
    bytes(text).replace(/[^]/g, (c) => c.charCodeAt(0).toString(16).padStart(2, "0"));
  const written: ((text: string) => string)[] = [
    (text) => text,
    (text) => btoa(bytes(text)),
    (text) => btoa(bytes(text)).replaceAll("+", "-").replaceAll("/", "_"),
    (text) => btoa(bytes(text.repeat(4))).replace(/.{60}/g, "$&\n"),
    hex,
    (text) => hex(text).replace(/../g, "$& "),
    (text) => encodeURIComponent(text.toWellFormed()),
    (text) => JSON.stringify(text.replaceAll(" ", "\n")),
    (text) => text.replace(/[^]/g, (c) => `&#${c.charCodeAt(0)};`),
    (text) => text.replace(/(?<=\w)(?=\w)/g, "\x00"),
    (text) => text.replaceAll(" ", "+"),
    (text) => text.toLowerCase().replace(/[^a-z]/g, "").repeat(8),
  ];
  let read = 0;
  let spared = 0;
  for (let i = 0; i < 3000; i++) {
    const text = Array.from({ length: draw(3) + 1 }, () => pick(written)(pick(samples))).join(pick(" \n.é/"));
    const { hints } = walked(text);
    const decoded = decodings({ text });
    assertEquals(decodings({ text }, hints), decoded, text);
    if (decoded !== null) read++;
    if (hints === 0) spared++;
  }
  assert(read > 500 && spared > 100, `${read} ${spared}`);
});
