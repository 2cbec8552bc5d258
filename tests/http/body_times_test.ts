/** How long a body may take: the whole of it, by its size, and each silence in it. */
import { assertEquals } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { readJson } from "../../src/http/body.ts";
import { nextTurn, stoppedTicker } from "../support/time.ts";

/** After how many seconds a body is given up that sends a byte every so many seconds; null: not within the time. */
async function endsAfter(
  seconds: number,
  { every, length, maxBytes = 1000 }: { every: number; length?: number; maxBytes?: number },
): Promise<number | null> {
  const { ticker, pass } = stoppedTicker();
  let sender!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => void (sender = controller),
  });
  const headers = length === undefined ? undefined : { "content-length": String(length) };
  const request = new Request("http://x/", { method: "POST", body, headers });
  let ended: unknown = null;
  Promise.resolve(readJson(request, maxBytes, { ticker })).catch((thrown) => ended = thrown);
  sender.enqueue(new Uint8Array([0x20]));
  for (let second = 1; second <= seconds; second++) {
    await nextTurn();
    // A tick that comes late is not believed.
    for (let i = 0; i < 10; i++) pass(100);
    await nextTurn();
    if (ended !== null) {
      assertEquals(Failure.from(ended).errors?.[0].type, "body_incomplete");
      return second;
    }
    if (second % every === 0) sender.enqueue(new Uint8Array([0x20]));
  }
  sender.close();
  return null;
}

const near = (found: number | null, expected: number) =>
  assertEquals(found !== null && Math.abs(found - expected) <= 1, true, `${found} s, expected ${expected}`);

Deno.test("a body is given up after thirty seconds of silence", async () => {
  near(await endsAfter(50, { every: 100 }), 30);
  assertEquals(await endsAfter(50, { every: 25 }), null);
});

Deno.test("a body is given up after a minute, however steadily it drips", async () => {
  near(await endsAfter(100, { every: 10 }), 60);
});

Deno.test("a larger body has more time: a second for each 32 KB", async () => {
  near(await endsAfter(250, { every: 10, length: 3_200_000, maxBytes: 4_000_000 }), 160);
  // Of unknown length: as long as the largest.
  near(await endsAfter(250, { every: 10, maxBytes: 1_600_000 }), 110);
});
