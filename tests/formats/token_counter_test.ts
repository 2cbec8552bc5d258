import { assert, assertEquals } from "@std/assert";
import { openTokenCounter } from "../../src/formats/tokens/counter.ts";
import type { TokenAnswer, TokenJob } from "../../src/formats/tokens/worker.ts";
import { nextTurn } from "../support/time.ts";
import { countAll } from "../../src/formats/tokens/tokenizer.ts";

const PROSE = "It was the best of times, it was the worst of times; 1859 was a year. ";

Deno.test("openTokenCounter() counts in its thread what the tokenizer counts here", async () => {
  const tokens = openTokenCounter({ mostMs: Infinity });
  try {
    for (const texts of [[], [""], [PROSE], [PROSE.repeat(3000), PROSE], Array<string>(5000).fill("a b")]) {
      assertEquals(await tokens.countAll(texts), await countAll(texts));
    }
    const some = await tokens.countAll([PROSE.repeat(5000), PROSE.repeat(5000)], { enough: 1000 });
    assert(some > 1000 && some < 40_000, String(some));
  } finally {
    tokens.close();
  }
});

Deno.test("openTokenCounter() counts here where there are no threads, or the one there was is lost", async () => {
  const none = openTokenCounter({
    mostMs: Infinity,
    start: () => {
      throw new Error("no threads here");
    },
  });
  assertEquals(await none.countAll([PROSE]), await countAll([PROSE]));
  none.close();
  const lost = openTokenCounter({ mostMs: Infinity });
  const counting = lost.countAll([PROSE.repeat(20_000)]);
  lost.close();
  assertEquals(await counting, await countAll([PROSE.repeat(20_000)]));
});

Deno.test("openTokenCounter() has one piece at a time in its thread, and lets keys take turns", async () => {
  const jobs: TokenJob[] = [];
  const worker = {
    onmessage: (_: { data: TokenAnswer }) => {},
    postMessage: (job: TokenJob) => void jobs.push(job),
    terminate: () => {},
  };
  const tokens = openTokenCounter({ start: () => worker as unknown as Worker });
  const long = tokens.countAll(["a ".repeat(200_000)], { key: "long" });
  const longToo = tokens.countAll(["b ".repeat(200_000)], { key: "long" });
  const short = tokens.countAll(["c"], { key: "short" });
  const seen: string[] = [];
  for (let answered = 0; answered < jobs.length; answered++) {
    assertEquals(jobs.length, answered + 1);
    const { id, texts } = jobs[answered];
    assert(texts.join("").length <= 64 * 1024);
    seen.push(texts[0][0]);
    worker.onmessage({ data: { id, tokens: 1, ms: 1 } });
    // Each count asks for its next piece in turns of the event loop of its own.
    await nextTurn();
  }
  assertEquals(seen.indexOf("c"), 2);
  assertEquals(await Promise.all([long, longToo, short]), [7, 7, 1]);
  tokens.close();
});

Deno.test("openTokenCounter() counts for a while, and takes the rest for what came before, or leaves it out", async () => {
  const worker = {
    onmessage: (_: { data: TokenAnswer }) => {},
    postMessage({ id, texts }: TokenJob) {
      const tokens = texts.join("").length;
      queueMicrotask(() => worker.onmessage({ data: { id, tokens, ms: 40 } }));
    },
    terminate: () => {},
  };
  const tokens = openTokenCounter({ start: () => worker as unknown as Worker, mostMs: 100 });
  const text = "a".repeat(640 * 1024);
  assertEquals(await tokens.countAll([text]), 3 * 64 * 1024);
  assertEquals(await tokens.countAll([text, text], { rest: "estimated" }), 2 * text.length);
  tokens.close();
});
