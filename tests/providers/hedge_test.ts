/** When a second route is asked, with providers that do as they are told. */
import { assertEquals, assertRejects } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { openHedged } from "../../src/providers/hedge.ts";
import type { Providers } from "../../src/providers/mod.ts";
import { nextTurn } from "../support/time.ts";

const ROUTES = ["a", "b"].map((provider) => ({ provider, model: "m", weight: null }));

/** Routes whose usual time is over at once. */
function routes(answers: Promise<string>[]) {
  let asked = 0;
  const providers = {
    inTurn: (routes: unknown) => routes,
    // Of streams; nothing is known of whole answers.
    p95: (_: unknown, stream: boolean) => stream === false ? null : 0,
    open: () => answers[asked++].then((begun) => ({ begun, opened: { close() {} } })),
  } as unknown as Providers;
  return { providers, asked: () => asked };
}

const opening = () => ({ stream: true }) as never;
const lost = () => {};
const never = new Promise<never>(() => {});

Deno.test("openHedged() gives the first route's answer while it still waits for money for a second", async () => {
  const first = Promise.withResolvers<string>();
  const { providers, asked } = routes([first.promise]);
  const affords = () => {
    first.resolve("from the first");
    return never;
  };
  const { begun, which } = await openHedged(providers, ROUTES, { opening, affords, lost });
  assertEquals([begun, which, asked()], ["from the first", "first", 1]);
});

Deno.test("openHedged() fails with the first route's failure while it still waits for money for a second", async () => {
  const first = Promise.withResolvers<string>();
  const { providers, asked } = routes([first.promise]);
  const affords = () => {
    first.reject(new Failure("provider_unavailable", "gone"));
    return never;
  };
  await assertRejects(() => openHedged(providers, ROUTES, { opening, affords, lost }), Failure, "gone");
  assertEquals(asked(), 1);
});

Deno.test("openHedged() asks the second route once there is money for it", async () => {
  const { providers } = routes([never, Promise.resolve("from the second")]);
  const affords = () => Promise.resolve(true);
  const { begun, which } = await openHedged(providers, ROUTES, { opening, affords, lost });
  assertEquals([begun, which], ["from the second", "second"]);
});

Deno.test("openHedged() does not compare a whole answer with streams", async () => {
  const first = Promise.withResolvers<string>();
  const { providers, asked } = routes([first.promise, Promise.resolve("from the second")]);
  const whole = () => ({ stream: false }) as never;
  const answer = openHedged(providers, ROUTES, {
    opening: whole,
    affords: () => Promise.resolve(true),
    lost,
  });
  for (let i = 0; i < 5; i++) await nextTurn();
  first.resolve("from the first");
  assertEquals([(await answer).begun, asked()], ["from the first", 1]);
});
