import { assertEquals, assertRejects } from "@std/assert";
import type { Columns, EncodedRow, Engine } from "../../src/store/engine.ts";
import type { Value } from "../../src/store/rows.ts";
import { openSqlite } from "../../src/store/sqlite/mod.ts";

const COLUMNS: Columns = [["id", "text"], ["a", "int"], ["b", "text"], ["c", "int"], ["d", "text"]];

async function withTable(work: (engine: Engine) => Promise<void>): Promise<void> {
  const engine = openSqlite(":memory:");
  try {
    await engine.query(
      "CREATE TABLE t (id TEXT PRIMARY KEY, a BIGINT, b TEXT, c BIGINT NOT NULL, d TEXT, e BIGINT)",
    );
    await work(engine);
  } finally {
    await engine.close();
  }
}

function row(...values: Value[]): EncodedRow {
  return { id: String(values[0]), json: JSON.stringify(values), values };
}

async function insert(engine: Engine, rows: readonly EncodedRow[]): Promise<string[]> {
  const added = await engine.transaction((query) => engine.insertNew(query, "t", COLUMNS, rows, { e: 7 }));
  return added.map(({ id }) => id);
}

Deno.test("rows of every mix of nulls, zeros and values are stored as they are, in whatever order they come", () =>
  withTable(async (engine) => {
    const rows: EncodedRow[] = [];
    const choices: (Value)[][] = [[null, 0, 5], [null, "", "x"], [0, 9], [null, "0"]];
    for (let i = 0; i < 500; i++) {
      // Runs of one kind, long and short, so that groups end in all ways.
      const kind = Math.floor(i / (1 + i % 23)) * 7919 % 36;
      const [a, b, c, d] = choices.map((of, k) => of[Math.floor(kind / [1, 3, 9, 18][k]) % of.length]);
      rows.push(row(`r${String(i).padStart(3, "0")}`, a, b, c, d));
    }
    assertEquals((await insert(engine, rows)).length, 500);
    const stored = await engine.query("SELECT id, a, b, c, d, e FROM t ORDER BY id");
    assertEquals(
      stored.map(({ id, a, b, c, d }) => [id, a, b, c, d].map((v) => typeof v === "bigint" ? Number(v) : v)),
      rows.map(({ values }) => [...values!]),
    );
    assertEquals(new Set(stored.map(({ e }) => Number(e))), new Set([7]));
  }));

Deno.test("rows that are there, and rows that come twice, are left as they were, among however many new ones", () =>
  withTable(async (engine) => {
    await insert(engine, [row("k5", 1, "first", 1, null), row("k25", 1, "first", 1, null)]);
    const rows = Array.from({ length: 40 }, (_, i) => row(`k${i}`, null, "later", 0, null));
    rows.splice(15, 0, row("k2", null, "twice", 0, null));
    const expected = rows.filter(({ id, values }) => id !== "k5" && id !== "k25" && values![2] !== "twice");
    assertEquals(await insert(engine, rows), expected.map(({ id }) => id));
    const stored = await engine.query("SELECT id, b FROM t");
    assertEquals(stored.length, 40);
    const texts = new Map(stored.map(({ id, b }) => [id, b]));
    assertEquals([texts.get("k5"), texts.get("k25"), texts.get("k2"), texts.get("k39")], [
      "first",
      "first",
      "later",
      "later",
    ]);
  }));

Deno.test("a row that is shorter than the columns ends in nulls", () =>
  withTable(async (engine) => {
    const rows = Array.from({ length: 12 }, (_, i) => row(`s${i}`, i, "x", 1));
    assertEquals((await insert(engine, rows)).length, 12);
    const stored = await engine.query("SELECT d FROM t");
    assertEquals(stored.map(({ d }) => d), new Array(12).fill(null));
  }));

Deno.test("a row that the table cannot take fails the transaction, and none of it stays", () =>
  withTable(async (engine) => {
    const rows = Array.from({ length: 25 }, (_, i) => row(`n${i}`, i, "x", i === 17 ? null : 1, null));
    await assertRejects(() => insert(engine, rows), Error, "NOT NULL");
    assertEquals(await engine.query("SELECT id FROM t"), []);
  }));

Deno.test("texts that all rows of a statement share are stored in each of them, as are those that differ in one", () =>
  withTable(async (engine) => {
    // Every statement shares other columns than the one before.
    const shares = ["b", "d", "bd", "", "bd", "b", "", "d", "bd", "d"];
    const rows = shares.flatMap((shared, group) =>
      Array.from({ length: 10 }, (_, i) => {
        // The last row alone differs.
        const own = (column: string) => shared.includes(column) || i < 9 ? `${column}${group}` : `${column}!`;
        return row(`g${group}-${i}`, 1, own("b"), 2, own("d"));
      })
    );
    assertEquals((await insert(engine, rows)).length, 100);
    const stored = await engine.query("SELECT id, b, d FROM t ORDER BY rowid");
    assertEquals(
      stored.map(({ id, b, d }) => [id, b, d]),
      rows.map(({ values }) => [values![0], values![2], values![4]]),
    );
    // One that is there already within statements that share texts.
    const again = rows.map(({ id, values }, i) =>
      i % 10 === 3 ? row(id, 9, "later", 9, "later") : row(`h${i}`, 1, values![2], 2, values![4])
    );
    const expected = again.filter((_, i) => i % 10 !== 3).map(({ id }) => id);
    assertEquals(await insert(engine, again), expected);
  }));
