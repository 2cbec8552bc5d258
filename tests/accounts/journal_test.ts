import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { FileJournal } from "../../src/accounts/journal/file_journal.ts";
import {
  END_BYTES,
  type Journal,
  type JournalEntry,
  JournalFull,
} from "../../src/accounts/journal/journal.ts";
import { MemoryJournal } from "../../src/accounts/journal/memory_journal.ts";
import { adoptOrphans } from "../../src/accounts/journal/orphans.ts";
import { openStore, StoreUnavailable } from "../../src/store/mod.ts";
import { configOf, endOf, keyOf, open, requestOf } from "./support.ts";

const ROOM = { maxBytes: 64 << 20 };

async function withFolder(body: (filePrefix: string, folder: string) => void | Promise<void>): Promise<void> {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-journal-" });
  try {
    await body(`${folder}/store.db`, folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** What is in the folder, as a process finds it that starts after this one's death. Locks die with a process only. */
function found(folder: string) {
  const copy = Deno.makeTempDirSync({ prefix: "sluice-journal-" });
  try {
    for (const { name } of Deno.readDirSync(folder)) {
      if (name.endsWith(".journal")) Deno.copyFileSync(`${folder}/${name}`, `${copy}/${name}`);
    }
    return [...adoptOrphans(`${copy}/store.db`, "later")].map((orphan) => {
      orphan.remove();
      const { node, running, ended, damaged, prices } = orphan;
      return {
        node,
        running: [...running],
        ended: [...ended].map(([id, { json }]) => [id, json]),
        damaged,
        ...(prices.length > 0 && { prices }),
      };
    });
  } finally {
    Deno.removeSync(copy, { recursive: true });
  }
}

Deno.test("FileJournal keeps the prices of each record that waits, once, also when it is compacted", () =>
  withFolder(async (filePrefix, folder) => {
    const journal = new FileJournal(filePrefix, "n1", ROOM);
    const notes = ["a", "b"].map((version) => `- prices ["${version}",{"prompt":"0.1"}]\n`);
    const entry = journal.begin("g0", "{}");
    journal.finish(entry, "[0]", notes[0] + notes[1]);
    await journal.written();
    journal.delivered(entry);
    // Compacted on the way.
    for (let i = 0; i < 60; i++) {
      const one = journal.begin(`x${i}`, '"' + "y".repeat(100_000) + '"');
      journal.finish(one, "[]", notes[0]);
      await journal.written();
      if (i > 0) journal.delivered(one);
    }
    const text = Deno.readTextFileSync(`${filePrefix}.n1.journal`);
    assertEquals([text.includes(notes[1]), text.split(notes[0]).length], [false, 2]);
    assertEquals(found(folder)[0].prices, [{ version: "a", prices: { prompt: "0.1" } }]);
    journal.finish(journal.begin("g1", "{}"), "[1]", notes[1]);
    await journal.written();
    assertEquals(found(folder)[0].prices!.map(({ version }) => version), ["a", "b"]);
    journal.close();
  }));

Deno.test("FileJournal tells what ran and what ended", () =>
  withFolder(async (filePrefix, folder) => {
    const journal = new FileJournal(filePrefix, "n1", ROOM);
    const g1 = journal.begin("g1", '{"a":"né"}');
    const g2 = journal.begin("g2", "{}");
    journal.begin("g3", "{}");
    journal.finish(g1, "[1]");
    journal.drop(g2);
    assertEquals(found(folder)[0].running, []);
    assert(await journal.written());
    assertEquals(found(folder), [{
      node: "n1",
      running: [["g3", "{}"]],
      ended: [["g1", "[1]"]],
      damaged: [],
    }]);
    journal.close();
  }));

Deno.test("FileJournal says whose records it holds once that is known, also after it was made anew", () =>
  withFolder(async (filePrefix, folder) => {
    const journal = new FileJournal(filePrefix, "n1", ROOM);
    journal.begin("g1", "{}");
    const storeIds = () => {
      const copy = Deno.makeTempDirSync({ prefix: "sluice-journal-" });
      Deno.copyFileSync(`${folder}/store.db.n1.journal`, `${copy}/store.db.n1.journal`);
      const [orphan] = [...adoptOrphans(`${copy}/store.db`, "later")];
      orphan.remove();
      Deno.removeSync(copy, { recursive: true });
      return [orphan.node, orphan.storeId, ...orphan.running.keys()];
    };
    await journal.written();
    assertEquals(storeIds(), ["n1", "", "g1"]);
    journal.belongsTo("s1");
    journal.belongsTo("s1");
    await journal.written();
    assertEquals(storeIds(), ["n1", "s1", "g1"]);
    const before = Deno.statSync(`${filePrefix}.n1.journal`).ino;
    for (let i = 0; Deno.statSync(`${filePrefix}.n1.journal`).ino === before; i++) {
      journal.delivered(journal.begin(`more${i}`, JSON.stringify("x".repeat(10_000))));
      await journal.written();
    }
    const [node, id, ...running] = storeIds();
    assertEquals([node, id, running[0]], ["n1", "s1", "g1"]);
    journal.close();
  }));

Deno.test("FileJournal that was cut at any byte reads as what was whole", () =>
  withFolder(async (filePrefix, folder) => {
    const journal = new FileJournal(filePrefix, "n1", ROOM);
    journal.finish(journal.begin("g1", '{"a":"né"}'), "[1]");
    await journal.written();
    const bytes = Deno.readFileSync(`${filePrefix}.n1.journal`);
    const end = bytes.indexOf(0);
    const text = new TextDecoder().decode(bytes.subarray(0, end));
    const [head, began] = text.split("\n").map((line) => new TextEncoder().encode(line).length + 1);
    for (let cut = head; cut <= end; cut++) {
      const torn = bytes.slice();
      torn.fill(0, cut);
      Deno.writeFileSync(`${filePrefix}.n1.journal`, torn);
      const [{ running, ended, damaged }] = found(folder);
      assertEquals(
        [running.length, ended.length, damaged.length],
        cut < head + began ? [0, 0, 0] : cut < end ? [1, 0, 0] : [0, 1, 0],
      );
    }
    journal.close();
  }));

Deno.test("FileJournal stays small while records come and go, and loses none that is left", () =>
  withFolder(async (filePrefix, folder) => {
    const journal = new FileJournal(filePrefix, "n1", ROOM);
    const filler = "x".repeat(500);
    journal.begin("kept", "first");
    for (let i = 0; i < 30_000; i++) {
      const entry = journal.begin(`g${i}`, filler);
      journal.finish(entry, filler);
      if (i % 10 === 0) await journal.written();
      if (i % 1000 !== 0) journal.delivered(entry);
    }
    await journal.written();
    const { size } = Deno.statSync(`${filePrefix}.n1.journal`);
    assert(size < 8 << 20, `${size} bytes`);
    const [{ running, ended }] = found(folder);
    assertEquals(running, [["kept", "first"]]);
    const left = new Set(ended.map(([id]) => id));
    for (let i = 0; i < 30_000; i += 1000) assert(left.has(`g${i}`));
    journal.close();
  }));

Deno.test("FileJournal refuses to begin what it may not be able to end", () =>
  withFolder(async (filePrefix) => {
    const journal = new FileJournal(filePrefix, "n1", { maxBytes: 20_000 });
    const begun: JournalEntry[] = [];
    assertThrows(() => {
      while (true) begun.push(journal.begin(`g${begun.length}`, "x".repeat(200)));
    }, JournalFull);
    assert(begun.length > 3);
    for (const entry of begun) journal.finish(entry, "y".repeat(700));
    assert(await journal.written());
    assertThrows(() => journal.begin("more", "x".repeat(9000)), JournalFull);
    for (const entry of begun) journal.delivered(entry);
    journal.drop(journal.begin("more", "x"));
    journal.close();
  }));

Deno.test("MemoryJournal is bounded the same way", () => {
  const journal: Journal = new MemoryJournal({ maxBytes: 5000 });
  const begun: JournalEntry[] = [];
  assertThrows(() => {
    while (true) begun.push(journal.begin(`g${begun.length}`, "x".repeat(200)));
  }, JournalFull);
  journal.finish(begun[0], "record");
  assertThrows(() => journal.begin("more", "x".repeat(200)), JournalFull);
  journal.delivered(begun[0]);
  journal.begin("more", "x".repeat(200));
});

Deno.test("adoptOrphans() leaves the journal of a living process alone", () =>
  withFolder((filePrefix) => {
    const journal = new FileJournal(filePrefix, "n1", ROOM);
    journal.begin("g1", "{}");
    assertEquals([...adoptOrphans(filePrefix, "n2")].length, 0);
    journal.close();
    const [orphan] = [...adoptOrphans(filePrefix, "n2")];
    assertEquals([...orphan.running.keys()], ["g1"]);
    // Taken once, until it is let go of.
    assertEquals([...adoptOrphans(filePrefix, "n3")].length, 0);
    orphan.leave();
    [...adoptOrphans(filePrefix, "n3")][0].remove();
    assertEquals([...adoptOrphans(filePrefix, "n2")].length, 0);
  }));

Deno.test("FileJournal with nothing left leaves no file", () =>
  withFolder((filePrefix, folder) => {
    const journal = new FileJournal(filePrefix, "n1", ROOM);
    const entry = journal.begin("g1", "{}");
    journal.finish(entry, "[]");
    journal.delivered(entry);
    journal.close();
    assertEquals([...Deno.readDirSync(folder)].length, 0);
  }));

Deno.test("FileJournal that finds no room at first refuses, and begins when there is some", () =>
  withFolder(async (filePrefix, folder) => {
    const path = `${filePrefix}.n1.journal`;
    // A folder in its place fails like a disk that is full.
    Deno.mkdirSync(`${path}/x`, { recursive: true });
    const journal = new FileJournal(filePrefix, "n1", ROOM);
    assertThrows(() => journal.begin("g1", "{}"), JournalFull);
    Deno.removeSync(path, { recursive: true });
    journal.finish(journal.begin("g2", "{}"), "[2]");
    assert(await journal.written());
    const [{ node, running, ended }] = found(folder);
    assertEquals([node, running, ended], ["n1", [], [["g2", "[2]"]]]);
    journal.close();
  }));

Deno.test("FileJournal writes the first of a turn at once, the others together, and says when they are there", () =>
  withFolder(async (filePrefix, folder) => {
    const journal = new FileJournal(filePrefix, "n1", ROOM);
    const running = () => found(folder)[0].running.length;
    const entries = [journal.begin("first", "{}")];
    assertEquals(running(), 0);
    assert(await journal.written());
    assertEquals(running(), 1);
    for (let i = 0; i < 100; i++) entries.push(journal.begin(`g${i}`, "{}"));
    const written = journal.written();
    assertEquals(journal.written(), written);
    assertEquals(running(), 1);
    await written;
    assertEquals(running(), 101);
    for (const entry of entries) journal.drop(entry);
    // Nobody waits for these: the end of the turn writes them all the same.
    await new Promise((resolve) => setImmediate(resolve));
    assertEquals(running(), 0);
    assert(await journal.written());
    journal.close();
  }));

Deno.test("FileJournal writes lines that come one at a time at once, also those that nobody waits for", () =>
  withFolder(async (filePrefix, folder) => {
    const journal = new FileJournal(filePrefix, "n1", ROOM);
    const running = () => found(folder)[0].running.length;
    const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));
    const entries = [];
    for (let i = 0; i < 20; i++) {
      entries.push(journal.begin(`g${i}`, "{}"));
      const written = journal.written();
      assertEquals(running(), i + 1);
      assert(await written);
      await endOfTurn();
    }
    for (const [i, entry] of entries.entries()) {
      journal.drop(entry);
      await endOfTurn();
      assertEquals(running(), 19 - i);
    }
    journal.close();
  }));

Deno.test("FileJournal says that it cannot write what comes after its end, in the turn of that end too", () =>
  withFolder(async (filePrefix) => {
    const journal = new FileJournal(filePrefix, "n1", ROOM);
    const entry = journal.begin("g", "{}");
    assert(await journal.written());
    journal.close();
    journal.finish(entry, "{}");
    await assertRejects(() => journal.written(), JournalFull);
  }));

Deno.test("adoptOrphans() takes over from a process that died before its journal was there", () =>
  withFolder((filePrefix, folder) => {
    const path = `${filePrefix}.n1.journal`;
    // A folder in its place fails like a disk that is full.
    Deno.mkdirSync(`${path}/x`, { recursive: true });
    const journal = new FileJournal(filePrefix, "n1", ROOM);
    Deno.removeSync(path, { recursive: true });
    const age = () => Deno.utimeSync(`${path}.lock`, new Date(1000), new Date(1000));
    age();
    assertEquals([...adoptOrphans(filePrefix, "n2")], []);
    // As death does: the file stays, and is nobody's.
    journal.close();
    Deno.writeTextFileSync(`${path}.lock`, "");
    assertEquals([...adoptOrphans(filePrefix, "n2")], []);
    age();
    const [{ node, running, ended, damaged, remove }] = [...adoptOrphans(filePrefix, "n2")];
    assertEquals([node, running.size, ended.size, damaged], ["n1", 0, 0, []]);
    remove();
    assertEquals([...Deno.readDirSync(folder)], []);
  }));

Deno.test("FileJournal has the room for the end of everything that runs before it runs", () =>
  withFolder((filePrefix) => {
    const journal = new FileJournal(filePrefix, "n1", ROOM);
    const calls = 4000;
    for (let i = 0; i < calls; i++) journal.begin(`g${i}`, "{}");
    assert(Deno.statSync(`${filePrefix}.n1.journal`).size > calls * END_BYTES);
    journal.close();
  }));

/** Runs `body` while no file takes a byte, as on a disk that can only be read. */
async function withFullDisk(body: () => void | Promise<void>): Promise<void> {
  const { writeSync } = Deno.FsFile.prototype;
  Deno.FsFile.prototype.writeSync = () => {
    throw new Error("No space left on device");
  };
  try {
    await body();
  } finally {
    Deno.FsFile.prototype.writeSync = writeSync;
  }
}

Deno.test("FileJournal writes an end that the disk did not take once it takes it", () =>
  withFolder(async (filePrefix, folder) => {
    const journal = new FileJournal(filePrefix, "n1", ROOM);
    const [ended, dropped] = [journal.begin("g1", "{}"), journal.begin("g2", "{}")];
    journal.begin("g3", "{}");
    await journal.written();
    await withFullDisk(async () => {
      journal.finish(ended, "[1]");
      journal.drop(dropped);
      await assertRejects(() => journal.written(), JournalFull);
      await journal.flush();
      assertEquals(journal.whole, false);
    });
    assertEquals(found(folder)[0].running.map(([id]) => id), ["g1", "g2", "g3"]);
    await journal.flush();
    assertEquals(journal.whole, true);
    assertEquals(found(folder), [{
      node: "n1",
      running: [["g3", "{}"]],
      ended: [["g1", "[1]"]],
      damaged: [],
    }]);
    journal.close();
  }));

Deno.test("a process that ends with records which nobody took names them, and not those that its journal holds", async () => {
  for (const taken of [true, false]) {
    await withFolder(async (filePrefix) => {
      const store = openStore(`sqlite:${filePrefix}`);
      let away = false;
      const service = await open({
        ...store,
        sync: (request) => away ? Promise.reject(new StoreUnavailable("It is away.")) : store.sync(request),
      }, configOf());
      const call = await service.admit(requestOf(await keyOf(service), 1, { id: "gen_lost" }));
      await service.flush();
      away = true;
      const settle = async () => {
        await call.settle(endOf({ input: 1 }));
        await service.close();
      };
      if (taken) await settle();
      else await withFullDisk(settle);
      const told = service.warnings.filter((line) => line.includes("gen_lost"));
      assertEquals(told.length, taken ? 0 : 1, service.warnings.join("\n"));
    });
  }
});

Deno.test("FileJournal writes all that is needed again after the disk has refused to keep it", () =>
  withFolder(async (filePrefix, folder) => {
    const journal = new FileJournal(filePrefix, "n", ROOM);
    const path = `${filePrefix}.n.journal`;
    const { syncData } = Deno.FsFile.prototype;
    try {
      const entry = journal.begin("a", "1");
      journal.finish(journal.begin("b", "2"), "22");
      journal.delivered(journal.begin("c", "3"));
      await journal.written();
      const before = Deno.statSync(path).ino;
      Deno.FsFile.prototype.syncData = () => Promise.reject(new Error("Input/output error (os error 5)"));
      await assertRejects(() => journal.flush(), Error, "os error 5");
      assertEquals(journal.whole, false);
      Deno.FsFile.prototype.syncData = syncData;
      // As the system does it with pages that the disk did not take.
      Deno.truncateSync(path, 0);
      await journal.flush();
      assertEquals(journal.whole, true);
      assert(Deno.statSync(path).ino !== before);
      journal.drop(entry);
      await journal.written();
      assertEquals(found(folder), [{ node: "n", running: [], ended: [["b", "22"]], damaged: [] }]);
    } finally {
      Deno.FsFile.prototype.syncData = syncData;
      journal.close();
    }
  }));

Deno.test("FileJournal takes no file that a compaction has closed for a disk that fails", () =>
  withFolder(async (filePrefix) => {
    const journal = new FileJournal(filePrefix, "n", ROOM);
    const { syncData } = Deno.FsFile.prototype;
    const closed = Promise.withResolvers<never>();
    try {
      journal.begin("a", "1");
      await journal.written();
      const path = `${filePrefix}.n.journal`;
      const before = Deno.statSync(path).ino;
      Deno.FsFile.prototype.syncData = () => closed.promise;
      const flushing = journal.flush();
      const filler = "x".repeat(1 << 20);
      for (let i = 0; Deno.statSync(path).ino === before; i++) {
        assert(i < 10);
        journal.delivered(journal.begin(`g${i}`, filler));
        await journal.written();
      }
      closed.reject(new Deno.errors.BadResource("Bad resource ID"));
      await flushing;
      assertEquals(journal.whole, true);
    } finally {
      Deno.FsFile.prototype.syncData = syncData;
      journal.close();
    }
  }));
