import { assert, assertEquals } from "@std/assert";
import { segmentEnd, segmentStart } from "../../src/dlp/segments.ts";

/** Where the segments of a text begin and end. */
function segmentsOf(text: string): [number, number][] {
  const segments: [number, number][] = [];
  for (let start = 0, end = 0; end < text.length; start = segmentStart(text, end)) {
    end = segmentEnd(text, start, text.length);
    segments.push([start, end]);
  }
  return segments;
}

Deno.test("segments overlap, cover the text, and begin and end with lines or words where there are any", () => {
  for (const unit of ["a", "\u200d", "\n", "word ", "a line of some length\n", "\\n escaped"]) {
    const text = unit.repeat(Math.ceil(200_000 / unit.length));
    const segments = segmentsOf(text);
    assertEquals(segments[0][0], 0);
    assertEquals(segments.at(-1)![1], text.length);
    for (const [i, [start, end]] of segments.entries()) {
      assert(end - start <= 36_000, `${unit}: ${start} to ${end}`);
      if (i === 0) continue;
      const before = segments[i - 1][1];
      assert(before - start > 900 && before - start <= 2049, `${unit}: ${before} then ${start}`);
      if (unit === "word ") assertEquals([text[start], text[before]], [" ", " "]);
      if (unit.startsWith("a line")) assertEquals([text[start - 1], text[before]], ["\n", "\n"]);
    }
  }
});

Deno.test("segments of a text cost what the text is long, whatever it does not hold", () => {
  let read = 0;
  const counted = (text: string): string =>
    ({
      length: text.length,
      slice(from: number, to = text.length) {
        read += Math.min(to, text.length) - from;
        return text.slice(from, to);
      },
      charCodeAt: (at: number) => text.charCodeAt(at),
      indexOf(_: string, from: number) {
        read += text.length - from;
        return -1;
      },
      lastIndexOf(_: string, from: number) {
        read += from;
        return -1;
      },
    }) as unknown as string;
  segmentsOf(counted("\u200d".repeat(1_000_000)));
  assert(read < 2_000_000, `${read} characters of a million`);
});
