/** Times and money as the console shows them: what is rounded up to a whole one of the next unit is shown in that. */
import { assertEquals } from "@std/assert";
import { ago, duration, money } from "../../src/console/page/lib/format.js";

Deno.test("duration() and ago() never tell sixty of what has sixty", () => {
  const SAID: [number, string][] = [
    [999.4, "999 ms"],
    [999.6, "1.00 s"],
    [9994, "9.99 s"],
    [9996, "10.0 s"],
    [59_940, "59.9 s"],
    [59_960, "1 min 0 s"],
    [119_600, "2 min 0 s"],
    [3_599_400, "59 min 59 s"],
    [3_599_600, "1 h 0 min"],
    [7_199_000, "2 h 0 min"],
  ];
  for (const [ms, said] of SAID) assertEquals(duration(ms), said, String(ms));
  const AGO: [number, string][] = [
    [59, "59 s ago"],
    [60, "1 min ago"],
    [3569, "59 min ago"],
    [3599, "1 h ago"],
    [84_599, "23 h ago"],
    [86_399, "1 d ago"],
    [-3599, "in 1 h"],
  ];
  for (const [seconds, said] of AGO) assertEquals(ago(0, seconds * 1000), said, String(seconds));
});

Deno.test("money() shows no amount as zero that the ledger can hold", () => {
  const SHOWN: [string, string][] = [
    ["0", "$0.00"],
    ["0.000000000001", "$0.000000000001"],
    ["-0.0000001", "−$0.00000010"],
    ["0.0000014", "$0.0000014"],
    ["0.0123", "$0.012"],
    ["0.1", "$0.10"],
    ["1234.5", "$1,234.50"],
    ["9000000", "$9M"],
  ];
  for (const [amount, shown] of SHOWN) assertEquals(money(amount), shown);
});
