/** The databases that the bench of the ledger reads, and what it fills them with. */
import { encodeRollup, Rollup } from "../../src/accounts/live/rollup.ts";
import { DIMENSIONS } from "../../src/accounts/live/dimensions.ts";
import { SPANS } from "../../src/accounts/live/timeline.ts";
import type { Engine, Query } from "../../src/store/engine.ts";
import { chainKeyOf, openStore, type Store } from "../../src/store/mod.ts";
import { openPostgres } from "../../src/store/postgres/mod.ts";
import { putRollups } from "../../src/store/rollups.ts";
import { openSqlite } from "../../src/store/sqlite/mod.ts";
import { schemaVersion } from "../../src/store/care/tables.ts";
import { buildSums } from "../../src/store/sums_build.ts";
import { makeCluster } from "../support/cluster.ts";
import { restore010 } from "../support/released.ts";

const DAY = 86_400_000;
export const DAYS = 120;
export const PEPPER = "pepper of the ledger's bench";
/** Keys that have rows; the others are only in the list. */
const ACTIVE_KEYS = 2000;
/** Version of the schema of 0.1.0. */
const RELEASED = 1;
const CHUNK = 200_000;
export const SESSIONS = 100_000;
const TEAMS = 20;
const CUSTOMERS = 500;

export type Say = (line: string) => void;

export interface Place {
  name: string;
  address(): { url: string };
  folder: string;
  engine(): Engine;
  open(): Store;
  close(): Promise<void>;
}

