import { assertEquals, assertRejects } from "@std/assert";
import type { Engine } from "../../src/store/engine.ts";
import type { Row } from "../../src/store/rows.ts";
import { openSqlite } from "../../src/store/sqlite/mod.ts";
import { TransactionParts } from "../../src/store/sqlite/parts.ts";
import { nextTurn } from "../support/time.ts";

/** Statements that take a millisecond each on a clock that stands still between them. */
function stopped(divided: boolean, turnMs = 0) {
  const held: number[] = [];
  let now = 0;
  const parts = new TransactionParts({
    divided: () => divided,
    held: (ms) => void held.push(ms),
    now: () => now,
    turn(next) {
      now += turnMs;
      next();
    },
  });
  return {
    held,
    async statement(ms = 1) {
      await parts.next();
      now += ms;
    },
    end: () => parts.end(),
  };
}

Deno.test("a transaction that nobody waits for is held in parts of which each has one long statement", async () => {
  const { held, statement, end } = stopped(true);
  for (let i = 0; i < 4; i++) await statement();
  end();
  assertEquals(held, [1, 1, 1, 1]);
});

Deno.test("statements that take little share a part", async () => {
  const { held, statement, end } = stopped(true);
  for (let i = 0; i < 8; i++) await statement(0.0625);
  end();
  assertEquals(held, [0.25, 0.25]);
});

Deno.test("where turns are long, parts are longer, so that records keep up with calls", async () => {
  const { held, statement, end } = stopped(true, 10);
  for (let i = 0; i < 10; i++) await statement();
  end();
  assertEquals(held, [1, 4, 4, 1]);
});

Deno.test("a timer that takes its time in an idle process makes no part longer", async () => {
  const { held, statement, end } = stopped(true, 1.5);
  for (let i = 0; i < 12; i++) await statement(0.25);
  end();
  assertEquals(held, new Array(12).fill(0.25));
});

Deno.test("a transaction that somebody waits for is held as a whole", async () => {
  const { held, statement, end } = stopped(false);
  for (let i = 0; i < 4; i++) await statement();
  end();
  assertEquals(held, [4]);
});

const ROWS = Array.from({ length: 2000 }, (_, i) => [String(i), i]);

/** Writes rows in one divided transaction, and counts the turns of the event loop that others have meanwhile. */
async function write(engine: Engine, { fails, ask }: { fails: boolean; ask: boolean }) {
  await engine.query("CREATE TABLE t (id TEXT PRIMARY KEY, n BIGINT)");
  let asked: Promise<Row[]> | undefined;
  const writing = engine.transaction(async (query) => {
    if (ask) asked = engine.query("SELECT COUNT(*) AS n FROM t");
    await engine.insertRows(query, { table: "t", columns: [["id", "text"], ["n", "int"]], then: "" }, ROWS);
    if (fails) throw new Error("It was not to be.");
  }, { divided: () => true });
  let running = true;
  const ended = writing.catch(() => {}).finally(() => running = false);
  let turns = 0;
  for (; running; turns++) await nextTurn();
  await ended;
  if (fails) await assertRejects(() => writing, Error, "not to be");
  else await writing;
  const [{ n }] = await (asked ?? engine.query("SELECT COUNT(*) AS n FROM t"));
  return { turns, rows: Number(n) };
}

for (const fails of [false, true]) {
  Deno.test(`others have turns within a divided transaction that ${fails ? "fails" : "is through"} in the end`, async () => {
    const engine = openSqlite(":memory:");
    try {
      const { turns, rows } = await write(engine, { fails, ask: false });
      assertEquals([turns > 1, rows], [true, fails ? 0 : ROWS.length]);
    } finally {
      await engine.close();
    }
  });
}

Deno.test("whoever needs the connection waits for one part of a divided transaction, and is answered behind it", async () => {
  const engine = openSqlite(":memory:");
  try {
    const { turns, rows } = await write(engine, { fails: false, ask: true });
    assertEquals([turns, rows], [1, ROWS.length]);
  } finally {
    await engine.close();
  }
});
