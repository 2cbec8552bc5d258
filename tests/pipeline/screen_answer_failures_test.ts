/** Answers that are screened, and whose provider fails. */
import { nextTurn } from "../support/time.ts";
import { assertEquals, assertRejects } from "@std/assert";
import { judgeHits } from "../../src/dlp/answer_fields.ts";
import { Failure } from "../../src/exchange/failure.ts";
import type { Part } from "../../src/exchange/part.ts";
import { screenAnswer } from "../../src/pipeline/screening/screen_answer.ts";
import { Ticker } from "../../src/timing/ticker.ts";
import { argumentsOf, call, FINISH, type Found, guardOf, MAIL, START } from "./screened_parts.ts";

/** A pattern that RE2 does not take, so that no text is ever looked at whole. */
const UNSCANNABLE = { patterns: [{ name: "ORDER", pattern: "(?=AB)AB-1" }] };

Deno.test("screenAnswer() keeps a provider's failure whose words it cannot scan, without the words", async () => {
  async function* refusing(): AsyncGenerator<readonly Part[]> {
    yield await Promise.resolve([START]);
    throw new Failure("provider_rate_limited", `Slow down, ${MAIL}.`, {
      retryAfter: 7,
      operator: `Of ${MAIL}`,
    });
  }
  for (const mode of ["mask", "block"] as const) {
    const parts = screenAnswer(refusing(), guardOf({ ...UNSCANNABLE, answers: mode }, []));
    const failure = await assertRejects(() => Array.fromAsync(parts), Failure);
    assertEquals(
      [failure.code, failure.retryAfter, failure.message, failure.operator],
      [
        "provider_rate_limited",
        7,
        "The provider's words could not be scanned, so they are left out.",
        undefined,
      ],
    );
  }
});

Deno.test("screenAnswer() reports a failure once, however long the provider was silent before it", async () => {
  let now = 0;
  const ticker = new Ticker({ now: () => now });
  const found: Found[] = [];
  const silence = Promise.withResolvers<void>();
  async function* dying(): AsyncGenerator<readonly Part[]> {
    yield [START, ...call(['{"to":"x\\']).slice(0, 2)];
    await silence.promise;
    throw new Failure("provider_unavailable", `Lost ${MAIL}.`);
  }
  const out: Part[] = [];
  const reading = (async () => {
    for await (const batch of screenAnswer(dying(), guardOf({ ticker }, found))) out.push(...batch);
  })();
  const ended = assertRejects(() => reading, Failure, "Lost <EMAIL_ADDRESS_1>.");
  for (let i = 0; i < 5; i++) {
    await nextTurn();
    now += 300;
    ticker.tick();
  }
  silence.resolve();
  await ended;
  ticker.close();
  out.push({ type: "call-end", block: 0 }, FINISH);
  assertEquals(found.map(({ type }) => type), ["EMAIL_ADDRESS"]);
  assertEquals(argumentsOf({ parts: out, batches: [], found }), ['{"to":"x\\']);
});

Deno.test("judgeHits() shows no hit that it cannot scan, where findings count", async () => {
  const hits = [{ url: "https://a.example/", title: "A" }];
  for (const [answers, shown] of [["mask", []], ["block", []], ["alert", hits]] as const) {
    const { rules } = guardOf({ ...UNSCANNABLE, answers }, []);
    assertEquals(await judgeHits(hits, rules), { shown: [...shown], found: [] });
  }
});
