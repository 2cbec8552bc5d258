/** Streams that are kept, whose clients' connections broke, and others who need their place at the provider. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import { eventually, StoppedClock } from "../support/time.ts";
import { FORMATS, idOf, idsOf, readEvents, RESUME, resume, steered } from "./resumable.ts";

const { path, body } = FORMATS.chat;
/** So long a client may take to come back. */
const COMING_BACK_MS = 15_000;
/** So long others wait for a place. */
const IN_LINE_MS = 1000;

interface Rig {
  gateway: TestGateway;
  provider: ReturnType<typeof steered>;
  clock: StoppedClock;
  /** What the client had of the stream, and its id. */
  had: string;
  id: string;
}

/** A gateway whose provider has one place, which a stream holds whose client's connection has broken. */
async function withBrokenOff(test: (rig: Rig) => Promise<void>): Promise<void> {
  const provider = steered();
  const clock = new StoppedClock();
  const left = Promise.withResolvers<void>();
  const gateway = await testGateway(
    { p: { api: "openai-chat", url: provider.url, more: { max_concurrent: 1 } } },
    { server: { metrics: "open" } },
    { clock, onRequest: ({ signal }) => signal.addEventListener("abort", () => left.resolve()) },
  );
  try {
    provider.open(3);
    const first = await gateway.post(path, body, { headers: RESUME });
    const id = idOf(first);
    const had = await readEvents(first, 3);
    await left.promise;
    await test({ gateway, provider, clock, had, id });
  } finally {
    provider.open();
    await gateway.close();
    await provider.close();
  }
}

/** The status of another call at that provider, once it has waited for a place. */
async function another({ gateway, clock }: Rig): Promise<number> {
  let answer: Response | null = null;
  void gateway.post(path, body).then((response) => answer = response);
  await eventually(async () => {
    await clock.moveOn(IN_LINE_MS / 5);
    return answer !== null;
  });
  const { status, body: text } = answer! as Response;
  await text?.cancel();
  return status;
}

Deno.test("a stream whose client is about to come back is not ended for another call", async () => {
  await withBrokenOff(async (rig) => {
    const { gateway, provider, clock, had, id } = rig;
    await clock.moveOn(COMING_BACK_MS - 5 * IN_LINE_MS);
    assertEquals([await another(rig), provider.calls], [503, 1]);
    const back = await resume(gateway, id, { last: idsOf(had).at(-1) });
    // Its time to come back is over now, and it has.
    await clock.moveOn(COMING_BACK_MS);
    assertEquals([await another(rig), provider.calls], [503, 1]);
    provider.open();
    assertMatch(await back.text(), /word29[^]*\[DONE\]\n\n$/);
  });
});

Deno.test("a stream whose client does not come back is ended for another call", async () => {
  await withBrokenOff(async (rig) => {
    const { gateway, provider, id } = rig;
    await eventually(async () => (await another(rig)) === 200);
    assertEquals(provider.calls, 2);
    assertStringIncludes(await (await resume(gateway, id)).text(), "error");
  });
});
