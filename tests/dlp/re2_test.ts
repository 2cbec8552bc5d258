import { assert, assertEquals } from "@std/assert";
import { openRe2, type Outcome, type Re2 } from "../../src/dlp/re2.ts";

/** Time enough for any machine: what is tested is memory, unless a test says otherwise. */
async function withRe2(use: (re2: Re2) => Promise<void>, options = { limitMs: 60_000 }): Promise<void> {
  const re2 = openRe2(options);
  try {
    await use(re2);
  } finally {
    re2.close();
  }
}

function texts(outcome: Outcome, text: string): string[] {
  if (outcome.kind !== "found") throw new Error(`expected matches, got ${outcome.kind}`);
  return outcome.spans[0].map(({ start, end }) => text.slice(start, end));
}

Deno.test("find() counts UTF-16 units on astral text, in every window", () =>
  withRe2(async (re2) => {
    const text = "😀".repeat(20_000) + "ab12" + "😀x".repeat(9000) + "cd34😀";
    assertEquals(texts(await re2.find("[a-z]{2}\\d{2}", [text]), text), ["ab12", "cd34"]);
    const lone = "a\ud83d b1 \udc00 b2";
    assertEquals(texts(await re2.find("b\\d", [lone]), lone), ["b1", "b2"]);
  }));

Deno.test("find() keeps anchors, borders and long matches across windows", () =>
  withRe2(async (re2) => {
    const text = "x".repeat(300) + " start " + "1".repeat(1500) + " mid " + "word ".repeat(8000) + "end";
    assertEquals(texts(await re2.find("\\d+", [text]), text), ["1".repeat(1500)]);
    assertEquals(texts(await re2.find("^x+|end$|^word", [text]), text), ["x".repeat(300), "end"]);
    assertEquals(texts(await re2.find("\\bord|\\bmid\\b", [text]), text), ["mid"]);
    assertEquals(texts(await re2.find("z*", [text]), text), []);
  }));

Deno.test("find() finds what RegExp finds, wherever in a long text it stands", () =>
  withRe2(async (re2) => {
    let seed = 7;
    const random = (n: number) => (seed = seed * 1103515245 + 12345 & 0x7fffffff) % n;
    const text = Array.from({ length: 9000 }, () => ["AB-1234", "lorem ", "é", "😀", "12", "\n"][random(6)])
      .join("");
    for (const pattern of ["[A-Z]{2}-\\d{4}", "\\d+", "lorem (?:é|😀)", "(?:AB-1234)+"]) {
      const want = [...text.matchAll(new RegExp(pattern, "gu"))].map((m) => m[0]);
      assertEquals(texts(await re2.find(pattern, [text]), text), want, pattern);
    }
  }));

Deno.test("find() finds the whole match, and only what matches in the whole text, at each offset of a long text", () =>
  withRe2(async (re2) => {
    const tail = ` ${"- ".repeat(9000)}`;
    for (
      const [pattern, value] of [
        ["AB-\\d+", "AB-1234567"],
        ["AB-\\d{4}(?:\\d{3})?", "AB-1234567"],
        ["AB-\\d{4}(?: ext \\d+)?", "AB-1234 ext 567"],
        ["[a-z]+@[a-z.]+", "jo@corp.example.org"],
        ["foo$", "foo bar"],
        ["\\bAB\\b", "ABCD"],
      ]
    ) {
      // Windows end at these lengths, where matches are rare and where they are frequent.
      for (const [border, before] of [[16_384, ""], [30_720, ""], [261, "AB-1 jo@x "]] as const) {
        for (let within = 0; within <= value.length; within++) {
          const text = `${before.padEnd(border - within)}${value}${tail}`;
          const want = [...text.matchAll(new RegExp(pattern, "gu"))].map((m) => m[0]);
          assertEquals(texts(await re2.find(pattern, [text]), text), want, `${pattern} ${border} ${within}`);
        }
      }
    }
  }));