export async function sqlitePlace(): Promise<Place> {
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

export async function postgresPlace(): Promise<Place> {
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

/** A ledger that an earlier run has kept. */
export function placeAt(url: string): Place {
  const file = /^sqlite:(.+)$/.exec(url)?.[1];
  const folder = file === undefined
    ? Deno.makeTempDirSync({ prefix: "sluice-ledger-" })
    : file.replace(/[^/]+$/, "");
  return {
    name: file === undefined ? "PostgreSQL" : "SQLite",
    address: () => ({ url }),
    folder,
    engine: () => file === undefined ? openPostgres(url) : openSqlite(file),
    open: () => openStore(url, { filePrefix: `${folder}/node` }),
    close: () => Promise.resolve(),
  };
}

/** Rows over 120 days, so that the quarter before the retention of 90 has to go. */
export async function fill(place: Place, rows: number, keys: number, now: number, say: Say): Promise<void> {
  await restore010(place, { rows: false });
  const engine = place.engine();
  const sqlite = engine.kind === "sqlite";
  const { series, text } = seriesOf(engine.kind);
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
         SELECT 'gen_' || ${text("i")}, ${now} - (${rows} - i) * (${DAYS * DAY} / ${rows}),
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
  await engine.longTransaction((query) =>
    query(
      `INSERT INTO budgets (id, scope, owner, starts, ends, spent)
       SELECT 'a:' || account, 'account', account, 0, NULL, SUM(cost) FROM generations GROUP BY account`,
    )
  );
  await engine.query("UPDATE revision SET rev = 2");
  // Where the gateway and its commands look for it.
  if (sqlite) await Deno.writeTextFile(`${place.folder}/store.db.pepper`, PEPPER);
  else await engine.query("INSERT INTO meta (name, value) VALUES ('pepper', $1)", [PEPPER]);
  await engine.close();
}

/** Tables of numbers, and numbers as text of one length. */
function seriesOf(kind: Engine["kind"]) {
  return kind === "sqlite"
    ? {
      series: (from: number, to: number, i = "i") =>
        `(WITH RECURSIVE n(${i}) AS (SELECT ${from} UNION ALL SELECT ${i} + 1 FROM n WHERE ${i} < ${
          to - 1
        }) SELECT ${i} FROM n) AS n_${i}`,
      text: (number: string) => `printf('%010d', ${number})`,
    }
    : {
      series: (from: number, to: number, i = "i") =>
        `(SELECT ${i} FROM generate_series(${from}::bigint, ${to - 1}::bigint) AS ${i}) AS n_${i}`,
      text: (number: string) => `lpad((${number})::text, 10, '0')`,
    };
}

/** Whether the ledger is as 0.1.0 leaves it. */
export async function isOlder(place: Place): Promise<boolean> {
  const engine = place.engine();
  try {
    return await schemaVersion(engine, engine.query) <= RELEASED;
  } finally {
    await engine.close();
  }
}

/** The rest of the sums, without pauses and bounds. */
export async function buildRest(place: Place, say: Say): Promise<void> {
  const engine = place.engine();
  // A transaction of SQLite takes as long as it takes.
  if (engine.kind === "postgres") {
    Object.assign(engine, {
      transaction: <T>(work: (query: Query) => Promise<T>) => engine.longTransaction(work),
    });
  }
  for (let steps = 1; await buildSums(engine, 500_000, chainKeyOf(PEPPER)); steps++) {
    say(`${place.name}: sums of ${(steps * 500_000).toLocaleString("en")} more`);
  }
  await engine.close();
}

/** What this version keeps beside the sums by day: sums of sessions, teams and tags, and the spans of two nodes. */
export async function fillLabels(place: Place, now: number): Promise<void> {
  const engine = place.engine();
  const { series } = seriesOf(engine.kind);
  const today = now - now % DAY;
  const columns =
    `value, label, starts, key_id, key_name, account, team, model, provider, format, generations, failed,
    input, cached, cache_write, output, reasoning, searches, cache_saved, cost, latency_ms, tool_calls`;
  const summed = "1, 0, 1000, 100, 0, 300, 0, 0, 0, 3000000, 2000, 1";
  const keyOf = (i: string) => `'key_' || (${i} % ${ACTIVE_KEYS}), 'name' || (${i} % ${ACTIVE_KEYS})`;
  const route = (i: string) =>
    `'account' || (${i} % 20), 'team' || (${i} % ${TEAMS}), 'vendor/model-' || (${i} % 12), 'provider-' || (${i} % 4), 'messages'`;
  await engine.longTransaction(async (query) => {
    await query(
      `INSERT INTO label_sums (${columns}) SELECT 'run-' || i, 'session', ${today} - (i % 80) * ${DAY}, ${
        keyOf("i")
      }, ${route("i")}, ${summed} FROM ${series(0, SESSIONS)}`,
    );
    for (const [label, value, count] of [["team", "team", TEAMS], ["tag:customer", "customer", CUSTOMERS]]) {
      await query(
        `INSERT INTO label_sums (${columns}) SELECT '${value}' || i, '${label}', ${today} - d * ${DAY}, ${
          keyOf("i")
        }, ${route("i")}, ${summed} FROM ${series(0, Number(count))}, ${series(0, DAYS, "d")}`,
      );
    }
  });
  const rollup = encodeRollup(spanOfCalls());
  const rows = ["node_a", "node_b"].flatMap((node) =>
    SPANS.flatMap(({ span, kept }) =>
      Array.from({ length: kept / span }, (_, i) => ({
        span,
        starts: now - now % span - i * span,
        node,
        data: rollup,
      }))
    )
  );
  for (let i = 0; i < rows.length; i += 100) {
    await engine.longTransaction((query) => putRollups(engine, query, rows.slice(i, i + 100)));
  }
  await engine.analyze?.("label_sums");
  await engine.close();
}

const NAMES = {
  model: "vendor/model-",
  provider: "provider-",
  key: "name",
  team: "team",
  tag: "customer=customer",
} as const;

/** As full as a span can be: fifty values of each dimension, times of all sizes. */
function spanOfCalls(): Rollup {
  const rollup = new Rollup();
  const cells = DIMENSIONS.flatMap((name) =>
    Array.from({ length: 50 }, (_, i) => rollup.cell(name, `${NAMES[name]}${i}`))
  );
  for (const cell of [rollup.all, ...cells]) {
    cell.requests += 1000;
    cell.cost += 3_000_000n;
    for (let ms = 200; ms < 10_000; ms *= 1.4) {
      cell.ttft.add(ms / 10);
      cell.latency.add(ms);
    }
  }
  return rollup;
}
