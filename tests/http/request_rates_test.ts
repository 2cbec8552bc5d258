/** Requests of a key that are no generations, by the minute. */
import { assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { RequestRates } from "../../src/http/request_rates.ts";

function rates() {
  let at = 0;
  const taken = new RequestRates({ now: () => at });
  return { take: taken.take.bind(taken), pass: (ms: number) => void (at += ms) };
}

Deno.test("RequestRates allows the key's requests per minute for counts, and at least sixty for reads", () => {
  const { take, pass } = rates();
  for (let i = 0; i < 5; i++) take("count", "k", 5);
  const refused = assertThrows(() => take("count", "k", 5), Failure);
  assertEquals([refused.code, refused.retryAfter], ["provider_rate_limited", 12]);
  for (let i = 0; i < 60; i++) take("read", "k", 5);
  assertThrows(() => take("read", "k", 5), Failure, "60 such requests");
  for (let i = 0; i < 90; i++) take("read", "other", 90);
  assertThrows(() => take("read", "other", 90), Failure);
  pass(12_000);
  take("count", "k", 5);
  assertThrows(() => take("count", "k", 5), Failure);
  for (let i = 0; i < 1000; i++) take("count", "free", null);
});

Deno.test("RequestRates forgets the key that was used the longest ago behind 10,000 others", () => {
  const { take } = rates();
  take("count", "first", 1);
  take("count", "second", 1);
  for (let i = 0; i < 9998; i++) take("count", `k${i}`, 1);
  assertThrows(() => take("count", "first", 1), Failure);
  // The second is the oldest now.
  take("count", "one more", 1);
  take("count", "second", 1);
  assertThrows(() => take("count", "first", 1), Failure);
});