Deno.test("find() says of a pattern that it is none of RE2's", () =>
  withRe2(async (re2) => {
    for (const pattern of ["a(?=b)", "(a)\\1", "(", "a{2000}"]) {
      const outcome = await re2.find(pattern, ["x"]);
      assert(outcome.kind === "refused" && outcome.why.length > 0, pattern);
    }
    assertEquals(await re2.find("a", ["xa"]), {
      kind: "found",
      spans: [[{ start: 1, end: 2 }]],
      whole: true,
    });
  }));

Deno.test("find() refuses a pattern that fills the memory, and everybody else's search goes on", () =>
  withRe2(async (re2) => {
    const other = re2.find("b", ["ab"]);
    const hungry = re2.find("\\pL{1000}", ["x"]);
    const later = re2.find("c+", ["abcc"]);
    assertEquals((await hungry).kind, "refused");
    assertEquals((await other).kind, "found");
    assertEquals((await later).kind, "found");
    // Known by now, so no worker is lost for it again.
    assertEquals((await re2.find("\\pL{1000}", ["x"])).kind, "refused");
  }));

Deno.test("find() gives up a search that takes too long, and the next one goes on", () =>
  withRe2(async (re2) => {
    assertEquals((await re2.find("a", ["a"])).kind, "found");
    const slow = re2.find(".{500}.{499}x", ["the quick brown fox ".repeat(4000)]);
    const next = re2.find("fox", ["fox"]);
    assertEquals((await slow).kind, "exhausted");
    assertEquals((await next).kind, "found");
  }, { limitMs: 100 }));

Deno.test("find() says when there are more matches than are looked for", () =>
  withRe2(async (re2) => {
    const outcome = await re2.find("\\d", ["1".repeat(30_000)]);
    assert(outcome.kind === "found" && !outcome.whole && outcome.spans[0].length === 20_000);
  }));

Deno.test("find() of sixty large patterns keeps within memory that holds a few", () =>
  withRe2(async (re2) => {
    // Unless they are freed, fewer than these fill RE2's heap, and that takes its worker.
    for (let i = 0; i < 60; i++) {
      const text = `x${i}${"a".repeat(40)}`;
      assertEquals(texts(await re2.find(`x${i}[a-z]{40}(?:[b-yß]{900})?`, [text]), text), [text]);
      assertEquals((await re2.find(`x${i}[a-z]{40}(?=x)`, [text])).kind, "refused");
    }
    assertEquals(re2.starts(), 1);
  }));

Deno.test("find() counts only time in which the process runs", () =>
  withRe2(async (re2) => {
    await re2.find("a", ["a"]);
    const stopped = new Int32Array(new SharedArrayBuffer(4));
    for (let i = 0; i < 6; i++) {
      const found = re2.find(`b${i}`, [`b${i}`]);
      // As a process that is stopped, or starved: the reply arrives meanwhile, and so does the limit.
      Atomics.wait(stopped, 0, 0, 400);
      assertEquals((await found).kind, "found");
    }
    assertEquals(re2.starts(), 1);
  }, { limitMs: 200 }));

Deno.test("close() answers what still waits", async () => {
  const re2 = openRe2();
  const waiting = [re2.find("a", ["a"]), re2.find("b", ["b"])];
  re2.close();
  for (const outcome of await Promise.all(waiting)) assertEquals(outcome.kind, "exhausted");
  assertEquals((await re2.find("a", ["a"])).kind, "exhausted");
});

Deno.test("find() gives a key one of two workers, so that others need not wait for it", () =>
  withRe2(async (re2) => {
    // Takes far longer than what the other key asks for.
    const heavy = `(?:${"a?b?c?d?".repeat(12)}){20}x`;
    const text = "abcdefghij ".repeat(2000);
    const order: string[] = [];
    const mine = [1, 2, 3].map((i) =>
      re2.find(`${heavy}${i}`, [text], "heavy").then(() => order.push(`heavy ${i}`))
    );
    const others = ["b", "c", "d"].map((p) =>
      re2.find(p, ["a b c d"], "light").then(() => order.push("light"))
    );
    await Promise.all(others);
    assertEquals(order.includes("heavy 2"), false, order.join());
    await Promise.all(mine);
    assertEquals(order.filter((one) => one.startsWith("heavy")), ["heavy 1", "heavy 2", "heavy 3"]);
    assertEquals(re2.starts(), 2);
  }));
