/** A backup is of one moment, whole or refused; what is restored from it is what it was made of, on either database. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { backup, BadDump, CareRefused, info, restore, verify } from "../../src/store/care/mod.ts";
import { tablesOf } from "../../src/store/care/tables.ts";
import { type Engine, StoreUnavailable } from "../../src/store/engine.ts";
import { chainKeyOf, encodeRecord, SCHEMA_VERSION } from "../../src/store/mod.ts";
import { mountSmall, unmount } from "../chaos/disturb.ts";
import { configOf, endOf, NOON, open, requestOf, SECRET } from "../accounts/support.ts";
import { onBothEngines, type Place, sqlitePlace } from "../support/cluster.ts";
import { restore010 } from "../support/released.ts";
import { eventually, nextTurn } from "../support/time.ts";
import { generation, NOW } from "./samples.ts";

const PEPPER = "pepper of a store that is copied";
const CONFIG = configOf({ spend_limit: { amount: "50", period: "month" } }, "100");
/** Long enough for one look. */
const DEAD = { deadMs: 700 };

/** Every row of every table, in one order, as text. */
async function rowsOf(engine: Engine): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const { name } of await tablesOf(engine, engine.query, SCHEMA_VERSION)) {
    const rows = await engine.query(`SELECT * FROM ${name}`);
    found[name] = rows.map((row) => JSON.stringify(row, (_, v) => typeof v === "bigint" ? `${v}` : v)).sort();
  }
  await engine.close();
  return found;
}

/** Keys, credits, records of two days, and a node that died with a call under way. */
async function fill(place: Place, calls = 20): Promise<void> {
  const service = await open(place.open(), CONFIG, { pepper: PEPPER });
  await service.createKey({ name: "ключ", account: "acme" });
  await service.addCredits("acme", "-0.000000000001", { note: "half a \u{1F600}" });
  const key = await service.authenticate(SECRET);
  for (let i = 0; i < calls; i++) {
    const reservation = await service.admit(requestOf(key, 3, { created: NOON - i * 5_000_000 }));
    await reservation.settle(endOf({ input: i % 4, cached: i % 2 }));
  }
  await service.flush();
  await service.close();
}

/** Two megabytes of records. */
async function fillMegabytes(place: Place): Promise<void> {
  const store = place.open();
  await store.prepare();
  store.chainWith(chainKeyOf(PEPPER));
  await store.registerNode("node_1");
  for (let seq = 1; seq <= 8; seq++) {
    const records = Array.from({ length: 1000 }, (_, i) => encodeRecord(generation(`gen_${seq}_${i}`)));
    await store.sync({ node: "node_1", seq, now: NOW, records, leases: [] });
  }
  await store.leave("node_1", []);
  await store.close();
}

const proof = (place: Place) => verify(place.address, () => Promise.resolve(chainKeyOf(PEPPER)));

