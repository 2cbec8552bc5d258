/** Records of a key are found by the name that it has now, by each that it had, and not by those of others. */
import { assertEquals } from "@std/assert";
import { encodeRecord } from "../../src/store/mod.ts";
import { onBothEngines } from "../support/cluster.ts";
import { generation } from "../store/samples.ts";
import { configOf, NOON, open, type Running } from "./support.ts";

onBothEngines(({ name, place }) => {
  Deno.test(`${name}: generations of a renamed key are found by its present name and by its earlier one`, async () => {
    const here = place();
    const store = here.open();
    const service = await open(store, configOf());
    try {
      const made = async (name: string) => (await service.createKey({ name })).key.id;
      const one = await made("one");
      const other = await made("other");
      await store.registerNode("n");
      let count = 0;
      const record = async (keyId: string, key: string, session: string) => {
        const id = `gen_${count++}`;
        const fields = { keyId, key, session, created: NOON - count, account: "default" };
        const records = [encodeRecord(generation(id, fields))];
        await store.sync({ node: "n", seq: count, now: NOON, records, leases: [] });
      };
      await record(one, "one", "s");
      await service.patchKey(one, { name: "two" });
      await record(one, "two", "s");
      await record(other, "other", "s");
      // Another key has the name that is free, and one that nobody knows had it too.
      const third = await made("one");
      await record(third, "one", "t");
      await record("key_gone", "two", "s");

      const found = async (query: Parameters<Running["generations"]>[0]) => {
        const ids: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await service.generations({ ...query, limit: 1, cursor });
          ids.push(...page.data.map(({ id }) => id));
          cursor = page.next_cursor ?? undefined;
        } while (cursor !== undefined);
        return ids.sort();
      };
      const cases: [Parameters<Running["generations"]>[0], string[]][] = [
        [{ key: "two" }, ["gen_0", "gen_1", "gen_4"]],
        [{ key: "one" }, ["gen_0", "gen_3"]],
        [{ key: "other" }, ["gen_2"]],
        [{ key: one }, ["gen_0", "gen_1"]],
        [{ key: "none" }, []],
        [{ key: "two", session: "s" }, ["gen_0", "gen_1", "gen_4"]],
        [{ key: "one", session: "t" }, ["gen_3"]],
        [{ key: "two", account: "default" }, ["gen_0", "gen_1", "gen_4"]],
        // By a field without an index.
        [{ key: "two", status: "completed" }, ["gen_0", "gen_1", "gen_4"]],
        [{ key: "one", status: "completed" }, ["gen_0", "gen_3"]],
      ];
      for (const [query, wanted] of cases) assertEquals(await found(query), wanted, JSON.stringify(query));
    } finally {
      await service.close();
      here.remove();
    }
  });
});
