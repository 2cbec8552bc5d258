/** Calls that are kept, and wait for a place at their provider before anything of their answers is there. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";
import { eventually, StoppedClock } from "../support/time.ts";

const PATH = "/v1/chat/completions";
const KEPT = { "x-svc-resume": "true" };
const CLAIMED = { ...KEPT, "idempotency-key": "once" };
const bodyOf = (text: string, stream: boolean) => ({
  model: "p/model",
  stream,
  messages: [{ role: "user", content: text }],
});
const textOf = (seen: Seen) => (seen.body as ReturnType<typeof bodyOf>).messages[0].content;

/** A gateway whose provider has one place, which a call holds until `go`. */
async function withTakenPlace(
  test: (
    rig: TestGateway & { asked: string[]; go(): Promise<void>; seenToLeave(): Promise<void> },
  ) => Promise<void>,
): Promise<void> {
  const asked: string[] = [];
  const clock = new StoppedClock();
  const left = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const provider = loopbackProvider(async (seen) => {
    asked.push(textOf(seen));
    if (textOf(seen) === "holds") await held.promise;
    return leastAnswer(seen);
  });
  const gateway = await testGateway(
    { p: { api: "openai-chat", url: `${provider.url}/v1`, more: { max_concurrent: 1 } } },
    { server: { metrics: "open" } },
    { clock, onRequest: ({ signal }) => signal.addEventListener("abort", () => left.resolve()) },
  );
  const holds = gateway.post(PATH, bodyOf("holds", false));
  await eventually(() => asked.length === 1);
  const go = async () => {
    held.resolve();
    await (await holds).text();
  };
  const seenToLeave = async () => {
    await left.promise;
    // Now and then a call looks at its connection.
    await clock.moveOn(200);
  };
  await test({ ...gateway, asked, go, seenToLeave });
  await gateway.gateway.idle();
  await gateway.close();
  await provider.close();
}

async function inLine({ url }: TestGateway, count: number): Promise<void> {
  await eventually(async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return /^sluice_provider_queued\{[^}]*\} (\d+)$/m.exec(text)?.[1] === String(count);
  });
}

for (const [what, headers] of Object.entries({ "to be resumed": KEPT, "with an Idempotency-Key": CLAIMED })) {
  Deno.test(`a stream ${what} whose call waits for a place at its provider is answered`, () =>
    withTakenPlace(async (rig) => {
      const answer = rig.post(PATH, bodyOf("hi", true), { headers });
      await inLine(rig, 1);
      await rig.go();
      const response = await answer;
      const text = await response.text();
      assertEquals(response.status, 200, text);
      assertStringIncludes(text, "[DONE]");
      await rig.gateway.idle();
      const { data } = await rig.gateway.accounts.generations({});
      assertEquals(data.map(({ status, client_gone }) => [status, client_gone]), [
        ["completed", false],
        ["completed", false],
      ]);
    }));
}

for (const stream of [false, true]) {
  Deno.test(`a repeat gets the answer of a call whose caller left while it waited for a place, stream ${stream}`, () =>
    withTakenPlace(async (rig) => {
      const { url, gateway } = rig;
      const caller = new AbortController();
      const left = rig.post(PATH, bodyOf("hi", stream), { headers: CLAIMED, signal: caller.signal });
      await inLine(rig, 1);
      const repeat = rig.post(PATH, bodyOf("hi", stream), { headers: CLAIMED });
      await eventually(async () => {
        const text = await (await fetch(`${url}/metrics`)).text();
        return /^sluice_kept_streams_total\{[^}]*joined[^}]*\} 1$/m.test(text);
      });
      caller.abort();
      await left.catch(() => {});
      await rig.seenToLeave();
      await rig.go();
      const response = await repeat;
      const text = await response.text();
      assertEquals([response.status, response.headers.get("x-svc-joined")], [200, "true"], text);
      assertStringIncludes(text, '"content":"hi"');
      await gateway.idle();
      assertEquals(rig.asked, ["holds", "hi"]);
      assertEquals((await gateway.accounts.generations({})).data.length, 2);
    }));
}
