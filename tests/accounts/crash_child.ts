/**
 * A process to be killed: admits and settles as fast as it can and says what it did, one line for each step, before it goes
 * on. Arguments: store URL, path for its journal, a name that its generations begin with.
 */
import { openAccounts } from "../../src/accounts/mod.ts";
import { openStore } from "../../src/store/mod.ts";
import { PATIENCE_MS, pause } from "../support/time.ts";
import { configOf, endOf, requestOf, SECRET } from "./support.ts";

const [url, filePrefix, name, schema] = Deno.args;
const service = await openAccounts({
  store: openStore(url, { filePrefix, schema }),
  config: configOf({ spend_limit: { amount: "1000", period: "total" } }, "1000"),
  clock: Date,
  log: { info() {}, warn() {} },
  waitMs: PATIENCE_MS,
});
const key = await service.authenticate(SECRET);

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(line + "\n"));
}

async function call(i: number): Promise<void> {
  const id = `${name}_${i}`;
  const reservation = await service.admit(requestOf(key, 3, { id, created: Date.now() }));
  // From here on the provider would know of it.
  say(`+ ${id}`);
  await pause(i % 4);
  if (i % 7 === 6) {
    await reservation.release();
    say(`- ${id}`);
    return;
  }
  await reservation.settle(endOf({ input: 1 + i % 3 }));
  // From here on the caller has seen the end.
  say(`= ${id} ${1 + i % 3}`);
}

for (let i = 0;; i += 8) await Promise.all(Array.from({ length: 8 }, (_, k) => call(i + k)));
