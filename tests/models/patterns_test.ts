import { assertEquals } from "@std/assert";
import { matchesAny } from "../../src/models/patterns.ts";

Deno.test("matchesAny() takes a star for any run of characters, and the rest for itself", () => {
  const cases: [pattern: string, id: string, fits: boolean][] = [
    ["a/b", "a/b", true],
    ["a.b", "axb", false],
    ["*", "", true],
    ["*", "a/b", true],
    ["a*", "a", true],
    ["a/*", "a/b/c", true],
    ["*b", "a/b", true],
    ["*b", "a/bc", false],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["a**b", "a-b", true],
    ["*ab*ab", "ab", false],
    ["*ab*ab", "abab", true],
    ["*ab*b", "aab", false],
    ["a*b*c", "a-c-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["*\n*", "x\ny", true],
  ];
  for (const [pattern, id, fits] of cases) assertEquals(matchesAny([pattern], id), fits, `${pattern} ${id}`);
});

Deno.test("matchesAny() looks for each piece of a pattern once", () => {
  let searches = 0;
  // What a string is asked for, counted.
  const id = Object.assign(new String("a".repeat(200)), {
    indexOf(piece: string, at: number) {
      searches++;
      return "a".repeat(200).indexOf(piece, at);
    },
  }) as unknown as string;
  assertEquals(matchesAny([`${"*a".repeat(60)}*b`], id), false);
  assertEquals(searches, 60);
});
