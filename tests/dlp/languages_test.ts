import { assert } from "@std/assert";
import { ALL_ENTITY_NAMES, DEFAULT_TYPES, resolveEntityTypes } from "../../src/dlp/entities.ts";
import { detector } from "../../src/dlp/scan.ts";
import { formSamples } from "./forms.ts";
import { TYPES } from "./drawn_values.ts";
import { clean, samples } from "./language_samples.ts";
import { LANGUAGES } from "./languages.ts";

const everything = detector(resolveEntityTypes(ALL_ENTITY_NAMES).types);

/** What must be found of each kind of value in each language. */
const RECALL = 0.97;

for (const language of Object.keys(LANGUAGES)) {
  Deno.test(`scan() finds values in sentences, forms, chat and comments: ${language}`, () => {
    const kinds = new Map<string, { all: number; missed: string[] }>();
    for (const { what, text, start, end, ...sample } of samples(20261122, 40)) {
      if (sample.language !== language) continue;
      const kind = kinds.get(what) ?? { all: 0, missed: [] };
      kinds.set(what, kind);
      kind.all++;
      const found = everything.scan(text).some((one) =>
        TYPES[what].test(one.entityType) && one.start <= start + 1 && one.end >= end - 1
      );
      if (!found) kind.missed.push(text);
    }
    for (const [what, { all, missed }] of kinds) {
      assert(missed.length <= Math.ceil(all * (1 - RECALL)), `${what}: ${JSON.stringify(missed)}`);
    }
  });
}

Deno.test("scan() finds two values a million units at most where there are none, in all languages", () => {
  const text = clean(20261122, 2_000_000);
  const wrong = detector(DEFAULT_TYPES).scan(text);
  assert(
    wrong.length <= 4,
    JSON.stringify(
      wrong.map(({ entityType, start, end }) =>
        `${entityType}: ${text.slice(Math.max(0, start - 40), end + 20)}`
      ).slice(0, 20),
    ),
  );
});

Deno.test("scan() finds values in records of thirteen languages, in tables, letters and chats", () => {
  const kinds = new Map<string, { all: number; missed: string[] }>();
  for (const { language, what, text, start, end } of formSamples(20261122, 3)) {
    const found = everything.scan(text).some((one) =>
      TYPES[what].test(one.entityType) && one.start <= start + 1 && one.end >= end - 1
    );
    for (const name of [language, what]) {
      const kind = kinds.get(name) ?? { all: 0, missed: [] };
      kinds.set(name, kind);
      kind.all++;
      if (!found) kind.missed.push(text);
    }
  }
  for (const [name, { all, missed }] of kinds) {
    assert(
      missed.length <= Math.ceil(all * 0.05),
      `${name}: ${missed.length} of ${all}: ${JSON.stringify(missed)}`,
    );
  }
  const all = Object.keys(LANGUAGES).reduce((sum, language) => sum + kinds.get(language)!.all, 0);
  const missed = Object.keys(LANGUAGES).flatMap((language) => kinds.get(language)!.missed);
  assert(missed.length <= all * (1 - RECALL), `${missed.length} of ${all}: ${JSON.stringify(missed)}`);
});
