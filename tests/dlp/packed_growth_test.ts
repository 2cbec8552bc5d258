import { assert, assertEquals } from "@std/assert";
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
  } as unknown as string;
  assertEquals(longRuns(lineEnds), []);
  assert(reads < 5 * n, `${reads} reads of ${n} characters`);
});
