/** Reads and housekeeping of an SQLite file in threads of their own: the same answers, and nobody waits for a long one. */
import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { StoreUnavailable } from "../../src/store/engine.ts";
import { encodeRecord, type Generation, openStore, type Store } from "../../src/store/mod.ts";
import { openSqlite } from "../../src/store/sqlite/mod.ts";
import { doJob, type Job } from "../../src/store/sqlite/jobs.ts";
import { SqliteFile } from "../../src/store/sqlite/file.ts";
import { SqliteThread } from "../../src/store/sqlite/thread.ts";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { sqlitePlace } from "../support/cluster.ts";
import { nextTurn } from "../support/time.ts";

const NOW = Date.UTC(2026, 0, 15, 12);
const DAY = 86_400_000;
/** A read of about a second, which gives one row. */
const LONG =
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT MAX(i) AS top FROM n`;

function generation(id: string, created: number): Generation {
  return {
    id,
    created,
    keyId: "key_1",
    key: "dev",
    account: "acme",
    format: "messages",
    requestedModel: "a/b",
    model: "a/b",
    provider: "p",
    stream: true,
    status: "completed",
    errorCode: null,
    usage: { ...NO_USAGE, input: 10, output: 7 },
    estimated: false,
    searches: 0,
    cost: 9_007_199_254_740_993n,
    ttftMs: 12,
    latencyMs: 34,
    clientGone: false,
    dlp: null,
    tags: null,
    session: null,
    team: null,
    priceVersion: null,
    cacheSaved: null,
    toolCalls: null,
    repaired: null,
    steps: null,
    listCost: null,
  };
}

async function inFolder(body: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "sluice-thread-" });
  try {
    await body(`${folder}/store.db`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function filled(path: string, smallBytes: number): Promise<Store> {
  const store = openStore(`sqlite:${path}`, { smallBytes });
  await store.prepare();
  await store.registerNode("n");
  const all = Array.from({ length: 30 }, (_, i) => generation(`g${i}`, NOW - i * 5 * DAY));
  await store.sync({ node: "n", seq: 1, now: NOW, records: all.map(encodeRecord), leases: [] });
  return store;
}

Deno.test("threads answer and keep house as this thread does", async () => {
  const answers: unknown[] = [];
  for (const smallBytes of [0, Infinity]) {
    await inFolder(async (path) => {
      const store = await filled(path, smallBytes);
      try {
        answers.push([
          await store.listGenerations({ key: "dev" }, { after: null, limit: 3 }),
          await store.generation("g7"),
          await store.sumUsage({ by: ["model"], from: null, to: null }),
          await store.sumUsage({ by: ["key"], from: NOW - 20 * DAY, to: null, keyId: "key_1" }),
          await store.retireSome(NOW - 90 * DAY, 7),
          await store.retireSome(NOW - 90 * DAY, 7),
          await store.retireSome(NOW - 90 * DAY, 7),
          await store.listGenerations({}, { after: null, limit: 50 }),
        ]);
        // What a thread has just written this thread reads, and the other way round.
        await store.sync({
          node: "n",
          seq: 2,
          now: NOW,
          records: [encodeRecord(generation("new", NOW))],
          leases: [],
        });
        assertEquals((await store.generation("new"))?.cost, 9_007_199_254_740_993n);
      } finally {
        await store.close();
      }
      // The last one to let go of the file has tidied up.
      assertEquals([...Deno.readDirSync(path.replace(/[^/]*$/, ""))].map((f) => f.name), ["store.db"]);
    });
  }
  assertEquals(answers[0], answers[1]);
});

Deno.test("a long read in a thread leaves this one free", async () => {
  await inFolder(async (path) => {
    const engine = openSqlite(path);
    await engine.query("CREATE TABLE t (a)");
    const here: Job[] = [];
    const thread = new SqliteThread({
      path,
      smallBytes: 0,
      here: (job) => {
        here.push(job);
        return doJob(engine, job);
      },
    });
    let ended = false;
    const long = thread.run({ kind: "query", sql: LONG }).then((rows) => {
      ended = true;
      return rows;
    });
    let turns = 0;
    while (!ended) {
      await engine.query("INSERT INTO t VALUES (1)");
      await nextTurn();
      turns++;
    }
    assertEquals(await long, [{ top: 3_000_000n }]);
    assert(turns > 10, `${turns}`);
    assertEquals(here, []);
    await thread.close();
    await engine.close();
  });
});

Deno.test("a thread that cannot open the file says so, like this one, and the next job may pass", async () => {
  await inFolder(async (path) => {
    const thread = new SqliteThread({
      path: `${path}.d/store.db`,
      smallBytes: -1,
      here: () => Promise.reject(new Error("here")),
    });
    Deno.mkdirSync(`${path}.d`);
    await Deno.writeTextFile(`${path}.d/store.db`, "");
    Deno.removeSync(`${path}.d`, { recursive: true });
    Deno.mkdirSync(`${path}.d/store.db`, { recursive: true });
    await assertRejects(() => thread.run({ kind: "query", sql: "SELECT 1 AS one" }), StoreUnavailable);
    Deno.removeSync(`${path}.d/store.db`);
    assertEquals(await thread.run({ kind: "query", sql: "SELECT 1 AS one" }), [{ one: 1n }]);
    await assertRejects(() => thread.run({ kind: "query", sql: "SELECT nothing" }), Error, "nothing");
    await thread.close();
  });
});

Deno.test("closing refuses what still waits, and waits for no long read for ever", async () => {
  await inFolder(async (path) => {
    const store = await filled(path, 0);
    const reads = Array.from({ length: 20 }, () => store.sumUsage({ by: ["key"], from: null, to: null }));
    const ended = Promise.allSettled(reads);
    await store.close();
    for (const read of await ended) {
      if (read.status === "rejected") assert(read.reason instanceof StoreUnavailable, String(read.reason));
    }
  });
});

Deno.test("a single statement waits for another writer, like a transaction", async () => {
  const here = sqlitePlace();
  const engine = here.engine();
  await engine.query("CREATE TABLE beats (n INTEGER)");
  const other = new DatabaseSync(here.address.url.slice("sqlite:".length));
  try {
    other.exec("BEGIN IMMEDIATE");
    let written = false;
    const writing = engine.query("INSERT INTO beats VALUES (1)").then(() => written = true);
    await nextTurn();
    assertEquals(written, false);
    other.exec("COMMIT");
    await writing;
  } finally {
    other.close();
    await engine.close();
    here.remove();
  }
});

Deno.test("a large file whose amounts are beyond what numbers hold exactly is not taken for a damaged one", async () => {
  const here = sqlitePlace();
  const engine = here.engine();
  try {
    await engine.query("CREATE TABLE amounts (n INTEGER, filling BLOB)");
    await engine.query("INSERT INTO amounts VALUES (9000000000000000001, zeroblob(40000000))");
    const file = new SqliteFile(here.address.url.slice("sqlite:".length));
    file.check();
    file.close();
  } finally {
    await engine.close();
    here.remove();
  }
});

Deno.test("housekeeping waits while somebody's long read makes the log grow, which gets small again afterwards", () =>
  inFolder(async (path) => {
    const store = openStore(`sqlite:${path}`, { longLogBytes: 20 << 20 });
    const other = new DatabaseSync(path);
    try {
      await store.prepare();
      await store.registerNode("n");
      const write = (seq: number) => {
        const records = [0, 1].map((i) => encodeRecord(generation(`old${seq}${i}`, NOW - 100 * DAY)));
        return store.sync({ node: "n", seq, now: NOW, records, leases: [] });
      };
      const log = () => Deno.statSync(`${path}-wal`).size;
      await write(1);
      other.exec("CREATE TABLE filler (data BLOB)");
      const reader = new DatabaseSync(path);
      reader.exec("BEGIN");
      reader.prepare("SELECT COUNT(*) FROM generations").get();
      other.exec("INSERT INTO filler VALUES (zeroblob(24000000))");
      assert(log() > 20 << 20, `${log()}`);
      assertEquals(await store.retireSome(NOW, 10), 0);
      reader.exec("COMMIT");
      reader.close();
      other.exec("PRAGMA wal_checkpoint(PASSIVE)");
      await write(2);
      assert(log() <= 17 << 20, `${log()}`);
      assertEquals(await store.retireSome(NOW, 10), 4);
    } finally {
      other.close();
      await store.close();
    }
  }));
