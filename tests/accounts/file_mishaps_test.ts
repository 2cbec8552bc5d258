/** Database files that are deleted, replaced, damaged, or opened by others while a gateway runs. */
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { sqlitePlace } from "../support/cluster.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually } from "../support/time.ts";
import { configOf, open } from "./support.ts";

/** Writes over a part of a file, from one share of its length on. */
function overwrite(path: string, from: number, bytes: Uint8Array): void {
  using file = Deno.openSync(path, { write: true });
  file.seekSync(Math.floor(file.statSync().size * from), Deno.SeekMode.Start);
  file.writeSync(bytes);
}

const MISHAPS: Record<string, (path: string) => void> = {
  "deleted": (path) => Deno.removeSync(path),
  "deleted with its log": (path) => {
    for (const suffix of ["", "-wal", "-shm"]) Deno.removeSync(path + suffix);
  },
  "its log deleted": (path) => Deno.removeSync(`${path}-wal`),
  "its log cut": (path) => Deno.truncateSync(`${path}-wal`, 0),
  "its log overwritten": (path) => overwrite(`${path}-wal`, 0, new Uint8Array(65_536).fill(90)),
  "replaced": (path) => {
    Deno.copyFileSync(path, `${path}.copy`);
    Deno.renameSync(`${path}.copy`, path);
  },
  "replaced by another text": (path) => Deno.writeTextFileSync(path, "no database"),
  "emptied": (path) => Deno.truncateSync(path, 0),
  "cut": (path) => Deno.truncateSync(path, 4096 * 8),
  "its header overwritten": (path) => overwrite(path, 0, new Uint8Array(100).fill(90)),
  "its middle overwritten": (path) => overwrite(path, 0.5, new Uint8Array(65_536).fill(90)),
};

for (const [mishap, harm] of Object.entries(MISHAPS)) {
  Deno.test(`a database file under a running gateway is noticed to be harmed: ${mishap}`, async () => {
    const provider = loopbackProvider(() => new Response());
    const folder = await Deno.makeTempDir({ prefix: "sluice-mishaps-" });
    const path = `${folder}/store.db`;
    const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, {
      store: { url: `sqlite:${path}` },
    });
    const ready = async () => {
      const response = await fetch(`${gateway.url}/readyz`);
      await response.body?.cancel();
      return response.ok;
    };
    try {
      await eventually(ready);
      if (!mishap.startsWith("its log")) checkpoint(path);
      harm(path);
      await eventually(async () => !await ready(), { what: mishap });
      assertEquals(gateway.gateway.accounts.storeUp(), false, mishap);
    } finally {
      await gateway.close().catch(() => {});
      await provider.close();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

/** Brings everything into the file itself. */
function checkpoint(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

Deno.test("a database that is put back is used again", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const service = await open(store, configOf());
  const path = store.filePrefix!;
  try {
    Deno.renameSync(path, `${path}.away`);
    await service.tick();
    assertEquals(service.storeUp(), false);
    Deno.renameSync(`${path}.away`, path);
    await eventually(async () => {
      await service.tick();
      return service.storeUp();
    });
  } finally {
    await service.close();
    here.remove();
  }
});

for (const [mishap, harm] of Object.entries(MISHAPS)) {
  if (/^(?:deleted|its log|replaced$)/.test(mishap)) continue;
  Deno.test(`a file whose contents are put back in place is used again: ${mishap}`, async () => {
    const here = sqlitePlace();
    const store = here.open();
    const service = await open(store, configOf());
    const path = store.filePrefix!;
    const settles = async (up: boolean) => {
      await eventually(async () => {
        await service.tick();
        return service.storeUp() === up;
      }, { what: `${mishap}: ${up}` });
    };
    try {
      await service.createKey({ name: "before", account: "acme" });
      checkpoint(path);
      const bytes = Deno.readFileSync(path);
      harm(path);
      await settles(false);
      {
        using file = Deno.openSync(path, { write: true });
        file.writeSync(bytes);
        file.truncateSync(bytes.length);
      }
      await settles(true);
      await service.createKey({ name: "after", account: "acme" });
      const { data } = await service.listKeys({});
      assertEquals(data.map(({ name }) => name).filter((name) => /before|after/.test(name)).sort(), [
        "after",
        "before",
      ]);
    } finally {
      await service.close();
      here.remove();
    }
  });
}

/**
 * Whether this process holds a read lock on a file. Asked of each of its open files: `/proc/locks`, which lists the locks of all
 * processes, is read page by page, and leaves locks out that stand at the edge of a page when others come and go.
 */
function holdsReadLock(path: string): boolean {
  const lock = new RegExp(`^lock:.* POSIX +ADVISORY +READ .*:${Deno.statSync(path).ino} `, "m");
  return [...Deno.readDirSync("/proc/self/fdinfo")].some(({ name }) => {
    try {
      return lock.test(Deno.readTextFileSync(`/proc/self/fdinfo/${name}`));
    } catch (error) {
      // Closed since the list was made.
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  });
}

Deno.test({
  name: "looking at the file keeps its lock, without which another process that closes it removes the log",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const here = sqlitePlace();
    const store = here.open();
    const service = await open(store, configOf());
    const path = store.filePrefix!;
    try {
      // The first statements have looked at the file.
      await service.tick();
      assert(holdsReadLock(path));
      // Another store of this process on the same file.
      const other = here.open();
      await other.prepare();
      assert(holdsReadLock(path));
      await other.close();
      assert(service.storeUp());
    } finally {
      await service.close();
      here.remove();
    }
  },
});
