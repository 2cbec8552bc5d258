import { assert, assertEquals } from "@std/assert";
import { needing, testFiles } from "./lacking.ts";

Deno.test("every test that needs ../shared is one that a checkout without it lists", () => {
  let found = 0;
  for (const file of testFiles()) {
    const calls = Deno.readTextFileSync(file).match(/^\s*sharedTest\(/gm)?.length ?? 0;
    const listed = needing(file);
    assertEquals(listed.length, calls, `${file.pathname}: path and title must be literals`);
    found += calls;
  }
  assert(found > 10);
});
