/** A process that ends a call at prices of its own, and is killed before its store knows. Argument: store URL. */
import { openStore } from "../../src/store/mod.ts";
import { configOf, endOf, keyOf, open, requestOf } from "./support.ts";

const service = await open(openStore(Deno.args[0]), configOf());
const prices = { prompt: "0.07", completion: "0.09" };
const reservation = await service.admit(requestOf(await keyOf(service), 3, { prices }));
const usage = endOf({ input: 3, output: 1 });
const charge = { usage: usage.usage!, prices, version: "file 0123abcd" };
await reservation.settle({ ...usage, charges: [charge] });
Deno.kill(Deno.pid, "SIGKILL");
