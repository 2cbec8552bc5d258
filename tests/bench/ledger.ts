/**
 * `deno task bench --only ledger`: how long every read of a large ledger takes, and the worst that calls meet meanwhile. Rows
 * are made by the databases themselves.
 *
 * The ledger is written as 0.1.0 leaves it, so the first start and what it goes on with are measured, too.
 */
import { ACCOUNTS, KEYS } from "../../src/accounts/config.ts";
import type { GenerationQuery } from "../../src/accounts/administration/input.ts";
import { type AccountsService, type Key, openAccounts } from "../../src/accounts/mod.ts";
import { Failure } from "../../src/exchange/failure.ts";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { overview } from "../../src/console/overview.ts";
import { DIMENSIONS, RANGES } from "../../src/console/overview_ranges.ts";
import type { Store } from "../../src/store/mod.ts";
import { postgresHere } from "../support/cluster.ts";
import { runProgram } from "../support/program.ts";
import {
  buildRest,
  fill,
  fillLabels,
  isOlder,
  type Place,
  placeAt,
  postgresPlace,
  type Say,
  sqlitePlace,
} from "./ledger_store.ts";
import { pause } from "../support/time.ts";

const DAY = 86_400_000;
const SECRET = "sk_live_benchbenchbenchbenchbenchbenchbenchbench";
/** So long the first start keeps house beside calls before anything else is measured. */
const BUILDING_MS = 10_000;
const PRICES = { prompt: "0.00000125", completion: "0.00001" };

interface Read {
  name: string;
  /** Of several runs, in milliseconds. */
  times: number[];
  /** The longest that a call waited meanwhile for its admission or its bill, and that a turn of the event loop took. */
  worstCall: number;
  worstTurn: number;
  /** Calls. */
  refused: number;
}

/** As the console's page Explore asks for them. */
const SEARCHES: Record<string, GenerationQuery> = {
  "failed": { status: "failed" },
  "of a provider": { provider: "provider-2" },
  "of a provider that has none": { provider: "none" },
  "of a session that has none": { session: "none" },
  "slow": { min_latency: "60000" },
  "with a tag that none has": { tag: "customer=none" },
};

export async function benchLedger(
  options: {
    rows: readonly number[];
    keys: number;
    stores: readonly string[];
    /** A ledger that an earlier run has kept. */
    at?: string;
    /** Only reads whose names match this; absent: all. */
    match?: string;
    /** How often each is run. */
    runs: number;
    keep: boolean;
    /** The ledger is made, and not read. */
    fillOnly: boolean;
    /** Only the first start is measured, and what goes on beside calls then. */
    updateOnly: boolean;
    say: Say;
  },
): Promise<string> {
  const { at, keep, say, fillOnly, updateOnly, runs: usual } = options;
  const how = { say, match: new RegExp(options.match ?? ""), usual, updateOnly };
  if (at !== undefined) return await measure(placeAt(at), how);
  const tables: string[] = [];
  for (const kind of options.stores) {
    if (kind === "postgres" && postgresHere === null) {
      tables.push("PostgreSQL is not installed: not measured.");
      continue;
    }
    for (const rows of options.rows) {
      const place = kind === "postgres" ? await postgresPlace() : await sqlitePlace();
      try {
        await make(place, { rows, keys: options.keys }, say);
        if (!fillOnly) tables.push(await measure(place, how));
      } finally {
        if (keep) tables.push(`The ledger is at ${place.address().url}`);
        else await place.close();
      }
    }
  }
  return tables.join("\n\n");
}

function open(store: Store): Promise<AccountsService> {
  return openAccounts({
    store,
    clock: Date,
    log: { info() {}, warn: (line) => console.error(line) },
    config: {
      keys: KEYS.parse([{
        name: "bench",
        secret: SECRET,
        account: "bench",
        spend_limit: { amount: "100000", period: "month" },
      }]),
      accounts: ACCOUNTS.parse([{ name: "bench", credits: "1000000" }]),
      accessPolicies: [],
      searchPrice: "0.005",
    },
  });
}

