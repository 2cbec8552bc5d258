import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Period, spanAt } from "../../src/accounts/budgets/period.ts";

const iso = (period: Period, at: string) => {
  const { starts, ends } = spanAt(period, Date.parse(at));
  return [new Date(starts).toISOString().slice(0, 10), ends && new Date(ends).toISOString().slice(0, 10)];
};

Deno.test("spanAt() follows the UTC calendar, weeks from Monday", () => {
  assertEquals(iso("day", "2026-02-28T23:59:59.999Z"), ["2026-02-28", "2026-03-01"]);
  assertEquals(iso("week", "2026-01-04T12:00:00Z"), ["2025-12-29", "2026-01-05"]);
  assertEquals(iso("week", "2026-01-05T00:00:00Z"), ["2026-01-05", "2026-01-12"]);
  assertEquals(iso("month", "2026-12-31T23:00:00Z"), ["2026-12-01", "2027-01-01"]);
  assertEquals(iso("total", "2026-12-31T23:00:00Z"), ["1970-01-01", null]);
});

Deno.test("spanAt() of any instant holds it, and the next begins where it ends", () => {
  const period = fc.constantFrom<Period>("day", "week", "month");
  fc.assert(fc.property(period, fc.integer({ min: 0, max: 4e12 }), (p, now) => {
    const { starts, ends } = spanAt(p, now);
    assert(starts <= now && now < ends!);
    assertEquals(spanAt(p, ends!).starts, ends);
    assertEquals(spanAt(p, ends! - 1).starts, starts);
  }));
});
