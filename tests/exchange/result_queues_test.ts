import { assertEquals } from "@std/assert";
import type { ResultContent, Turn } from "../../src/exchange/prompt.ts";
import { ResultQueues } from "../../src/exchange/result_queues.ts";

function result(callId: string, text: string): ResultContent {
  return {
    type: "result",
    callId,
    kind: "function",
    content: [{ type: "text", text }],
    isError: false,
    plain: true,
  };
}

Deno.test("ResultQueues pairs calls and results of one id off in order, from a turn on", () => {
  const [a, b, c, other] = [result("x", "a"), result("x", "b"), result("x", "c"), result("y", "other")];
  const turns: Turn[] = [
    { role: "user", content: [a] },
    { role: "assistant", content: [] },
    { role: "user", content: [b, other, c] },
  ];
  const queues = new ResultQueues(turns);
  assertEquals(queues.take("x", 1), b);
  assertEquals([queues.taken(a), queues.taken(b)], [false, true]);
  assertEquals([queues.take("x", 2), queues.take("x", 2), queues.take("none")], [c, undefined, undefined]);
  assertEquals(new ResultQueues(turns).take("x"), a);
});
