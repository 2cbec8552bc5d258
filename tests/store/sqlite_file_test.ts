/** Files of a database that are looked at: relied upon whatever they hold, unless they are harmed. */
import { assertEquals, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { StoreUnavailable } from "../../src/store/engine.ts";
import { logHolds } from "../../src/store/sqlite/log_pages.ts";
import { SqliteFile } from "../../src/store/sqlite/file.ts";

const TABLES = [
  "CREATE TABLE amounts (id TEXT PRIMARY KEY, amount INTEGER, share REAL, note TEXT, bytes BLOB)",
  "CREATE TABLE sums (name TEXT, at BIGINT, amount INTEGER, PRIMARY KEY (name, at)) WITHOUT ROWID",
  "CREATE TABLE empty (id TEXT PRIMARY KEY)",
];

/** One that is checked whole, and one of which the ends of tables are read. */
for (const megabytes of [1, 6]) {
  Deno.test(`SqliteFile relies on ${megabytes} MB with values of every kind, and not on such that are harmed`, () => {
    const folder = Deno.makeTempDirSync({ prefix: "sluice-file-" });
    const path = `${folder}/s.db`;
    const database = new DatabaseSync(path);
    database.exec("PRAGMA journal_mode = WAL");
    for (const table of TABLES) database.exec(table);
    for (const amount of ["9223372036854775807", "-9223372036854775808", "9007199254740993", "NULL"]) {
      database.exec(`INSERT INTO amounts VALUES ('${amount}', ${amount}, 0.1, char(0, 55296), x'00ff')`);
      database.exec(`INSERT INTO sums VALUES ('${amount}', 9007199254740993, ${amount})`);
    }
    for (let i = 0; i < 4 * megabytes; i++) {
      database.exec(`INSERT INTO amounts VALUES ('${i}', 1, 1, '', randomblob(250000))`);
    }
    const files: SqliteFile[] = [];
    /** A first look, which reads. */
    const look = () => {
      const file = new SqliteFile(path);
      files.push(file);
      file.check();
    };
    try {
      look();
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      look();
      using file = Deno.openSync(path, { write: true });
      file.seekSync(4096, Deno.SeekMode.Start);
      file.writeSync(new Uint8Array(4096 * 8).fill(90));
      assertThrows(look, StoreUnavailable, "damaged");
    } finally {
      database.close();
      for (const file of files) file.close();
      Deno.removeSync(folder, { recursive: true });
    }
  });
}

Deno.test("SqliteFile waits for the first page of a new file, for which there was no room, and misses it once it was there", () => {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-file-" });
  const path = `${folder}/s.db`;
  Deno.writeFileSync(path, new Uint8Array());
  const file = new SqliteFile(path);
  try {
    file.check(true);
    const database = new DatabaseSync(path);
    database.exec("CREATE TABLE one (id TEXT)");
    database.close();
    file.check(true);
    Deno.truncateSync(path, 0);
    assertThrows(() => file.check(true), StoreUnavailable, "damaged");
  } finally {
    file.close();
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("SqliteFile tells a file that cannot be looked at from one that is gone", () => {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-file-" });
  const inner = `${folder}/inner`;
  Deno.mkdirSync(inner);
  const path = `${inner}/s.db`;
  const database = new DatabaseSync(path);
  database.exec("CREATE TABLE one (id TEXT)");
  database.close();
  const file = new SqliteFile(path);
  try {
    // As where a right is lacking, the system says something else than that it is not there.
    Deno.renameSync(inner, `${inner}-away`);
    Deno.writeTextFileSync(inner, "");
    assertThrows(() => file.check(true), StoreUnavailable, "cannot be looked at");
    Deno.removeSync(inner);
    assertThrows(() => file.check(true), StoreUnavailable, "deleted or replaced");
    Deno.renameSync(`${inner}-away`, inner);
    file.check(true);
  } finally {
    file.close();
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("SqliteFile relies on a file that a checkpoint has begun to make longer while the log holds the rest, and on no other", () => {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-file-" });
  const path = `${folder}/s.db`;
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA wal_autocheckpoint = 0");
  database.exec("CREATE TABLE one (id TEXT PRIMARY KEY, bytes BLOB)");
  const write = () => database.exec("INSERT INTO one VALUES (random(), randomblob(100000))");
  const restIsInLog = (last?: number) => {
    const file = Deno.readFileSync(path);
    const pages = {
      first: file.length / 4096 + 1,
      last: last ?? new DataView(file.buffer).getUint32(28),
      bytes: 4096,
    };
    const steps = logHolds(`${path}-wal`, pages);
    for (let step = steps.next();; step = steps.next()) if (step.done) return step.value;
  };
  /** A look at the file once it has been short for a while. */
  const look = () => {
    let now = 0;
    const file = new SqliteFile(path, { now: () => now });
    try {
      file.check();
      now = 60_000;
      file.check();
      now = 120_000;
      file.check();
    } finally {
      file.close();
    }
  };
  try {
    for (let i = 0; i < 50; i++) write();
    // As far as the page that has the size, which is the first to be copied.
    Deno.copyFileSync(path, `${folder}/t.db`);
    Deno.copyFileSync(`${path}-wal`, `${folder}/t.db-wal`);
    const copy = new DatabaseSync(`${folder}/t.db`);
    copy.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    copy.close();
    const first = Deno.readFileSync(`${folder}/t.db`).subarray(0, 4096);
    Deno.writeFileSync(path, first);
    assertEquals(restIsInLog(), true);
    look();
    write();
    look();

    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    look();
    const whole = Deno.readFileSync(path);
    Deno.truncateSync(path, whole.length - 40 * 4096);
    assertThrows(look, StoreUnavailable);
    assertEquals(restIsInLog(), false);
    Deno.writeFileSync(path, whole);
    look();
    // The log holds pages again, but not all of those that are lacking.
    write();
    Deno.truncateSync(path, whole.length - 40 * 4096);
    assertThrows(look, StoreUnavailable);
    assertEquals(restIsInLog(), false);
    // A header may say anything: nothing is kept for pages that no log of this size can hold.
    assertEquals(restIsInLog(0xffff_ffff), false);
    Deno.writeFileSync(path, whole);
  } finally {
    database.close();
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("SqliteFile checks the contents when the time of the first check has come, and what file it is before", () => {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-file-" });
  const path = `${folder}/s.db`;
  // No database at all.
  Deno.writeFileSync(path, new Uint8Array(8192).fill(90));
  let now = 5000;
  const file = new SqliteFile(path, { now: () => now, firstCheckMs: 250 });
  try {
    now += 249;
    file.check();
    now += 1;
    assertThrows(() => file.check(), StoreUnavailable, "damaged");
    now -= 1;
    file.check();
    Deno.removeSync(path);
    assertThrows(() => file.check(), StoreUnavailable, "deleted");
  } finally {
    file.close();
    Deno.removeSync(folder, { recursive: true });
  }
});
