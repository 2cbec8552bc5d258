/** A node whose clock has run ahead, among others over one PostgreSQL. */
import { assertEquals } from "@std/assert";
import type { AccountsOptions } from "../../src/accounts/mod.ts";
import { payloadLog } from "../../src/assembly/payload_log.ts";
import { generationId } from "../../src/exchange/request_ids.ts";
import { PAYLOADS } from "../../src/payloads/config.ts";
import { openStore, type Store } from "../../src/store/mod.ts";
import { onCluster } from "../support/cluster.ts";
import { StoppedClock } from "../support/time.ts";
import { PAYLOAD_KEY } from "../payloads/support.ts";
import { Timeline } from "../../src/accounts/live/timeline.ts";
import { configOf, endOf, keyOf, open, requestOf } from "./support.ts";

const YEAR = 365 * 86_400_000;

onCluster((cluster) => {
  Deno.test("postgres: a node whose clock is a year ahead deletes nothing that is not past its time", async () => {
    const schema = `t${crypto.randomUUID().replaceAll("-", "")}`;
    const store = openStore(cluster().url, { schema });
    const now = (await store.time())!;
    await store.close();
    const node = async (ahead: number) => {
      const options: Partial<AccountsOptions> = { clock: new StoppedClock(now + ahead), retentionDays: 30 };
      return await open(openStore(cluster().url, { schema }), configOf({}, "10"), options);
    };
    const [right, ahead] = [await node(0), await node(YEAR)];
    try {
      for (const created of [now, now - 40 * 86_400_000]) {
        const call = await right.admit(requestOf(await keyOf(right), 1, { created }));
        await call.settle(endOf({ input: 1 }));
      }
      await right.flush();
      await ahead.keepHouse();
      const { data } = await right.generations({});
      assertEquals(data.map(({ created }) => Date.parse(created)), [now]);
      assertEquals((await right.usage({ by: "model" })).data[0].generations, 2);
    } finally {
      await right.close();
      await ahead.close();
    }
  });

  const test = (title: string, body: (store: Store, now: number) => Promise<void>) =>
    Deno.test(`postgres: ${title}`, async () => {
      const store = openStore(cluster().url, { schema: `t${crypto.randomUUID().replaceAll("-", "")}` });
      try {
        await store.prepare();
        await body(store, (await store.time())!);
      } finally {
        await store.close();
      }
    });

  test(
    "a node whose clock is a year ahead forgets no sum, session or secret that others go by",
    async (store, now) => {
      const kept = { span: 60_000, starts: now - now % 60_000, node: "node_1", data: "x" };
      await store.putRollups([kept]);
      const ahead = new Timeline({ store, node: "node_2", now: () => now + YEAR, ready: () => true });
      ahead.add([], [{ model: "a/b", key: "dev", team: null, tags: null }]);
      assertEquals(await ahead.write(), false);
      assertEquals(await store.rollups({ ...kept, from: 0, to: now }), [kept]);

      const session = {
        id: "ses_1",
        name: "ada",
        role: "owner",
        team: null,
        member: "ada",
        way: "oidc",
        credential: null,
        began: now,
        ends: now + 3_600_000,
      };
      await store.insertSession(session);
      await store.insertSession({ ...session, id: "ses_2", began: now + YEAR, ends: now + YEAR + 3_600_000 });
      assertEquals(await store.sessionById("ses_1"), session);
      await store.endSession({ id: "ses_1", ends: session.ends }, now);
      await store.endSession({ id: "ses_3", ends: now + YEAR }, now + YEAR);
      const { endedSessions } = await store.peopleSince(0);
      assertEquals(endedSessions.map(({ id }) => id).sort(), ["ses_1", "ses_3"]);
    },
  );

  test(
    "a stream, and what repeats its call, are there for a node whose clock is a year ahead",
    async (store, now) => {
      const start = {
        id: "gen_1",
        keyId: "key_1",
        format: "messages",
        streamed: true,
        claim: "claim",
        request: "request",
        node: "node_1",
        keepMs: 600_000,
        created: now,
      };
      await store.registerNode("node_1");
      assertEquals(await store.claimStream(start, now), null);
      const end = { state: "ended", events: 0, expires: now + 600_000 } as const;
      await store.writeStreams([{ start, head: null, piece: null, end }]);
      assertEquals((await store.stream("gen_1", now + YEAR))?.id, "gen_1");
      const again = { ...start, id: "gen_2", created: now + YEAR };
      assertEquals((await store.claimStream(again, now + YEAR))?.id, "gen_1");
      // A clock that is behind has them for longer.
      assertEquals((await store.stream("gen_1", now - YEAR))?.id, "gen_1");
    },
  );

  test(
    "a node whose clock is a year ahead deletes no payload that is not past its time",
    async (store, now) => {
      const folder = await Deno.makeTempDir();
      try {
        const section = PAYLOADS.parse({ to: `file:${folder}`, key: PAYLOAD_KEY, retention_days: 30 });
        const open = (ahead: number, from: Store) =>
          payloadLog(section, { now: () => now + ahead, log() {}, store: from, sweeps: false });
        const away = { ...store, time: () => Promise.reject(new Error("The store is away.")) };
        const [right, ahead, alone] = [await open(0, store), await open(YEAR, store), await open(YEAR, away)];
        const [id, past] = [generationId(now), generationId(now - 40 * 86_400_000)];
        for (const one of [id, past]) right.add(one, "key", 1, () => "x");
        await right.close();
        await alone.sweep();
        assertEquals(await right.read(past), "x");
        await ahead.sweep();
        assertEquals([await right.read(past), await right.read(id)], [null, "x"]);
        const place = await store.payloadPlace(id);
        ahead.add(generationId(now), "key", 1, () => "x");
        await ahead.close();
        assertEquals([typeof place, await store.payloadPlace(id)], ["string", place]);
        await alone.close();
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  );
});
