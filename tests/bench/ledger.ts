/**
 * `deno task bench --only ledger [--rows N[,N]] [--keys N] [--store sqlite|postgres]`: how long every read of a large ledger
 * takes, and the worst that calls meet meanwhile. Rows are made by the databases themselves.
 *
 * The ledger is written as 0.1.0 leaves it, so the first start and what it goes on with are measured, too.
 */
import { ACCOUNTS, KEYS } from "../../src/accounts/config.ts";
import { type AccountsService, type Key, openAccounts } from "../../src/accounts/mod.ts";
import { Failure } from "../../src/exchange/failure.ts";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import type { Engine } from "../../src/store/engine.ts";
import { openStore, type Store } from "../../src/store/mod.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { makeCluster, postgresHere } from "../support/cluster.ts";
import { runProgram } from "../support/program.ts";
import { restore010 } from "../support/released.ts";

const DAY = 86_400_000;
const PEPPER = "pepper of the ledger's bench";
const SECRET = "sk_live_benchbenchbenchbenchbenchbenchbenchbench";
/** Keys that have rows; the others are only in the list. */
const ACTIVE_KEYS = 2000;
/** So long the first start keeps house beside calls before anything else is measured. */
const BUILDING_MS = 10_000;
const CHUNK = 200_000;
const PRICES = { prompt: "0.00000125", completion: "0.00001" };

interface Place {
  name: string;
  address(): { url: string };
  folder: string;
  engine(): Engine;
  open(): Store;
  close(): Promise<void>;
}

interface Read {
  name: string;
  /** Of several runs, in milliseconds. */
  times: number[];
  /** The longest that a call waited meanwhile for its admission or its bill, and that a turn of the event loop took. */
  worstCall: number;
  worstTurn: number;
}

export async function benchLedger(
  options: { rows: readonly number[]; keys: number; stores: readonly string[]; say(line: string): void },
): Promise<string> {
  const tables: string[] = [];
  for (const kind of options.stores) {
    if (kind === "postgres" && postgresHere === null) {
      tables.push("PostgreSQL is not installed: not measured.");
      continue;
    }
    for (const rows of options.rows) {
      const place = kind === "postgres" ? await postgresPlace() : await sqlitePlace();
      try {
        tables.push(await measure(place, rows, options.keys, options.say));
      } finally {
        await place.close();
      }
    }
  }
  return tables.join("\n\n");
}

async function sqlitePlace(): Promise<Place> {
  const folder = await Deno.makeTempDir({ prefix: "sluice-ledger-" });
  return {
    name: "SQLite",
    address: () => ({ url: `sqlite:${folder}/store.db` }),
    folder,
    engine: () => openSqlite(`${folder}/store.db`),
    open: () => openStore(`sqlite:${folder}/store.db`),
    close: () => Deno.remove(folder, { recursive: true }),
  };
}

