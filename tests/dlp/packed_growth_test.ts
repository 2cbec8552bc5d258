import { assert, assertEquals } from "@std/assert";
import { envelopedRuns } from "../../src/dlp/enveloped.ts";
import { longRuns } from "../../src/dlp/packed.ts";

Deno.test("longRuns() reads line ends once, however many stand together", () => {
  const n = 100_000;
  let reads = 0;
  const lineEnds = {
    length: n,
    charCodeAt(at: number) {
      reads++;
      return at >= 0 && at < n ? 10 : NaN;
    },
    // No mark of an envelope is in it.
    includes: () => false,
  } as unknown as string;
  assertEquals(longRuns(lineEnds), []);
  assert(reads < 5 * n, `${reads} reads of ${n} characters`);
});

Deno.test("envelopedRuns() reads each character a few times, however many heads stand before one end or none", () => {
  const heads = [
    "<~",
    "<~z",
    "<~!!!!!",
    "<~ \n",
    "begin 644 a\n",
    "begin 644 a\n> > ",
    "=ybegin a\n",
    "=ybegin a\nxx\n",
  ];
  for (const head of heads) {
    for (const end of ["", "~>", "=yend", "\n`\nend\n"]) {
      const text = head.repeat(2000) + end;
      let looks = 0;
      const counted = {
        length: text.length,
        includes: (mark: string) => text.includes(mark),
        startsWith: (mark: string, at: number) => text.startsWith(mark, at),
        matchAll: (pattern: RegExp) => text.matchAll(pattern),
        charCodeAt(at: number) {
          looks++;
          return text.charCodeAt(at);
        },
        indexOf(mark: string, from: number) {
          const found = text.indexOf(mark, from);
          looks += (found < 0 ? text.length : found) - from;
          return found;
        },
        // Of a pattern that starts at a place of its own.
        toString: () => text,
      } as unknown as string;
      envelopedRuns(counted);
      assert(
        looks < 10 * text.length,
        `${JSON.stringify(head)} ${JSON.stringify(end)}: ${looks} for ${text.length}`,
      );
    }
  }
});
