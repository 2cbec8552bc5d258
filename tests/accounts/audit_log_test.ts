import { assertEquals } from "@std/assert";
import { AuditLog } from "../../src/accounts/administration/audit_log.ts";
import { type AuditRecord, StoreUnavailable } from "../../src/store/mod.ts";
import { onBothEngines } from "../support/cluster.ts";
import { heldTimers, nextTurn } from "../support/time.ts";

const KEY = { id: "key_1", name: "dev", account: "acme" };

function log(insertAudit: (records: readonly AuditRecord[]) => Promise<void>) {
  const warned: string[] = [];
  const audit = new AuditLog({
    store: { insertAudit },
    clock: { now: () => 1000 },
    warn: (line) => void warned.push(line),
  });
  return { audit, warned };
}

Deno.test("AuditLog keeps what the store cannot take, and writes it in order later", async () => {
  const written: AuditRecord[] = [];
  let up = false;
  const { audit } = log((records) => {
    if (!up) return Promise.reject(new StoreUnavailable("away"));
    written.push(...records);
    return Promise.resolve();
  });
  for (let i = 0; i < 1200; i++) audit.add({ kind: "dlp", key: KEY, data: { i } });
  await audit.flush();
  assertEquals(written.length, 0);
  up = true;
  await audit.close();
  assertEquals(written.map(({ data }) => JSON.parse(data).i), Array.from({ length: 1200 }, (_, i) => i));
  assertEquals([written[0].keyId, written[0].key, written[0].account], ["key_1", "dev", "acme"]);
});

Deno.test("AuditLog keeps what administrators did, however many findings somebody has made", async () => {
  const written: AuditRecord[] = [];
  let up = false;
  const { audit } = log((records) => {
    if (!up) return Promise.reject(new StoreUnavailable("away"));
    written.push(...records);
    return Promise.resolve();
  });
  for (let i = 0; i < 20_010; i++) audit.add({ kind: "dlp", key: KEY, data: {} });
  audit.add({ kind: "admin", key: null, data: { action: "breakers.closed" } });
  up = true;
  await audit.close();
  assertEquals(written.filter(({ kind }) => kind === "admin").length, 1);
});

Deno.test("AuditLog writes 500 entries at a time, and those of one moment in the order of their ids", async () => {
  const batches: string[][] = [];
  const { audit } = log((records) => Promise.resolve(void batches.push(records.map(({ id }) => id))));
  for (let i = 0; i < 1100; i++) audit.add({ kind: "dlp", key: KEY, data: {} });
  await audit.close();
  assertEquals(batches.map(({ length }) => length), [500, 500, 100]);
  assertEquals(batches.flat(), batches.flat().toSorted());
});

Deno.test("AuditLog writes half a second after an entry, and tries again five seconds after a failure", async () => {
  using timers = heldTimers(500, 5000);
  const { held } = timers;
  const written: AuditRecord[] = [];
  let up = false;
  const { audit } = log((records) => {
    if (!up) return Promise.reject(new StoreUnavailable("away"));
    written.push(...records);
    return Promise.resolve();
  });
  for (let i = 0; i < 2; i++) audit.add({ kind: "dlp", key: KEY, data: {} });
  assertEquals(held.map(({ ms }) => ms), [500]);
  held[0].run();
  await nextTurn();
  assertEquals([written.length, ...held.map(({ ms }) => ms)], [0, 500, 5000]);
  up = true;
  held[1].run();
  await nextTurn();
  assertEquals([written.length, held.length], [2, 2]);
  audit.add({ kind: "dlp", key: KEY, data: {} });
  assertEquals(held.map(({ ms }) => ms), [500, 5000, 500]);
  await audit.close();
  assertEquals(written.length, 3);
  audit.add({ kind: "dlp", key: KEY, data: {} });
  assertEquals(held.length, 3, "after its end there is no timer");
});

Deno.test("AuditLog is bounded, and says once in each failure that it drops", async () => {
  let up = false;
  const { audit, warned } = log(() => up ? Promise.resolve() : Promise.reject(new StoreUnavailable("away")));
  const full = "The audit log is full: entries are dropped until the store is back.";
  for (const count of [10, 1]) {
    up = false;
    for (let i = 0; i < 20_000 + count; i++) audit.add({ kind: "dlp", key: KEY, data: {} });
    up = true;
    await audit.flush();
  }
  await audit.close();
  assertEquals(warned, [
    full,
    "The audit log dropped 10 entries.",
    full,
    "The audit log dropped 1 entry.",
  ]);
});

onBothEngines(({ name, place }) => {
  Deno.test(`${name}: insertAudit() writes once, listAudit() filters and pages, retireAudit() deletes what is older`, async () => {
    const here = place();
    const store = here.open();
    try {
      const record = (id: string, more: Partial<AuditRecord> = {}): AuditRecord => ({
        id,
        created: 1000,
        kind: "dlp",
        keyId: "key_1",
        key: "dev",
        account: "acme",
        data: '{"a":1}',
        ...more,
      });
      await store.prepare();
      const records = [
        record("a1"),
        record("a2", { created: 2000, kind: "admin", keyId: null, key: null }),
        record("a3", { created: 3000 }),
        record("a4", { created: 3000, keyId: "key_2", key: "other" }),
      ];
      await store.insertAudit(records);
      await store.insertAudit(records);
      const ids = async (filter: Parameters<typeof store.listAudit>[0]) =>
        (await store.listAudit(filter, { after: null, limit: 10 })).map(({ id }) => id);
      assertEquals(await ids({}), ["a4", "a3", "a2", "a1"]);
      assertEquals(await ids({ kind: "admin" }), ["a2"]);
      assertEquals(await ids({ keyId: "key_1", from: 2000 }), ["a3"]);
      assertEquals(await ids({ key: "other", to: 3000 }), []);
      const page = await store.listAudit({}, { after: { created: 3000, id: "a4" }, limit: 2 });
      assertEquals(page.map(({ id }) => id), ["a3", "a2"]);
      assertEquals(page[0], records[2]);
      assertEquals(await store.retireAudit(2500, 1), 1);
      assertEquals(await store.retireAudit(2500, 10), 1);
      assertEquals(await store.retireAudit(2500, 10), 0);
      assertEquals(await ids({}), ["a4", "a3"]);
    } finally {
      await store.close();
      here.remove();
    }
  });
});