async function postgresPlace(): Promise<Place> {
  const cluster = await makeCluster();
  const folder = await Deno.makeTempDir({ prefix: "sluice-ledger-" });
  return {
    name: "PostgreSQL",
    address: () => ({ url: cluster.url }),
    folder,
    engine: () => openPostgres(cluster.url),
    open: () => openStore(cluster.url, { filePrefix: `${folder}/node` }),
    async close() {
      await cluster.remove();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Rows over 120 days, so that the quarter before the retention of 90 has to go. */
async function fill(place: Place, rows: number, keys: number, now: number, say: Say): Promise<void> {
  await restore010(place, { rows: false });
  const engine = place.engine();
  const sqlite = engine.kind === "sqlite";
  const series = (from: number, to: number) =>
    sqlite
      ? `(WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${
        to - 1
      }) SELECT i FROM n) AS n`
      : `(SELECT i FROM generate_series(${from}::bigint, ${to - 1}::bigint) AS i) AS n`;
  const text = (number: string) => sqlite ? `printf('%010d', ${number})` : `lpad((${number})::text, 10, '0')`;
  if (sqlite) await engine.query("PRAGMA synchronous = OFF");
  // Filled without indexes, which are made at the end, as one does who loads that much.
  const indexes = [
    ["generations_by_created", "generations (created, id)"],
    ["generations_by_key", "generations (key_id, created)"],
  ];
  for (const [name] of indexes) await engine.query(`DROP INDEX ${name}`);
  for (let from = 0; from < rows; from += CHUNK) {
    const to = Math.min(rows, from + CHUNK);
    await engine.longTransaction((query) =>
      query(
        `INSERT INTO generations (id, created, key_id, key_name, account, format, requested_model, model, provider, stream,
           status, error_code, measured, input, cached, cache_write, cache_write_1h, audio_input, image_input, video_input,
           output, reasoning, audio_output, image_output, searches, cost, ttft_ms, latency_ms, client_gone, dlp_mode, dlp_findings)
         SELECT 'gen_' || ${text("i")}, ${now} - (${rows} - i) * (${120 * DAY} / ${rows}),
           CASE WHEN i % 4 = 0 THEN 'key_config_bench' ELSE 'key_' || ((i * 7919) % ${ACTIVE_KEYS}) END,
           CASE WHEN i % 4 = 0 THEN 'bench' ELSE 'name' || ((i * 7919) % ${ACTIVE_KEYS}) END,
           CASE WHEN i % 4 = 0 THEN 'bench' ELSE 'account' || (i % 20) END,
           'messages', 'm', 'vendor/model-' || ((i / 3) % 12), 'provider-' || (i % 4), 1,
           CASE WHEN i % 50 = 0 THEN 'failed' ELSE 'completed' END, NULL, 1, 1000 + i % 500, i % 200, 0, 0, 0, 0, 0,
           i % 700, 0, 0, 0, 0, 3000000 + i % 1000, 200, 2000, 0, NULL, NULL
         FROM ${series(from, to)}`,
      )
    );
    if (to % 1_000_000 === 0) say(`${place.name}: ${to.toLocaleString("en")} rows made`);
  }
  for (const [name, on] of indexes) {
    await engine.longTransaction((query) => query(`CREATE INDEX ${name} ON ${on}`));
  }
  await engine.query(
    `INSERT INTO keys (id, name, account, access_policy, dlp_policy, models, spend_amount, spend_period,
       requests_per_minute, tokens_per_minute, created, expires_at, revoked_at, rev)
     SELECT 'key_' || i, 'name' || i, 'account' || (i % 20), NULL, NULL, NULL, NULL, NULL, NULL, NULL, ${now} - i, NULL, NULL, 1
     FROM ${series(0, keys)}`,
  );
  await engine.query(
    `INSERT INTO secrets (hash, key_id, expires_at) SELECT 'hash' || i, 'key_' || i, NULL FROM ${
      series(0, keys)
    }`,
  );
  await engine.query("UPDATE revision SET rev = 2");
  // Where the gateway and its commands look for it.
  if (sqlite) await Deno.writeTextFile(`${place.folder}/store.db.pepper`, PEPPER);
  else await engine.query("INSERT INTO meta (name, value) VALUES ('pepper', $1)", [PEPPER]);
  await engine.close();
}

type Say = (line: string) => void;

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
  let ended = false;
  let count = 0;
  const running = (async () => {
    let turn = performance.now();
    while (!ended) {
      const began = performance.now();
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
      worstCall = Math.max(worstCall, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 2));
      worstTurn = Math.max(worstTurn, performance.now() - turn - 2);
      turn = performance.now();
    }
  })();
  return {
    take() {
      const worst = { worstCall, worstTurn };
      worstCall = worstTurn = 0;
      return worst;
    },
    async end() {
      ended = true;
      await running;
    },
  };
}

async function measure(
  place: Place,
  rows: number,
  keys: number,
  say: Say,
): Promise<string> {
  const now = Date.now();
  say(`${place.name}: making ${rows.toLocaleString("en")} rows and ${keys.toLocaleString("en")} keys`);
  const filled = performance.now();
  await fill(place, rows, keys, now, say);
  // Else what is measured waits for the disk.
  await new Deno.Command("sync").output();
  say(`${place.name}: made in ${((performance.now() - filled) / 1000).toFixed(0)} s`);
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
    const ms = performance.now() - began;
    say(`${place.name}: ${name} ${ms.toFixed(0)} ms${refused}`);
    return ms;
  };
  let store = place.open();
  let service!: AccountsService;
  const update = await timed("start with the update of the schema", async () => service = await open(store));
  let load = others(service);
  const during = async (name: string, work: () => Promise<unknown>, runs = 3) => {
    load.take();
    const times: number[] = [];
    for (let run = 0; run < runs; run++) times.push(await timed(name, work));
    reads.push({ name, times, ...load.take() });
  };
  await during("sums being built", () => new Promise((resolve) => setTimeout(resolve, BUILDING_MS)), 1);
  await during("usage by model, sums being built", () => service.usage({ by: "model" }), 1);
  await during(
    "GET /v1/key, sums being built",
    async () => service.keyStatus(await service.authenticate(SECRET) as Key),
    1,
  );
  await load.end();
  await service.close();
  // The rest without pauses.
  store = place.open();
  await timed("the rest of the sums", async () => {
    for (let steps = 1; await store.buildSums(5000); steps++) {
      if (steps % 100 === 0) say(`${place.name}: sums of ${(steps * 5000).toLocaleString("en")} more`);
    }
  });
  await store.close();

  store = place.open();
  const start = await timed("start", async () => service = await open(store));
  load = others(service);
  const key = await service.authenticate(SECRET) as Key;
  await during(
    "old generations being retired",
    () => new Promise((resolve) => setTimeout(resolve, BUILDING_MS)),
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
    ]
  ) {
    await during(`usage by ${by}`, () => service.usage({ by }));
  }
  await during("usage by key, 30 days to the minute", () => service.usage({ by: "key", from: month }));
  await during("usage by model, 30 days to the minute", () => service.usage({ by: "model", from: month }));
  await during("GET /v1/key", () => service.keyStatus(key), 10);
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
  await during("sluice backup", () => program("backup", "backup"), 1);
  await during("sluice ledger verify", () => program("ledger", "verify"), 1);
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

  const ms = (value: number) => value.toFixed(0);
  const middle = (times: number[]) => times.toSorted((a, b) => a - b)[times.length >> 1];
  return [
    `${place.name}, ${rows.toLocaleString("en")} generations, ${keys.toLocaleString("en")} keys`,
    `start that updates the schema of 0.1.0: ${ms(update)} ms; start after it: ${ms(start)} ms`,
    "",
    "| read | ms (median) | worst call meanwhile, ms | longest turn, ms |",
    "| --- | ---: | ---: | ---: |",
    ...reads.map((r) => `| ${r.name} | ${ms(middle(r.times))} | ${ms(r.worstCall)} | ${ms(r.worstTurn)} |`),
  ].join("\n");
}