onBothEngines(({ name, place }) => {
  function test(title: string, body: (place: Place, another: () => Place) => Promise<void>): void {
    Deno.test(`${name}: ${title}`, async () => {
      const places: Place[] = [];
      const made = (made = place()) => {
        places.push(made);
        return made;
      };
      try {
        await body(made(), made);
      } finally {
        for (const place of places) place.remove();
      }
    });
  }

  test("a restored store has every row of the one that was backed up", async (from, another) => {
    await fill(from);
    const file = `${from.folder}/backup`;
    const { head, tables } = await backup(from.address, file, { pepper: PEPPER });
    assertEquals([head.schema, head.kind, head.pepper], [SCHEMA_VERSION, name as "sqlite", PEPPER]);
    assertEquals(tables.find(({ table }) => table === "generations")?.totals.rows, 20);
    assertEquals(Deno.statSync(file).mode! & 0o777, 0o600);
    const to = another();
    await restore(to.address, file, { ...DEAD, pepperConfigured: true });
    assertEquals(await rowsOf(to.engine()), await rowsOf(from.engine()));
    const service = await open(to.open(), CONFIG, { pepper: PEPPER });
    try {
      assertEquals((await service.listKeys()).data.length, 2);
      assertEquals((await service.credits("acme")).added, "-0.000000000001");
    } finally {
      await service.close();
    }
  });

  test("a backup of the other database can be restored", async (to) => {
    const from = sqlitePlace();
    try {
      await fill(from);
      const file = `${from.folder}/backup`;
      await backup(from.address, file, { pepper: PEPPER });
      await restore(to.address, file, { ...DEAD, pepperConfigured: true });
      const there = await rowsOf(to.engine());
      assertEquals(there, await rowsOf(from.engine()));
      // And back.
      const again = `${to.folder}/backup`;
      await backup(to.address, again, { pepper: null });
      await restore(from.address, again, { ...DEAD, force: true });
      assertEquals(await rowsOf(from.engine()), there);
    } finally {
      from.remove();
    }
  });

  test("a backup is of one moment while calls are recorded", async (from, another) => {
    await fill(from, 50);
    const service = await open(from.open(), CONFIG, { pepper: PEPPER });
    let ended = false;
    let calls = 0;
    const key = await service.authenticate(SECRET);
    const calling = (async () => {
      for (; !ended; calls++) {
        const reservation = await service.admit(requestOf(key, 1));
        await reservation.settle(endOf({ input: calls % 3 }));
        await service.flush();
        await nextTurn();
      }
    })();
    try {
      for (let i = 0; i < 3; i++) {
        const before = calls;
        await backup(from.address, `${from.folder}/backup${i}`, { pepper: PEPPER });
        assertEquals((await proof(from)).shown, []);
        await eventually(() => calls > before);
      }
    } finally {
      ended = true;
      await calling;
      await service.close();
    }
    for (let i = 0; i < 3; i++) {
      const to = another();
      await restore(to.address, `${from.folder}/backup${i}`, { ...DEAD, pepperConfigured: true });
      const engine = to.engine();
      const [row] = await engine.query(
        `SELECT (SELECT SUM(cost) FROM generations) AS records, (SELECT SUM(cost) FROM sums WHERE kind = 'day') AS days,
           (SELECT SUM(spent) FROM budgets WHERE scope = 'account') AS spent,
           (SELECT COUNT(*) FROM generations) AS n, (SELECT SUM(generations) FROM sums WHERE kind = 'key') AS counted`,
      );
      await engine.close();
      assertEquals([row.days, row.spent, row.counted], [row.records, row.records, row.n]);
      const { shown, chained } = await proof(to);
      assertEquals([shown, BigInt(chained)], [[], row.n]);
    }
  });

  test("a file that is cut off or changed restores nothing", async (from, another) => {
    await fill(from);
    const file = `${from.folder}/backup`;
    await backup(from.address, file, { pepper: PEPPER });
    const bytes = Deno.readFileSync(file);
    const to = another();
    const refused = async (changed: Uint8Array) => {
      Deno.writeFileSync(`${to.folder}/changed`, changed);
      await assertRejects(() => restore(to.address, `${to.folder}/changed`, DEAD), BadDump);
    };
    for (const length of [0, 1, 10, 100, bytes.length >> 1, bytes.length - 9, bytes.length - 1]) {
      await refused(bytes.slice(0, length));
    }
    const text = new TextDecoder().decode(
      await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).bytes(),
    );
    const packed = async (text: string) =>
      await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).bytes();
    const lines = text.split("\n");
    const changes = {
      "without its last line": lines.slice(0, -2).join("\n"),
      "with an amount changed": text.replace('"cost":"', '"cost":"1'),
      "with a name changed": text.replace("acme", "acne"),
      "with a row twice": lines.flatMap((line) => line.startsWith('[["gen_') ? [line, line] : [line]).join(
        "\n",
      ),
      "with something behind its end": text + "[]\n",
      "of another program": '{"some":"thing"}\n',
      "of a later format": text.replace('"sluice_backup":1', '"sluice_backup":2'),
    };
    for (const changed of Object.values(changes)) {
      assert(changed !== text);
      await refused(await packed(changed));
    }
    await refused(new TextEncoder().encode("SQLite format 3"));
    const engine = to.engine();
    if (engine.kind === "sqlite") {
      assertEquals([...Deno.readDirSync(to.folder)].map((entry) => entry.name), ["changed"]);
    }
    await engine.close();
  });

  test(
    "a store that holds something is replaced only when that is asked for, and a living one never",
    async (from, another) => {
      await fill(from);
      const file = `${from.folder}/backup`;
      await backup(from.address, file, { pepper: PEPPER });
      await assertRejects(() => backup(from.address, file, { pepper: PEPPER }), CareRefused, "exists");
      const to = another();
      await fill(to, 3);
      const before = await rowsOf(to.engine());
      await assertRejects(() => restore(to.address, file, DEAD), CareRefused, "not empty");
      const store = to.open();
      await store.registerNode("node_alive");
      let ended = false;
      const beating = (async () => {
        for (; !ended; await nextTurn()) await store.heartbeat("node_alive");
      })();
      try {
        await assertRejects(
          () => restore(to.address, file, { deadMs: 5000, force: true }),
          CareRefused,
          "using",
        );
        const { nodes } = await info(to.address, { deadMs: 5000 });
        assertEquals(nodes.map(({ id, alive }) => [id, alive]), [["node_alive", true]]);
      } finally {
        ended = true;
        await beating;
        await store.removeNodes(["node_alive"]);
        await store.close();
      }
      assertEquals(await rowsOf(to.engine()), before);
      await restore(to.address, file, { ...DEAD, force: true, pepperConfigured: true });
      assertEquals(await rowsOf(to.engine()), await rowsOf(from.engine()));
    },
  );

  test(
    "a store of 0.1.0 can be backed up and restored before it is brought up to date",
    async (from, another) => {
      await restore010(from);
      const file = `${from.folder}/backup`;
      const { head } = await backup(from.address, file, { pepper: null });
      assertEquals(head.schema, 1);
      const to = another();
      await restore(to.address, file, { ...DEAD, pepperConfigured: true });
      for (const place of [from, to]) {
        const store = place.open();
        await store.prepare();
        while (await store.buildSums(100));
        await store.close();
      }
      assertEquals(await rowsOf(to.engine()), await rowsOf(from.engine()));
    },
  );

  test("what another program keeps in the database is never dropped", async (from, another) => {
    await fill(from, 1);
    const file = `${from.folder}/backup`;
    await backup(from.address, file, { pepper: PEPPER });
    const to = another();
    const engine = to.engine();
    try {
      // Makes the PostgreSQL schema of this test, too.
      await engine.transaction(async (query) => {
        await engine.lockMigrations(query);
        await query("CREATE TABLE accounts (id TEXT)");
      });
      const refused = () => restore(to.address, file, { ...DEAD, force: true });
      await assertRejects(refused, CareRefused, "another program");
      assertEquals((await engine.query("SELECT * FROM accounts")).length, 0);
    } finally {
      await engine.close();
    }
  });

  test("store info tells schema, rows, days and the pepper's fingerprint", async (from) => {
    await fill(from);
    const found = await info(from.address, DEAD);
    assertEquals([found.kind, found.schema, found.rows.generations], [name as "sqlite", SCHEMA_VERSION, 20]);
    assertEquals([found.newestRecord, found.oldestRecord], [NOON, NOON - 19 * 5_000_000]);
    assertEquals(found.lastDay, Date.UTC(2026, 0, 15));
    assertEquals(found.sumsWhole, true);
    assert(found.bytes! > 10_000);
    assertEquals(found.pepperFingerprint?.length, 32);
  });
});

