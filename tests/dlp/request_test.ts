import { assert, assertEquals, assertThrows } from "@std/assert";
import { ALL_ENTITY_NAMES, DEFAULT_TYPES } from "../../src/dlp/entities.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { Failure } from "../../src/exchange/failure.ts";

function refused(given: unknown): Failure {
  const failure = assertThrows(() => readRequestOptions(given), Failure);
  assertEquals(failure.code, "validation_error");
  return failure;
}

Deno.test("readRequestOptions() takes an empty object as the default set", () => {
  const requestOptions = readRequestOptions({});
  assertEquals(requestOptions.rules.types, DEFAULT_TYPES);
  assertEquals(requestOptions.rules.mode, undefined);
  assertEquals([requestOptions.scope, requestOptions.unscannable, requestOptions.restore], [
    "all",
    "pass",
    false,
  ]);
  assertEquals(readRequestOptions({ entity_types: [] }).rules.types.size, 0);
});

Deno.test("readRequestOptions() takes null for a field that may be left out", () => {
  const nulls = {
    mode: null,
    answers: null,
    entity_types: null,
    report_scope: null,
    stop_words: null,
    allowlist: null,
    regexes: null,
    injected_context_names: null,
    acknowledged: null,
    on_unscannable: null,
    restore: null,
  };
  assertEquals(readRequestOptions(nulls), readRequestOptions({}));
  const { rules } = readRequestOptions({
    stop_words: [{ value: "x", match: null }],
    allowlist: [{ value: "y", match: null }],
  });
  assertEquals([rules.stopWords, rules.allowed], [[{ value: "x", match: "exact" }], ["y"]]);
  assertEquals(refused({ stop_words: [{ value: null }] }).param, "plugins.dlp.stop_words[0].value");
});

Deno.test("readRequestOptions() refuses with field, value and what is allowed", () => {
  const cases: [unknown, string][] = [
    [{ mode: "warn" }, 'Cannot read plugins.dlp.mode: expected one of alert, mask, block, got "warn"'],
    [
      { report_scope: 3 },
      "Cannot read plugins.dlp.report_scope: expected one of all, last_message, latest_user_message, got 3",
    ],
    [
      { stop_words: "x" },
      'Cannot read plugins.dlp.stop_words: expected a list of at most 1000 stop words, got "x"',
    ],
    [
      { stop_words: [{ match: "exact" }] },
      "Cannot read plugins.dlp.stop_words[0].value: expected a string of 1 to 256 characters, got nothing",
    ],
    [
      { allowlist: [{ value: "x", match: "fuzzy" }] },
      'Cannot read plugins.dlp.allowlist[0].match: expected one of exact, got "fuzzy"',
    ],
    [
      { regexes: [{ name: "x", pattern: "a".repeat(513) }] },
      "Cannot read plugins.dlp.regexes[0].pattern: expected an RE2 pattern of 1 to 512 characters, got a string of 513 characters",
    ],
    [
      { regexes: [{ name: "x" }] },
      "Cannot read plugins.dlp.regexes[0].pattern: expected an RE2 pattern of 1 to 512 characters, got nothing",
    ],
    [{ acknowledged: "yes" }, 'Cannot read plugins.dlp.acknowledged: expected true or false, got "yes"'],
    [[], "Cannot read plugins.dlp: expected an object, got a list of 0"],
    [true, "Cannot read plugins.dlp: expected an object, got true"],
  ];
  for (const [given, message] of cases) {
    const failure = refused(given);
    assertEquals(failure.message, message);
    assertEquals(failure.errors?.[0].msg, message);
    assertEquals(failure.errors?.[0].loc.slice(0, 2), ["plugins", "dlp"]);
  }
});

Deno.test("readRequestOptions() refuses a field that there is not, so that a slip does not check less", () => {
  assert(refused({ stopwords: [] }).message.includes("expected only mode, answers, entity_types"));
  assert(
    refused({ stop_words: [{ value: "x", fuzzy: true }] }).message.includes("expected only value, match"),
  );
});

Deno.test("readRequestOptions() names every mistake at once", () => {
  assertEquals(refused({ mode: "no", report_scope: "no", restore: 1 }).errors?.length, 3);
});

Deno.test("readRequestOptions() refuses an unknown entity type with the list of those there are", () => {
  const failure = refused({ entity_types: ["EMAIL", "NOPE"] });
  assertEquals(failure.param, "plugins.dlp.entity_types[1]");
  for (const name of ALL_ENTITY_NAMES) assert(failure.message.includes(name), name);
  assert(failure.message.endsWith('got "NOPE"'));
});

Deno.test("readRequestOptions() never repeats a value that must not leak", () => {
  const value = `4111 1111 1111 1111 ${"x".repeat(300)}`;
  assert(!JSON.stringify(refused({ stop_words: [{ value }] }).errors).includes("4111"));
  assert(!JSON.stringify(refused({ allowlist: [{ value: { secret: "4111" } }] }).errors).includes("4111"));
});

Deno.test("readRequestOptions() bounds how many rules a request brings", () => {
  const words = (n: number) => ({ stop_words: Array.from({ length: n }, (_, i) => ({ value: `w${i}` })) });
  assertEquals(readRequestOptions(words(1000)).rules.stopWords.length, 1000);
  refused(words(1001));
  refused({ regexes: Array.from({ length: 51 }, () => ({ name: "x", pattern: "x" })) });
});
