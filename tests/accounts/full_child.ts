/** A process whose disk fills up: calls until it is refused, and says which calls it brought to an end. */
import { openAccounts } from "../../src/accounts/mod.ts";
import type { Failure } from "../../src/exchange/failure.ts";
import { openStore } from "../../src/store/mod.ts";
import { openCalls } from "../support/open_calls.ts";
import { PATIENCE_MS, pause } from "../support/time.ts";
import { configOf, endOf, requestOf, SECRET } from "./support.ts";

const [url] = Deno.args;
const service = await openAccounts({
  store: openStore(url),
  config: configOf({}, "1000000"),
  clock: Date,
  log: { info() {}, warn() {} },
  waitMs: PATIENCE_MS,
});
const key = await service.authenticate(SECRET);
const ended: string[] = [];
let refused: string | null = null;

async function call(i: number): Promise<void> {
  const request = requestOf(key, 1, { id: `g${i}`, created: Date.now(), requestedModel: "m".repeat(180) });
  try {
    const reservation = await service.admit(request);
    await pause(1);
    await reservation.settle(endOf({ input: 1 }));
    ended.push(request.id);
  } catch (error) {
    refused = (error as Failure).code;
  }
}

for (let i = 0; refused === null && i < 200_000; i += 50) {
  await Promise.all(Array.from({ length: 50 }, (_, k) => call(i + k)));
}
console.log(JSON.stringify({ refused, ended: ended.length, open: await openCalls(service) }));
Deno.exit(0);
