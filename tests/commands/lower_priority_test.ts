import { assertEquals } from "@std/assert";
import { existsSync } from "node:fs";
import os from "node:os";

const MODULE = new URL("../../src/commands/lower_priority.ts", import.meta.url).href;

/** By how much a process raises its niceness with these permissions. */
async function lowered(...permissions: string[]): Promise<number> {
  const source = `import os from "node:os"; import { lowerPriority } from "${MODULE}";
    const before = os.getPriority(); await lowerPriority(); console.log(os.getPriority() - before);`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", "--allow-sys", "--allow-read", ...permissions, dataUrl(source)],
    env: { NO_COLOR: "1" },
    stdout: "piped",
  }).output();
  return Number(new TextDecoder().decode(stdout));
}

function dataUrl(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

Deno.test({
  name: "lowerPriority() raises the niceness, and changes nothing without permission",
  ignore: Deno.build.os !== "linux" || !existsSync("/usr/bin/renice"),
  async fn() {
    assertEquals(await lowered(), 0);
    const own = os.getPriority();
    assertEquals(await lowered("--allow-run=ps,renice"), Math.max(0, 10 - own));
  },
});
