import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Breaker, type BreakerState, type Permit, PROBES } from "../../src/providers/breaker.ts";

const SETTINGS = { failures: 3, windowMs: 1000, openMs: 500 };

function failTimes(breaker: Breaker, times: number, now: number): void {
  for (let i = 0; i < times; i++) breaker.enter(now)?.fail(now);
}

Deno.test("Breaker opens after enough failures, if they are half of all", () => {
  const quiet = new Breaker(SETTINGS);
  failTimes(quiet, 2, 0);
  assertEquals(quiet.state(0), "closed");
  failTimes(quiet, 1, 0);
  assertEquals(quiet.state(0), "open");
  assertEquals(quiet.enter(0), null);

  const busy = new Breaker(SETTINGS);
  for (let i = 0; i < 10; i++) busy.enter(0)?.succeed(0);
  failTimes(busy, 9, 0);
  assertEquals(busy.state(0), "closed");
  failTimes(busy, 1, 0);
  assertEquals(busy.state(0), "open");
});

Deno.test("Breaker forgets failures that are older than its window", () => {
  const breaker = new Breaker(SETTINGS);
  failTimes(breaker, 2, 0);
  failTimes(breaker, 2, 1100);
  assertEquals(breaker.state(1100), "closed");
  assertEquals(breaker.counts(1100), { calls: 2, failures: 2 });
});

Deno.test("Breaker tries a half-open route with few calls, and closes after as many successes", () => {
  const breaker = new Breaker(SETTINGS);
  failTimes(breaker, 3, 0);
  assertEquals(breaker.opensIn(100), 400);
  assertEquals(breaker.allows(499), false);
  const probes = Array.from({ length: PROBES }, () => breaker.enter(500)!);
  assertEquals(breaker.state(500), "half-open");
  assertEquals(breaker.enter(500), null);
  // One whose end says nothing makes room for another.
  probes[0].abandon();
  probes[0] = breaker.enter(500)!;
  for (const probe of probes) probe.succeed(501);
  assertEquals(breaker.state(501), "closed");
  assertEquals(breaker.counts(501), { calls: 0, failures: 0 });
});

Deno.test("Breaker opens again when a probe fails, for the whole time", () => {
  const breaker = new Breaker(SETTINGS);
  failTimes(breaker, 3, 0);
  const [first, second] = [breaker.enter(500)!, breaker.enter(500)!];
  first.succeed(510);
  second.fail(520);
  assertEquals(breaker.state(1019), "open");
  assertEquals(breaker.state(1020), "half-open");
});

Deno.test("Breaker takes a success back when the answer breaks off", () => {
  const breaker = new Breaker(SETTINGS);
  for (let i = 0; i < 3; i++) {
    const permit = breaker.enter(0)!;
    permit.succeed(0);
    permit.fail(10);
  }
  assertEquals(breaker.state(10), "open");
});

Deno.test("Breaker does not hear of calls that began before it opened", () => {
  const breaker = new Breaker(SETTINGS);
  const early = breaker.enter(0)!;
  // As many as close it, if they were probes.
  const others = Array.from({ length: PROBES }, () => breaker.enter(0)!);
  failTimes(breaker, 3, 0);
  assertEquals(breaker.state(500), "half-open");
  early.fail(500);
  for (const pass of others) pass.succeed(500);
  assertEquals(breaker.state(500), "half-open");
  assertEquals(breaker.counts(500), { calls: 0, failures: 0 });
  assert(breaker.enter(500) && breaker.enter(500));
});

Deno.test("Breaker counts a call once, however often its end is told", () => {
  const breaker = new Breaker(SETTINGS);
  const pass = breaker.enter(0)!;
  pass.succeed(0);
  pass.succeed(0);
  assertEquals(breaker.counts(0), { calls: 1, failures: 0 });
  pass.fail(10);
  assertEquals(breaker.counts(10), { calls: 1, failures: 1 });
});

/** What the breaker should do, worked out anew from everything that happened. */
class Reference {
  state: BreakerState = "closed";
  verdicts: { at: number; failed: boolean }[] = [];
  openUntil = 0;
  proven = 0;

  look(now: number): void {
    if (this.state === "open" && now >= this.openUntil) this.#become("half-open");
  }

  verdict(now: number, failed: boolean): void {
    this.verdicts.push({ at: now, failed });
    const open = () => {
      this.#become("open");
      this.openUntil = now + SETTINGS.openMs;
    };
    if (this.state === "half-open") {
      if (failed) open();
      else if (++this.proven >= PROBES) this.#become("closed");
      return;
    }
    // The breaker forgets by tenths of its window.
    const tenth = SETTINGS.windowMs / 10;
    const recent = this.verdicts.filter((v) => Math.floor(v.at / tenth) > Math.floor(now / tenth) - 10);
    const failures = recent.filter((v) => v.failed).length;
    if (failed && failures >= SETTINGS.failures && failures * 2 >= recent.length) open();
  }

  #become(state: BreakerState): void {
    this.state = state;
    this.verdicts = [];
    this.proven = 0;
  }
}

Deno.test("Breaker does in any sequence of calls what its rules say", () => {
  const step = fc.record({
    wait: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 600 })),
    end: fc.constantFrom("succeed", "fail", "fail", "abandon", "later"),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 200 }), (steps) => {
      const breaker = new Breaker(SETTINGS);
      const reference = new Reference();
      let held: Permit[] = [];
      let now = 0;
      for (const { wait, end } of steps) {
        now += wait;
        const before = reference.state;
        reference.look(now);
        if (reference.state !== before) held = [];
        assertEquals(breaker.state(now), reference.state);
        const permit = breaker.enter(now);
        const room = reference.state === "closed" ||
          (reference.state === "half-open" && held.length < PROBES);
        assertEquals(permit !== null, room);
        if (permit === null) {
          // Whoever holds a place gives it up, or nothing would ever happen again.
          held.pop()?.abandon();
          continue;
        }
        if (end === "later") held.push(permit);
        else if (end === "abandon") permit.abandon();
        else {
          const state = reference.state;
          permit[end](now);
          reference.verdict(now, end === "fail");
          if (reference.state !== state) held = [];
        }
        if (reference.state === "closed") held = [];
        assertEquals(breaker.state(now), reference.state);
      }
    }),
    { numRuns: 300 },
  );
});
