/**
 * What authentication, admission, reservation and settlement add to a call: CPU of this process per call, everything
 * included that happens behind it (journal, transactions, checkpoints), and the part that stands in the call's way.
 *
 * `deno run -A tests/bench/accounts.ts [STORE_URL]`; without a URL an SQLite file in a folder that goes with the run.
 */
import { ACCOUNTS, KEYS } from "../../src/accounts/config.ts";
import process from "node:process";
import { openAccounts } from "../../src/accounts/mod.ts";
import type { GenerationEnd } from "../../src/exchange/generation.ts";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { openStore } from "../../src/store/mod.ts";

const SECRET = "sk_live_benchbenchbenchbenchbenchbenchbenchbench";
const ROUNDS = 7;
const CALLS = 20_000;
/** Calls that end within one turn of the event loop, as under load. */
const AT_ONCE = 16;

const folder = await Deno.makeTempDir({ prefix: "sluice-bench-" });
const store = openStore(Deno.args[0] ?? `sqlite:${folder}/store.db`, {
  filePrefix: `${folder}/node`,
  schema: "bench",
});
const service = await openAccounts({
  store,
  clock: Date,
  log: { info: console.log, warn: console.warn },
  config: {
    keys: KEYS.parse([{
      name: "bench",
      secret: SECRET,
      account: "bench",
      spend_limit: { amount: "100000", period: "month" },
      rate_limit: { requests_per_minute: 100_000_000, tokens_per_minute: 1_000_000_000_000 },
    }]),
    accounts: ACCOUNTS.parse([{ name: "bench", credits: "1000000" }]),
    accessPolicies: [],
    searchPrice: "0.005",
  },
});
const prices = { prompt: "0.00000125", completion: "0.00001", input_cache_read: "0.000000125" };
const end: GenerationEnd = {
  status: "completed",
  provider: "openai",
  errorCode: null,
  usage: { ...NO_USAGE, input: 1000, cached: 200, output: 300, reasoning: 100 },
  estimated: false,
  searches: 0,
  ttftMs: 180,
  latencyMs: 2100,
  clientGone: false,
  dlp: null,
};
const names = {
  format: "messages",
  requestedModel: "openai/gpt-5",
  model: "openai/gpt-5",
  stream: true,
} as const;
const estimate = { input: 1200, output: 1000, searches: 0 };
let count = 0;

function cpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** As the gateway names them: random, so that the index cannot count on an order. */
function newId(): string {
  return `gen_${(count++).toString(36)}${Math.random().toString(36).slice(2)}`;
}

const figures: { total: number; inTheWay: number }[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const before = cpu();
  let inTheWay = 0;
  for (let i = 0; i < CALLS; i += AT_ONCE) {
    const began = performance.now();
    for (let k = 0; k < AT_ONCE; k++) {
      const key = await service.authenticate(SECRET);
      const reservation = await service.admit({
        id: newId(),
        created: Date.now(),
        ...names,
        key,
        prices,
        estimate,
      });
      await reservation.settle(end);
    }
    inTheWay += performance.now() - began;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await service.flush();
  figures.push({ total: (cpu() - before) / CALLS, inTheWay: inTheWay * 1000 / CALLS });
}
const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1].toFixed(1);
console.log(`store: ${store.kind}, ${ROUNDS} rounds of ${CALLS} calls, medians in µs a call`);
console.log(`  CPU, all of it:       ${median(figures.map((f) => f.total))}`);
console.log(`  in the call's way:    ${median(figures.map((f) => f.inTheWay))}`);
await service.close();
await Deno.remove(folder, { recursive: true });
