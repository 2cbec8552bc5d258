/**
 * The gateway, and beside it what takes all files that the process may still open, and gives them back: whoever is connected to the port
 * that it prints says `take` or `give`, and is answered with the same.
 */
import { main } from "../../src/main.ts";

// The gateway gives permissions back that reading of this file needs.
Deno.permissions.revoke = (one) => Deno.permissions.query(one);

const taken: Deno.FsFile[] = [];

function take(): void {
  try {
    for (;;) taken.push(Deno.openSync("/dev/null"));
  } catch {
    // There are no more.
  }
}

const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
console.error(`files at ${(listener.addr as Deno.NetAddr).port}`);
void (async () => {
  const conn = await listener.accept();
  const buffer = new Uint8Array(10);
  for (let n = await conn.read(buffer); n !== null; n = await conn.read(buffer)) {
    const command = buffer.subarray(0, n);
    if (new TextDecoder().decode(command) === "take") take();
    else for (const file of taken.splice(0)) file.close();
    await conn.write(command);
  }
})();

await main();
