import { assert, assertEquals } from "@std/assert";
import { BatchBound } from "../../src/accounts/journal/batch_bound.ts";

Deno.test("BatchBound takes less after transactions that took long, never too little, and more again where there is time", () => {
  const bound = new BatchBound();
  const most = bound.most;
  bound.took(2 * most, 400);
  assertEquals(bound.most, Math.floor(most / 10));
  for (let i = 0; i < 20; i++) bound.took(2 * bound.most, 5000);
  const least = bound.most;
  assert(least >= 16 && least < 100, `${least}`);
  // What is small says nothing of what a large one would take.
  bound.took(1, 1);
  assertEquals(bound.most, least);
  for (let i = 0; i < 20; i++) bound.took(bound.most, 1);
  assertEquals(bound.most, most);
});
