/** What a gateway keeps of its catalog for the next start. */
import { assertEquals } from "@std/assert";
import { KeptCatalog } from "../../src/assembly/kept_catalog.ts";
import type { CatalogChange } from "../../src/http/endpoint.ts";

Deno.test("KeptCatalog keeps what was saved last, and has written it when it says so", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-kept-" });
  const kept = new KeptCatalog(`${folder}/s.db.catalog.json`, { worker: null, now: Date.now });
  const change = (model: string): CatalogChange => ({ at: "2026-11-27T00:00:00Z", model, what: "added" });
  try {
    for (let i = 0; i < 3; i++) {
      // The earlier write takes longer.
      kept.saveChanges(Array.from({ length: 50_000 }, (_, n) => change(`m-${n}`)));
      kept.saveChanges([change("last")]);
      await kept.written();
      assertEquals(kept.before().changes, [change("last")]);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