/** Calls, one after the other without end, and the longest that one of them and a turn of the event loop took. */
function others(service: AccountsService) {
  let worstCall = 0;
  let worstTurn = 0;
  let refused = 0;
  let ended = false;
  let count = 0;
  const running = (async () => {
    let turn = performance.now();
    while (!ended) {
      const began = performance.now();
      try {
        const key = await service.authenticate(SECRET);
        const reservation = await service.admit({
          id: `gen_bench${count++}${Math.random().toString(36).slice(2)}`,
          created: Date.now(),
          format: "messages",
          requestedModel: "vendor/model-1",
          model: "vendor/model-1",
          stream: true,
          key,
          prices: PRICES,
          estimate: { input: 1200, output: 1000, searches: 0 },
        });
        await reservation.settle({
          status: "completed",
          provider: "provider-1",
          errorCode: null,
          usage: { ...NO_USAGE, input: 1000, output: 300 },
          estimated: false,
          searches: 0,
          ttftMs: 100,
          latencyMs: 1000,
          clientGone: false,
          dlp: null,
        });
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        refused++;
      }
      worstCall = Math.max(worstCall, performance.now() - began);
      await pause(2);
      worstTurn = Math.max(worstTurn, performance.now() - turn - 2);
      turn = performance.now();
    }
  })();
  return {
    take() {
      const worst = { worstCall, worstTurn, refused };
      worstCall = worstTurn = refused = 0;
      return worst;
    },
    async end() {
      ended = true;
      await running;
    },
  };
}

async function make(place: Place, { rows, keys }: { rows: number; keys: number }, say: Say): Promise<void> {
  say(`${place.name}: making ${rows.toLocaleString("en")} rows and ${keys.toLocaleString("en")} keys`);
  await fill(place, rows, keys, Date.now(), say);
  // Else what is measured waits for the disk.
  await new Deno.Command("sync").output();
}

