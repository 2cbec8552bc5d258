/** How the limit of open files is found. */
import { assertEquals } from "@std/assert";

Deno.test("connectionBound() leaves files to callers while it opens files to find their limit", async () => {
  const module = new URL("../../src/transport/connection_bound.ts", import.meta.url);
  // All files but so many as it opens in one turn, and one more.
  const script = `const { connectionBound } = await import(${JSON.stringify(module.href)});
    const bound = connectionBound(null, 1, () => {});
    const files = [];
    try {
      while (true) files.push(Deno.openSync("/dev/null"));
    } catch {
      for (const file of files.splice(-101)) file.close();
    }
    let turns = 0;
    let lacking = 0;
    const caller = setInterval(() => {
      turns++;
      const opened = [];
      try {
        for (let i = 0; i < 10; i++) opened.push(Deno.openSync("/dev/null"));
      } catch {
        lacking++;
      }
      for (const file of opened) file.close();
    }, 0);
    await bound.find();
    clearInterval(caller);
    console.log(JSON.stringify([turns > 0, lacking, bound.files]));`;
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", 'ulimit -n 300; exec "$0" eval "$1"', Deno.execPath(), script],
    stderr: "null",
  }).output();
  assertEquals(JSON.parse(new TextDecoder().decode(stdout)), [true, 0, 101]);
});
