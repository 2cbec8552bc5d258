/** Journals that are damaged, of another store, or taken over: nothing in them is lost or counted twice. */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { encodeRecord, type Generation, type Store, StoreUnavailable } from "../../src/store/mod.ts";
import { sqlitePlace } from "../support/cluster.ts";
import { eventually } from "../support/time.ts";
import { configOf, NOON, open } from "./support.ts";

const begun = (id: string) =>
  JSON.stringify([id, NOON, "key_config_dev", "dev", "acme", "messages", "a/b", "a/b", 0]);

const ended = (id: string, more: Partial<Generation> = {}) =>
  encodeRecord({
    id,
    created: NOON,
    keyId: "key_config_dev",
    key: "dev",
    account: "acme",
    format: "messages",
    requestedModel: "a/b",
    model: "a/b",
    provider: "p",
    stream: false,
    status: "completed",
    errorCode: null,
    usage: { ...NO_USAGE, input: 3 },
    estimated: false,
    searches: 0,
    cost: 3n,
    ttftMs: 1,
    latencyMs: 2,
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
    ...more,
  }).json;

Deno.test("lines of a journal that are damaged in any way are set aside and said, and all others are taken over", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const journal = [
    "H node_dead",
    ...["a", "b", "e", "f"].map((id) => `+ gen_${id} ${begun(`gen_${id}`)}`),
    '= gen_a ["gen_a",17683',
    `= gen_e ${ended("gen_e").replace("messages", 'messages",7,"')}`,
    `= gen_f ${ended("gen_f")}`,
    // A record that a page could not show.
    `= gen_g ${ended("gen_g").replace(",3,0,0", ',"x",0,0')}`,
    `+ gen_c ["gen_c",`,
    `+ gen_h ${begun("gen_h").replace('"acme"', "7")}`,
    "\0\0\0\0@@@@",
    `\0\0\0+ gen_d ${begun("gen_d")}`,
    "",
  ];
  const path = `${store.filePrefix}.node_dead.journal`;
  Deno.writeTextFileSync(path, journal.join("\n"));
  const service = await open(store, configOf());
  try {
    await service.flush();
    const { data } = await service.generations({});
    assertEquals(data.map((g) => [g.id, g.status]).sort(), [
      // Its end cannot be read, so nobody knows what it used.
      ["gen_a", "interrupted"],
      ["gen_b", "interrupted"],
      ["gen_d", "interrupted"],
      ["gen_e", "interrupted"],
      ["gen_f", "completed"],
    ]);
    assertMatch(service.warnings.join(), /6 unreadable lines, set aside in .*node_dead\.journal\.damaged/);
    assertEquals(Deno.readTextFileSync(`${path}.damaged`).trim().split("\n").length, 6);
    assertEquals(service.damagedLines(), 6);
  } finally {
    await service.close();
    here.remove();
  }
});

Deno.test("a journal with damaged lines for which there is no room is kept itself", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const path = `${store.filePrefix}.node_dead.journal`;
  Deno.writeTextFileSync(path, `H node_dead\n+ gen_a ${begun("gen_a")}\n= gen_a [\n`);
  // Nothing can be written there.
  Deno.symlinkSync("/nowhere/at/all", `${path}.damaged`);
  const service = await open(store, configOf());
  try {
    await service.flush();
    assertEquals((await service.generations({})).data.map((g) => g.id), ["gen_a"]);
    assertMatch(Deno.readTextFileSync(`${path}.damaged`), /= gen_a \[/);
    assertThrows(() => Deno.statSync(path), Deno.errors.NotFound);
  } finally {
    await service.close();
    here.remove();
  }
});

Deno.test("a journal of a gateway on another store stays where it is, and is said once", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const pathOf = (node: string) => `${store.filePrefix}.${node}.journal`;
  const write = (node: string, storeId: string) =>
    Deno.writeTextFileSync(
      pathOf(node),
      `H ${node}\n= gen_${node} ${ended(`gen_${node}`)}\nH ${node} ${storeId}\n`,
    );
  const names = () =>
    [...Deno.readDirSync(pathOf("").replace(/[^/]*$/, ""))].flatMap(({ name }) =>
      /node_(?:other|own)\.journal$/.exec(name)?.[0] ?? []
    );
  write("node_other", "another");
  const text = Deno.readTextFileSync(pathOf("node_other"));
  let service = await open(store, configOf());
  try {
    for (let turn = 0; turn < 21; turn++) await service.tick();
    assertEquals((await service.generations({})).data, []);
    assertEquals(service.warnings.filter((line) => line.includes("node_other")).length, 1);
    const own = await store.sharedValue("store_id") ?? "";
    assert(own !== "");
    await service.close();
    write("node_own", own);
    service = await open(here.open(), configOf());
    await eventually(() => names().length === 1);
    assertEquals((await service.generations({})).data.map(({ id }) => id), ["gen_node_own"]);
    assertEquals(names(), ["node_other.journal"]);
    assertEquals(Deno.readTextFileSync(pathOf("node_other")), text);
  } finally {
    await service.close();
    here.remove();
  }
});