async function measure(
  place: Place,
  { say, match, usual, updateOnly }: { say: Say; match: RegExp; usual: number; updateOnly: boolean },
): Promise<string> {
  const now = Date.now();
  const reads: Read[] = [];
  const timed = async (name: string, work: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    let refused = "";
    try {
      await work();
    } catch (error) {
      // A read that takes too long is refused, which is a result like another.
      if (!(error instanceof Failure)) throw error;
      refused = `, refused: ${error.message}`;
    }
    const took = performance.now() - began;
    say(`${place.name}: ${name} ${ms(took)} ms${refused}`);
    return took;
  };
  let service!: AccountsService;
  let load!: ReturnType<typeof others>;
  const start = async (name: string) => {
    const took = await timed(name, async () => service = await open(place.open()));
    load = others(service);
    return took;
  };
  const during = async (name: string, work: () => Promise<unknown>, runs = usual) => {
    if (!match.test(name)) return;
    load.take();
    const times: number[] = [];
    for (let run = 0; run < runs; run++) times.push(await timed(name, work));
    const worst = load.take();
    say(
      `${place.name}: the worst call during ${name} ${ms(worst.worstCall)} ms, turn ${
        ms(worst.worstTurn)
      } ms, ${worst.refused} refused`,
    );
    reads.push({ name, times, ...worst });
  };
  const starts: string[] = [];
  if (await isOlder(place)) {
    starts.push(`start that updates the schema of 0.1.0: ${ms(await start("start with the update"))} ms`);
    await during("sums being built", () => pause(BUILDING_MS), 1);
    await during("usage by model, sums being built", () => service.usage({ by: "model" }), 1);
    await during(
      "GET /v1/key, sums being built",
      async () => service.keyStatus(await service.authenticate(SECRET) as Key),
      1,
    );
    await load.end();
    await service.close();
    if (updateOnly) return tableOf(`${place.name}, being updated`, starts, reads);
    await timed("the rest of the sums", () => buildRest(place, say));
    await timed("sessions, teams, tags and spans", () => fillLabels(place, now));
  }
  starts.push(`start after it: ${ms(await start("start"))} ms`);
  const key = await service.authenticate(SECRET) as Key;
  await during(
    "old generations being retired",
    () => pause(BUILDING_MS),
    1,
  );
  const month = new Date(now - 30 * DAY).toISOString();
  const all = await service.usage({ by: "format" });
  say(`${place.name}: sums of ${all.data[0]?.generations} generations`);
  for (
    const by of [
      "key",
      "model",
      "day",
      "account",
      "provider",
      "account,model",
      "key,model",
      "key,provider",
      "day,key",
      "day,model",
      "day,provider",
      "session",
      "session,model",
      "team",
      "tag:customer",
      "tag:customer,model",
      "day,tag:customer",
    ]
  ) {
    await during(`usage by ${by}`, () => service.usage({ by }));
  }
  await during("usage by key, 30 days to the minute", () => service.usage({ by: "key", from: month }));
  for (const by of ["model", "key,model", "session", "team", "tag:customer"]) {
    await during(`usage by ${by}, 30 days to the minute`, () => service.usage({ by, from: month }));
  }
  const timeline = await service.timeline();
  for (const range of Object.keys(RANGES)) {
    for (const by of DIMENSIONS) {
      await during(
        `overview of ${range} by ${by}`,
        () => overview({ range, by }, { administration: service, timeline, now: Date.now() }),
      );
    }
  }
  for (const [name, query] of Object.entries(SEARCHES)) {
    await during(`explore: ${name}`, () => service.generations({ ...query, limit: 50 }));
  }
  await during("GET /v1/key", () => service.keyStatus(key), 2 * usual);
  await during("generations, newest", () => service.generations({ limit: 25 }));
  await during("generations of a key by name", () => service.generations({ key: "name77", limit: 25 }));
  await during("generations of a model", () => service.generations({ model: "vendor/model-7", limit: 25 }));
  await during(
    "generations of a model that has none",
    () => service.generations({ model: "none", limit: 25 }),
  );
  await during("generations of an account", () => service.generations({ account: "account7", limit: 25 }));
  await during(
    "generations of an account that has none",
    () => service.generations({ account: "none", limit: 25 }),
  );
  await during("keys, a page", () => service.listKeys({ limit: 100 }));
  await during("keys, 1,000", () => service.listKeys({ limit: 1000 }));
  await during("accounts", () => service.accounts({ limit: 1000 }));
  await during("teams", () => service.teams({ limit: 1000 }));
  await during("audit", () => service.auditEntries({ limit: 100 }));
  await during("export of 50,000 generations", async () => {
    let cursor: string | undefined;
    for (let page = 0; page < 50; page++) {
      const list = await service.generations({ limit: 1000, cursor });
      cursor = list.next_cursor ?? undefined;
      if (cursor === undefined) break;
    }
  }, 1);
  await during("statement of a month, by generation", async () => {
    const month = new Date(now - 31 * DAY).toISOString().slice(0, 7);
    const { lines } = await service.statement({ account: "bench", month });
    let count = 0;
    for await (const page of lines) count += page.length;
    say(`${place.name}: ${count.toLocaleString("en")} lines`);
  }, 1);
  const program = async (...args: string[]) => {
    const env = { SLUICE_STORE: place.address().url };
    const { code, out, err } = await runProgram(args, { cwd: place.folder, env });
    if (code !== 0) throw new Error(`sluice ${args[0]} ended with ${code}: ${err}${out}`);
    say(`${place.name}: ${out.trim().replaceAll("\n", " ")}`);
  };
  await during("sluice store info", () => program("store", "info"), 1);
  await during("sluice ledger verify", () => program("ledger", "verify"), 1);
  await during("sluice backup", () => program("backup", "backup"), 1);
  await during("three loops of GET /v1/key and a usage by key and model at once", async () => {
    let ended = false;
    const loops = [1, 2, 3].map(async () => {
      while (!ended) await service.keyStatus(key);
    });
    await service.usage({ by: "key,model" });
    ended = true;
    await Promise.all(loops);
  }, 1);
  await load.end();
  await service.close();

  const count = all.data[0]?.generations.toLocaleString("en");
  return tableOf(`${place.name}, ${count} generations`, starts, reads);
}

function tableOf(title: string, starts: readonly string[], reads: readonly Read[]): string {
  const middle = (times: number[]) => times.toSorted((a, b) => a - b)[times.length >> 1];
  return [
    title,
    starts.join("; "),
    "",
    "| read | ms (median) | least | worst call meanwhile, ms | longest turn, ms | refused |",
    "| --- | ---: | ---: | ---: | ---: | ---: |",
    ...reads.map((r) =>
      `| ${r.name} | ${ms(middle(r.times))} | ${ms(Math.min(...r.times))} | ${ms(r.worstCall)} | ${
        ms(r.worstTurn)
      } | ${r.refused} |`
    ),
  ].join("\n");
}

function ms(value: number): string {
  return value.toFixed(0);
}
