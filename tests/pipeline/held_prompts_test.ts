/** What a stream holds while it goes on. */
import { assert } from "@std/assert";

const CHILD = new URL("./held_prompts_child.ts", import.meta.url).pathname;

Deno.test("a stream that has begun holds nothing of its messages, whatever its format and what is done with its answer", async () => {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--v8-flags=--expose-gc", CHILD],
    env: { NO_COLOR: "1" },
  }).output();
  const { unanswered, ...begun } = JSON.parse(new TextDecoder().decode(stdout)) as Record<string, number>;
  // A call that may still be asked of another provider is here to show that it is measured.
  assert(unanswered > 900_000, `a call without an answer holds ${unanswered} bytes of 1,000,000`);
  for (const [kind, bytes] of Object.entries(begun)) {
    assert(bytes < 300_000, `a stream of the kind ${kind} holds ${bytes} bytes`);
  }
});
