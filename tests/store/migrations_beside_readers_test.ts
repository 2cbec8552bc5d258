/** A migration that has to wait, because somebody reads a table for long, lets those who write to it go on. */
import { assertEquals } from "@std/assert";
import postgres from "postgres";
import { onCluster, postgresPlace } from "../support/cluster.ts";
import { restore010 } from "../support/released.ts";
import { eventually } from "../support/time.ts";

onCluster((cluster) => {
  Deno.test("postgres: a migration gives way where a table is read for long, and is through once it is not", async () => {
    const place = postgresPlace(cluster);
    await restore010(place);
    const store = place.open();
    const open = () =>
      postgres(cluster().url, { max: 1, onnotice() {}, connection: { search_path: place.address.schema } });
    const [reader, writer] = [open(), open()];
    try {
      // Half of what a statement of a node may wait for a lock.
      await writer`SET lock_timeout = 2500`;
      let migrated: Promise<void> = Promise.resolve();
      await reader.begin(async (backup) => {
        await backup`SELECT COUNT(*) FROM generations`;
        migrated = store.prepare().catch(() => {});
        await eventually(async () => {
          const waiting =
            await writer`SELECT 1 FROM pg_stat_activity WHERE wait_event = 'relation' AND query LIKE '%generations%'`;
          return waiting.length > 0;
        });
        await writer`DELETE FROM generations WHERE id = 'none'`;
      });
      await migrated;
      await store.prepare();
      assertEquals((await store.revision()) >= 0, true);
    } finally {
      await Promise.all([reader.end(), writer.end()]);
      await store.close();
      place.remove();
    }
  });
});
