import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import { type Expiring, RenewedToken } from "../../../src/providers/credentials/renewed_token.ts";
import { TokenError } from "../../../src/providers/credentials/token_service.ts";
import { nextTurn, StoppedClock } from "../../support/time.ts";
import { machine } from "./cloud.ts";

function counted(lifeMs: number | null) {
  const at = machine({});
  const state = { fetches: 0, broken: null as Error | null };
  const fetch = (): Promise<Expiring<string>> => {
    state.fetches++;
    return state.broken
      ? Promise.reject(state.broken)
      : Promise.resolve({ value: `t${state.fetches}`, lifeMs });
  };
  const steady = new StoppedClock();
  const token = new RenewedToken("the test", fetch, { ...at, clock: steady });
  return { ...at, state, steady, token };
}

Deno.test("RenewedToken fetches one token for all that wait", async () => {
  const { token, state } = counted(3_600_000);
  assertEquals(await Promise.all([token.get(), token.get(), token.get()]), ["t1", "t1", "t1"]);
  assertEquals(await token.get(), "t1");
  assertEquals(state.fetches, 1);
});

Deno.test("RenewedToken renews at a share of the life, and gives out the old one meanwhile", async () => {
  const { token, state, clock } = counted(4000);
  await token.get();
  clock.move(2999);
  assertEquals(await token.get(), "t1");
  assertEquals(state.fetches, 1);
  clock.move(1);
  assertEquals(token.get(), "t1");
  await nextTurn();
  assertEquals(token.get(), "t2");
  assertEquals(state.fetches, 2);
});

Deno.test("RenewedToken serves calls with a token that ends at once", async () => {
  for (const life of [0, -5000, 1]) {
    const { token, state, clock } = counted(life);
    for (let i = 0; i < 7; i++) {
      await token.get();
      clock.move(100);
    }
    assertEquals(state.fetches, 1, `life of ${life} ms`);
  }
});

Deno.test("RenewedToken outlives a token service that is out until its token ends", async () => {
  const { token, state, clock, lines } = counted(10_000);
  await token.get();
  state.broken = new TokenError("the token service answered 500");
  clock.move(7500);
  assertEquals(token.get(), "t1");
  await nextTurn();
  const fetches = state.fetches;
  // The renewal pauses: not every call asks again.
  for (let i = 0; i < 5; i++) assertEquals(token.get(), "t1");
  await nextTurn();
  assertEquals(state.fetches, fetches);
  clock.move(2500);
  const failure = await assertRejects(() => Promise.resolve(token.get()), Failure);
  assertEquals([failure.code, failure.lasting], ["provider_unavailable", true]);
  assertStringIncludes(failure.operator!, "token");
  assertStringIncludes(lines.join(), "the token service answered 500");
  state.broken = null;
  assertEquals((await token.get()).at(0), "t");
});

Deno.test("RenewedToken gives out no token that has ended while the clock was set back", async () => {
  const { token, state, clock, steady } = counted(3_600_000);
  await token.get();
  clock.move(-86_400_000);
  steady.move(3_599_999);
  state.broken = new TokenError("out");
  assertEquals(token.get(), "t1");
  await nextTurn();
  steady.move(1);
  await assertRejects(() => Promise.resolve(token.get()), Failure);
  state.broken = null;
  assertEquals(await token.get(), `t${state.fetches}`);
});

Deno.test("RenewedToken gives out no token that has ended while the machine slept", async () => {
  const { token, clock } = counted(3_600_000);
  await token.get();
  clock.move(3_600_000);
  assertEquals(await token.get(), "t2");
});

Deno.test("RenewedToken tries again within the call after two failures", async () => {
  const at = machine({});
  let fetches = 0;
  const token = new RenewedToken("the test", () => {
    return ++fetches < 3
      ? Promise.reject(new TokenError("out"))
      : Promise.resolve({ value: "t", lifeMs: null });
  }, at);
  assertEquals(await token.get(), "t");
  assertEquals([fetches, at.lines], [3, []]);
});

Deno.test("RenewedToken lets callers wait for one timeout of a token service that does not answer, not for three", async () => {
  const at = machine({});
  let fetches = 0;
  const token = new RenewedToken("the test", () => {
    fetches++;
    at.clock.move(5000);
    return Promise.reject(new TokenError("the token service did not answer within 5000 ms"));
  }, at);
  const failure = await assertRejects(() => Promise.resolve(token.get()), Failure);
  assertStringIncludes(failure.operator!, "did not answer within 5000 ms");
  assertEquals(fetches, 1);
});

Deno.test("RenewedToken lets callers wait only briefly for a token service that has not answered, until it does", async () => {
  const at = machine({});
  const sleeps: { ms: number; wake(): void }[] = [];
  let fetched = Promise.withResolvers<Expiring<string>>();
  const token = new RenewedToken("the test", () => fetched.promise, {
    ...at,
    sleep: (ms) => new Promise((wake) => void sleeps.push({ ms, wake })),
  });
  const fails = () => {
    at.clock.move(5000);
    fetched.reject(new TokenError("no answer", { late: true }));
    fetched = Promise.withResolvers();
  };
  const first = assertRejects(async () => await token.get(), Failure);
  fails();
  await first;
  assertEquals(sleeps, []);

  const second = assertRejects(async () => await token.get(), Failure, "not available");
  assertEquals(sleeps.map(({ ms }) => ms), [1000]);
  sleeps[0].wake();
  await second;

  // The fetch goes on, and whoever comes while the service answers gets the token.
  const third = token.get();
  fetched.resolve({ value: "t", lifeMs: null });
  assertEquals([await third, await token.get()], ["t", "t"]);
  sleeps[1].wake();
});

Deno.test("RenewedToken lets callers wait for the next fetch where the token service refused the last one", async () => {
  const { token, state } = counted(null);
  state.broken = new TokenError("the token service answered 500");
  await assertRejects(async () => await token.get(), Failure);
  state.broken = null;
  assertEquals(await token.get(), "t4");
});

Deno.test("RenewedToken forgets a discarded token, and not the one that followed it", async () => {
  const { token, state } = counted(null);
  await token.get();
  token.discard("t1");
  assertEquals(await token.get(), "t2");
  token.discard("t1");
  assertEquals(await token.get(), "t2");
  assertEquals(state.fetches, 2);
});

Deno.test("RenewedToken does not fetch one token for each call where every token is refused", async () => {
  const { token, state, steady } = counted(3_600_000);
  for (let i = 0; i < 100; i++) {
    token.discard(await token.get());
    steady.move(10);
  }
  assertEquals(state.fetches, 6);
  // It is tried again after some seconds.
  steady.move(9000);
  token.discard(await token.get());
  assertEquals([await token.get(), state.fetches], ["t7", 7]);
});

Deno.test("RenewedToken keeps the text of unknown errors out of the log", async () => {
  const { token, state, lines } = counted(null);
  state.broken = new Error("secret-in-the-text");
  const failure = await assertRejects(() => Promise.resolve(token.get()), Failure);
  assertEquals(`${lines} ${failure.operator} ${failure.message}`.includes("secret-in-the-text"), false);
});
