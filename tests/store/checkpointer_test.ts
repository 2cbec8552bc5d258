/** What the thread that makes checkpoints does to the files, and that nobody depends on it. */
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { openCheckpointer } from "../../src/store/sqlite/checkpointer.ts";
import { eventually } from "../support/time.ts";

const PAGE = 4096;

/** A database with a log of some 500 pages, which nothing but a checkpoint of somebody else's moves into it. */
function written(folder: string): { path: string; database: DatabaseSync; write(rows: number): void } {
  const path = `${folder}/s.db`;
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (text TEXT)");
  const insert = database.prepare("INSERT INTO t VALUES (?)");
  return {
    path,
    database,
    write(rows) {
      database.exec("BEGIN");
      for (let i = 0; i < rows; i++) insert.run("x".repeat(PAGE));
      database.exec("COMMIT");
    },
  };
}

Deno.test("a checkpoint is made once so many rows are committed, and again, while the database stays open", async () => {
  const folder = await Deno.makeTempDir();
  const { path, database, write } = written(folder);
  const checkpointer = openCheckpointer(path, { rows: 100 });
  const pages = () => Deno.statSync(path).size / PAGE;
  write(500);
  checkpointer.committed(99);
  assert(pages() < 10);
  checkpointer.committed(1);
  await eventually(() => pages() >= 500);
  write(500);
  // The answer to the first may still be on its way.
  await eventually(() => {
    checkpointer.committed(100);
    return pages() >= 1000;
  });
  await checkpointer.close();
  database.close();
  assertEquals(
    [...Deno.readDirSync(folder)].map(({ name }) => name),
    ["s.db"],
    "whoever closes last tidies up",
  );
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a checkpoint that cannot be made, or is never asked for, does no harm", async () => {
  const folder = await Deno.makeTempDir();
  const unused = openCheckpointer(`${folder}/s.db`);
  unused.committed(1);
  await unused.close();
  const checkpointer = openCheckpointer(`${folder}/nowhere/s.db`, { rows: 1 });
  checkpointer.committed(1);
  checkpointer.committed(1);
  await checkpointer.close();
  assertEquals([...Deno.readDirSync(folder)], []);
  await Deno.remove(folder, { recursive: true });
});
