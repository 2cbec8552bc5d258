/** Databases that are lost, emptied or harmed before a gateway starts, or a backup is restored: nothing takes their place unasked. */
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { StoreRefused } from "../../src/accounts/mod.ts";
import { backup, CareRefused, info, restore } from "../../src/store/care/mod.ts";
import { openStore, StoreUnfit } from "../../src/store/mod.ts";
import { configOf, endOf, keyOf, open, requestOf } from "../accounts/support.ts";

interface Rig {
  /** Of the database. */
  path: string;
  /** Of a backup of it. */
  backup: string;
  names(): string[];
}

/** The files of a gateway that was killed: all of a young database is in its log. */
async function rig(): Promise<Rig & Disposable> {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-lost-" });
  const path = `${folder}/s.db`;
  Deno.mkdirSync(`${folder}/running`);
  const service = await open(openStore(`sqlite:${folder}/running/s.db`), configOf());
  const call = await service.admit(requestOf(await keyOf(service), 1));
  await call.settle(endOf({ input: 1 }));
  await service.flush();
  for (const end of ["", "-wal", ".pepper"]) Deno.copyFileSync(`${folder}/running/s.db${end}`, path + end);
  await service.close();
  await backup({ url: `sqlite:${folder}/running/s.db` }, `${folder}/backup`, { pepper: null });
  return {
    path,
    backup: `${folder}/backup`,
    names: () => [...Deno.readDirSync(folder)].map(({ name }) => name).sort(),
    [Symbol.dispose]: () => Deno.removeSync(folder, { recursive: true }),
  };
}

/** Brings the log into the file. */
async function tidy(path: string): Promise<void> {
  await (await open(openStore(`sqlite:${path}`), configOf())).close();
}

function overwrite(path: string, at: number, bytes: Uint8Array): void {
  using file = Deno.openSync(path, { write: true });
  file.seekSync(at, Deno.SeekMode.Start);
  file.writeSync(bytes);
}

const BESIDE_A_LOG: Record<string, (path: string) => void> = {
  "not there": (path) => Deno.removeSync(path),
  "empty": (path) => Deno.truncateSync(path, 0),
  "young, and the log damaged": (path) => overwrite(`${path}-wal`, 0, new Uint8Array(32).fill(90)),
};

for (const [title, harm] of Object.entries(BESIDE_A_LOG)) {
  Deno.test(`sqlite: a database that is ${title} is not opened, and its log stays as it is`, async () => {
    using files = await rig();
    harm(files.path);
    const before = files.names();
    const log = Deno.readFileSync(`${files.path}-wal`);
    const error = assertThrows(() => openStore(`sqlite:${files.path}`), StoreUnfit);
    assert(error.message.includes(`${files.path}-wal`), error.message);
    assertMatch(error.message, /Put both back, or restore a backup/);
    const refused = await assertRejects(
      () => restore({ url: `sqlite:${files.path}` }, files.backup),
      CareRefused,
    );
    assertMatch(refused.message, /--force/);
    assertEquals([files.names(), Deno.readFileSync(`${files.path}-wal`)], [before, log]);

    const { aside } = await restore({ url: `sqlite:${files.path}` }, files.backup, { force: true });
    assertEquals(Deno.readFileSync(`${aside}-wal`), log);
    assert(!files.names().includes("s.db-wal"), files.names().join());
    assertEquals((await info({ url: `sqlite:${files.path}` })).rows.generations, 1);
  });
}

const EMPTIED: Record<string, (path: string) => void> = {
  "was deleted": (path) => Deno.removeSync(path),
  "was emptied": (path) => Deno.truncateSync(path, 0),
};

for (const [title, harm] of Object.entries(EMPTIED)) {
  Deno.test(`sqlite: a database that ${title} beside its pepper is not made anew`, async () => {
    using files = await rig();
    await tidy(files.path);
    harm(files.path);
    const start = () => open(openStore(`sqlite:${files.path}`), configOf());
    const error = await assertRejects(start, StoreRefused);
    for (const said of [files.path, `remove ${files.path}.pepper`, "sluice restore"]) {
      assert(error.message.includes(said), error.message);
    }
    await assertRejects(start, StoreRefused);
    Deno.removeSync(`${files.path}.pepper`);
    await (await start()).close();
  });
}

Deno.test("sqlite: a young database whose log is gone is not made anew", async () => {
  using files = await rig();
  Deno.removeSync(`${files.path}-wal`);
  await assertRejects(() => open(openStore(`sqlite:${files.path}`), configOf()), StoreRefused);
});

const HARMED: Record<string, (path: string) => void> = {
  "cut": (path) => Deno.truncateSync(path, 200_000),
  "without a header": (path) => overwrite(path, 16, new Uint8Array(84)),
  "overwritten": (path) => overwrite(path, 4096, new Uint8Array(40_960).fill(90)),
};

for (const [title, harm] of Object.entries(HARMED)) {
  Deno.test(`sqlite: a start on a database that is ${title} names it and what to do, and a restore takes its place`, async () => {
    using files = await rig();
    await tidy(files.path);
    harm(files.path);
    const harmed = Deno.readFileSync(files.path);
    const service = await open(openStore(`sqlite:${files.path}`), configOf());
    await service.close();
    const [told] = service.warnings;
    assert(told.startsWith(`The store ${files.path} is unavailable (`), told);
    assertMatch(told, /put a sound copy in its place, or end the gateway and restore a backup/);
    assertEquals(Deno.readFileSync(files.path), harmed);

    const place = { url: `sqlite:${files.path}` };
    await assertRejects(() => restore(place, files.backup, { deadMs: 0 }), CareRefused, "--force");
    const { aside } = await restore(place, files.backup, { force: true, deadMs: 0 });
    assertEquals(Deno.readFileSync(aside!), harmed);
    const restored = await open(openStore(`sqlite:${files.path}`), configOf());
    assertEquals((await restored.usage({ by: "key" })).data[0].generations, 1);
    await restored.close();
  });
}
