/** The gateway; prints which permissions it has a moment after it listens, as often as it is asked by SIGUSR1. */
import { main } from "../../src/main.ts";

Deno.addSignalListener("SIGUSR1", () => {
  const { state } = Deno.permissions.querySync({ name: "run" });
  console.error(`run: ${state}`);
});
await main();