Deno.test("store info counts what is in the log beside an SQLite file, too", async () => {
  const here = sqlitePlace();
  const store = here.open();
  try {
    await store.prepare();
    const file = here.address.url.replace("sqlite:", "");
    const log = Deno.statSync(`${file}-wal`).size;
    assert(log > 0);
    assertEquals((await info(here.address, DEAD)).bytes, Deno.statSync(file).size + log);
  } finally {
    await store.close();
    here.remove();
  }
});

Deno.test("neither backup nor info makes a database where there is none", async () => {
  const folder = Deno.makeTempDirSync();
  const url = `sqlite:${folder}/no/store.db`;
  try {
    for (const work of [() => info({ url }), () => backup({ url }, `${folder}/backup`, { pepper: null })]) {
      const error = await assertRejects(work, CareRefused);
      assertStringIncludes(error.message, "store.db");
    }
    assertEquals([...Deno.readDirSync(folder)], []);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("a backup never replaces the store itself, and each replaced store is kept", async () => {
  const here = sqlitePlace();
  const path = here.address.url.slice("sqlite:".length);
  try {
    await fill(here, 2);
    const before = await rowsOf(here.engine());
    await assertRejects(
      () => backup(here.address, `${here.folder}/./store.db`, { pepper: null, force: true }),
      CareRefused,
      "the store itself",
    );
    const file = `${here.folder}/backup`;
    await backup(here.address, file, { pepper: PEPPER });
    for (const end of ["", "-2"]) {
      const { aside } = await restore(here.address, file, { ...DEAD, force: true, pepperConfigured: true });
      assertEquals(aside, `${path}.before-restore${end}`);
      // As a restore that was killed leaves it.
      Deno.writeTextFileSync(`${path}.restoring`, "half of");
    }
    assertEquals(await rowsOf(here.engine()), before);
  } finally {
    here.remove();
  }
});

Deno.test({
  name:
    "sqlite: a restore onto a disk with room for the log or the database alone says so, and leaves nothing",
  // A small file system to fill.
  ignore: Deno.build.os !== "linux" || Deno.uid() !== 0,
  async fn() {
    const from = sqlitePlace();
    const disk = await Deno.makeTempDir({ prefix: "sluice-disk-" });
    let mounted = false;
    try {
      await fillMegabytes(from);
      const file = `${from.folder}/backup`;
      await backup(from.address, file, { pepper: PEPPER });
      const bytes = Deno.statSync(`${from.folder}/store.db`).size;
      mounted = await mountSmall(disk, Math.ceil(1.3 * bytes / (1 << 20)));
      if (!mounted) return console.warn("A file system cannot be mounted here: the test is skipped.");
      const place = { url: `sqlite:${disk}/store.db` };
      await assertRejects(() => restore(place, file, DEAD), StoreUnavailable);
      assertEquals([...Deno.readDirSync(disk)].map(({ name }) => name), []);
    } finally {
      if (mounted) await unmount(disk);
      await Deno.remove(disk);
      from.remove();
    }
  },
});
