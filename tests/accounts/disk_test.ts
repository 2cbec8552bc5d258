/** The store's file cannot be written: locked by somebody, or the disk is full. */
import { assert, assertEquals } from "@std/assert";
import { openSqlite } from "../../src/store/sqlite/mod.ts";
import { StoreUnavailable } from "../../src/store/engine.ts";
import { openStore } from "../../src/store/mod.ts";
import { sqlitePlace } from "../support/cluster.ts";
import { configOf, endOf, open, requestOf, SECRET } from "./support.ts";

const CHILD = new URL("full_child.ts", import.meta.url).pathname;
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;

Deno.test("sqlite: a locked file delays records and nothing else", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const service = await open(store, configOf({}, "10"));
  const key = await service.authenticate(SECRET);
  (await service.admit(requestOf(key, 1))).release();
  const intruder = openSqlite(store.filePrefix!);
  let letGo = () => {};
  const locked = Promise.withResolvers<void>();
  const held = intruder.transaction(() => {
    locked.resolve();
    return new Promise<void>((resolve) => letGo = resolve);
  });
  await locked.promise;
  for (let i = 0; i < 10; i++) {
    const reservation = await service.admit(requestOf(key, 1));
    await reservation.settle(endOf({ input: 1 }));
  }
  assertEquals(service.pendingCount(), 10);
  letGo();
  await held;
  await service.flush();
  assertEquals(service.pendingCount(), 0);
  assertEquals((await service.credits("acme")).spent, "0.10");
  await intruder.close();
  await service.close();
  here.remove();
});

Deno.test("sqlite: a full file says so, and works on when there is room again", async () => {
  const here = sqlitePlace();
  const store = here.open();
  await store.prepare();
  await store.close();
  const engine = openSqlite(store.filePrefix!);
  await engine.query("PRAGMA max_page_count = 60");
  const insert = () =>
    engine.query("INSERT INTO meta VALUES ($1, $2)", [crypto.randomUUID(), "x".repeat(5000)]);
  let error: unknown = null;
  for (let i = 0; i < 100 && error === null; i++) await insert().catch((thrown) => error = thrown);
  assert(error instanceof StoreUnavailable);
  await engine.query("PRAGMA max_page_count = 1000000");
  await insert();
  await engine.close();
  here.remove();
});

Deno.test("a disk that reports an error on sync is logged once, and again when it has worked meanwhile", async () => {
  const here = sqlitePlace();
  const service = await open(here.open(), configOf());
  const { syncData } = Deno.FsFile.prototype;
  const lines = () => service.warnings.filter((line) => line.includes("The disk of the journal")).length;
  const fails = () => Promise.reject(new Error("Input/output error (os error 5)"));
  try {
    const key = await service.authenticate(SECRET);
    const turn = async (sync: () => Promise<void>) => {
      Deno.FsFile.prototype.syncData = sync;
      const reservation = await service.admit(requestOf(key, 1));
      await service.tick();
      await reservation.settle(endOf({ input: 1 }));
    };
    for (const [sync, logged] of [[fails, 1], [fails, 1], [syncData, 1], [fails, 2]] as const) {
      await turn(sync);
      assertEquals(lines(), logged, service.warnings.join("\n"));
    }
    assert(service.warnings.some((line) => line.includes("os error 5")));
  } finally {
    Deno.FsFile.prototype.syncData = syncData;
    await service.close();
    here.remove();
  }
});

Deno.test({
  name: "sqlite: a full disk refuses calls before it could lose one",
  ignore: Deno.build.os === "windows",
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "sluice-full-" });
    try {
      const url = `sqlite:${folder}/store.db`;
      // No file of the child grows beyond 2 MiB; the signal for that is ignored, so that a write fails as on a full disk.
      const child = await new Deno.Command("sh", {
        args: [
          "-c",
          `trap '' XFSZ; ulimit -f 4096; exec "$@"`,
          "sh",
          Deno.execPath(),
          ...["run", "-A", "--no-check", "--no-code-cache", "--config", CONFIG, CHILD, url],
        ],
      }).output();
      const text = new TextDecoder().decode(child.stdout);
      assert(child.success, new TextDecoder().decode(child.stderr));
      const told: { refused: string; ended: number; open: number } = JSON.parse(text);
      assertEquals([told.refused, told.open], ["service_unavailable", 0]);
      assert(told.ended > 1000, text);

      const service = await open(openStore(url), configOf({}, "1000000"));
      const [sum] = (await service.usage({ by: "key" })).data;
      assertEquals([sum.generations, sum.failed, sum.input_tokens], [told.ended, 0, told.ended]);
      await service.close();
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
