/** What a gateway keeps of its catalog for the next start. */
import { assertEquals } from "@std/assert";
import { KeptCatalog } from "../../src/assembly/kept_catalog.ts";
import type { CatalogChange } from "../../src/http/endpoint.ts";
import { testGateway } from "../support/gateway.ts";
import { eventually, turns } from "../support/time.ts";

const change = (model: string): CatalogChange => ({ at: "2026-11-27T00:00:00Z", model, what: "added" });

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "sluice-kept-" });
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** While the disk takes texts only after `responds`. */
async function onSlowDisk(
  responds: Promise<void>,
  work: (written: string[]) => Promise<void>,
): Promise<void> {
  const { writeTextFile } = Deno;
  const written: string[] = [];
  Deno.writeTextFile = async (path, ...rest) => {
    written.push(String(path));
    await responds;
    await writeTextFile(path, ...rest);
  };
  try {
    await work(written);
  } finally {
    Deno.writeTextFile = writeTextFile;
  }
}

Deno.test("KeptCatalog keeps what was saved last, and has written it when it is closed", () =>
  inFolder(async (folder) => {
    const kept = new KeptCatalog(`${folder}/s.db.catalog.json`, { worker: null, now: Date.now });
    for (let i = 0; i < 3; i++) {
      // The earlier write takes longer.
      kept.saveChanges(Array.from({ length: 50_000 }, (_, n) => change(`m-${n}`)));
      kept.saveChanges([change("last")]);
      await kept.close();
      assertEquals(kept.before().changes, [change("last")]);
    }
  }));

Deno.test("KeptCatalog gives up a disk that hangs, and writes nothing later", () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return inFolder((folder) =>
    onSlowDisk(promise, async (written) => {
      const kept = new KeptCatalog(`${folder}/s.db.catalog.json`, { worker: null, now: Date.now });
      kept.saveChanges([change("first")]);
      kept.saveChanges([change("last")]);
      await kept.close(10);
      assertEquals(written.length, 1);
      resolve();
      await eventually(() => kept.before().changes.length > 0);
      await turns(20);
      assertEquals([written.length, kept.before().changes], [1, [change("first")]]);
    })
  );
});

Deno.test("a gateway that is closed has written its catalog", () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return inFolder((folder) =>
    // All else has been closed by then.
    onSlowDisk(promise.then(() => turns(40)), async (written) => {
      const gateway = await testGateway(
        { demo: { api: "demo", url: "" } },
        { store: { url: `sqlite:${folder}/s.db` } },
        { discovers: true },
      );
      await eventually(() => written.length > 0);
      resolve();
      await gateway.close();
      const models = JSON.parse(Deno.readTextFileSync(`${folder}/s.db.catalog.json`));
      assertEquals(models.map(({ id }: { id: string }) => id), ["demo/model"]);
    })
  );
});
