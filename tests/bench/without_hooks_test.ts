import { withoutHooks } from "./without_hooks.ts";

Deno.test("the program that telemetry is measured against can be made of the sources as they are", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await withoutHooks(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
