/** What of large answers their clients have not received is bounded, whoever they are. */
import { assertEquals } from "@std/assert";
import { UnsentAnswers } from "../../src/transport/unsent_answers.ts";

Deno.test("UnsentAnswers holds 128 MiB, and then closes the connection that has waited longest", () => {
  const closed: string[] = [];
  const taker = (name: string, due: number) => ({ due, close: () => void closed.push(name) });
  const unsent = new UnsentAnswers<ReturnType<typeof taker>>();
  const [first, second, third] = [taker("first", 20), taker("second", 10), taker("third", 30)];
  unsent.add(first, 64 << 20);
  unsent.add(second, 64 << 20);
  assertEquals([closed, unsent.bytes], [[], 128 << 20]);
  unsent.add(third, 1);
  assertEquals([closed, unsent.bytes], [["second"], (64 << 20) + 1]);
  // A single answer may be larger.
  unsent.end(first);
  unsent.end(third);
  unsent.add(first, 200 << 20);
  assertEquals([closed, unsent.bytes], [["second"], 200 << 20]);
});