Deno.test("a journal that was taken over stays until the store has the last of its records", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const path = `${store.filePrefix}.node_dead.journal`;
  const lines = ["a", "b", "c"].map((id) => `= gen_${id} ${ended(`gen_${id}`)}\n`);
  Deno.writeTextFileSync(path, `H node_dead\n${lines.join("")}`);
  const exists = () =>
    [...Deno.readDirSync(path.slice(0, path.lastIndexOf("/")))].some(({ name }) => path.endsWith(name));
  let refused = ["gen_c", "gen_b"];
  const service = await open({
    ...store,
    sync(request) {
      if (request.records.some(({ id }) => refused.includes(id))) throw new Error("refused");
      return store.sync(request);
    },
  }, configOf());
  try {
    const ids = async () => (await service.generations({})).data.map((g) => g.id).sort();
    await eventually(async () => (await ids()).length === 1);
    assertEquals([await ids(), exists()], [["gen_a"], true]);
    for (const left of [["gen_c"], []]) {
      refused = left;
      await eventually(async () => {
        await service.tick();
        return (await ids()).length === 3 - left.length;
      });
      // Told of the record, it may still be about to remove the file.
      if (left.length > 0) assert(exists());
      else await eventually(() => !exists());
    }
  } finally {
    await service.close();
    here.remove();
  }
});

Deno.test("a journal whose first line is damaged, or that is empty, is that of the node in its name, which goes with it", async () => {
  const here = sqlitePlace();
  const dead = here.open();
  const path = `${dead.filePrefix}.node_dead.journal`;
  const before = await open(dead, configOf());
  try {
    for (const text of ["@@@@ node_dead\n", ""]) {
      await dead.registerNode("node_dead");
      Deno.writeTextFileSync(path, text);
      const service = await open(here.open(), configOf());
      await service.tick();
      assertEquals((await dead.heartbeat("node_dead")).size, 0);
      const empty = service.warnings.filter((line) => line.includes(`${path} is empty`));
      assertEquals(empty.length, text === "" ? 1 : 0, service.warnings.join());
      await service.close();
    }
  } finally {
    await before.close();
    here.remove();
  }
});

Deno.test("a journal that is there and cannot be read is told of, once", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const path = `${store.filePrefix}.node_dead.journal`;
  Deno.mkdirSync(path);
  const service = await open(store, configOf());
  try {
    for (let turn = 0; turn < 21; turn++) await service.tick();
    assertEquals(service.warnings.filter((line) => line.includes(`${path} cannot be read`)).length, 1);
  } finally {
    await service.close();
    here.remove();
  }
});

Deno.test("all journals are taken over, also where the store goes away while the first of them is", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const nodes = ["node_a", "node_b", "node_c"];
  const pathOf = (node: string) => `${store.filePrefix}.${node}.journal`;
  for (const node of nodes) {
    Deno.writeTextFileSync(pathOf(node), `H ${node}\n+ gen_${node} ${begun(`gen_${node}`)}\n`);
  }
  let away = true;
  const failing: Store = {
    ...store,
    async sync(request) {
      if (away && request.records.length > 0) {
        away = false;
        throw new StoreUnavailable("It is away.");
      }
      return await store.sync(request);
    },
  };
  const service = await open(failing, configOf());
  try {
    // Journals are looked for with each heartbeat.
    for (let turn = 0; turn < 20; turn++) await service.tick();
    await service.flush();
    const { data } = await service.generations({});
    assertEquals(data.map(({ id }) => id).sort(), nodes.map((node) => `gen_${node}`));
    for (const node of nodes) assertThrows(() => Deno.statSync(pathOf(node)), Deno.errors.NotFound);
  } finally {
    await service.close();
    here.remove();
  }
});
