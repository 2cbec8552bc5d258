/** What the console asks of the store: sessions that last, calls that run on other nodes, budgets and keys near their end. */
import { assertEquals } from "@std/assert";
import { type BudgetRef, encodeRecord, type Store, type StoredSession } from "../../src/store/mod.ts";
import { onBothEngines } from "../support/cluster.ts";
import { generation, NOW, storedKey } from "./samples.ts";

const HOUR = 3_600_000;

const session = (id: string, more: Partial<StoredSession> = {}): StoredSession => ({
  id,
  name: "ada",
  role: "member",
  team: "red",
  member: "https://id.example#ada",
  way: "oidc",
  credential: null,
  began: NOW,
  ends: NOW + 12 * HOUR,
  ...more,
});

onBothEngines(({ name, place }) => {
  function test(title: string, body: () => Promise<void>): void {
    Deno.test(`${name}: ${title}`, body);
  }
  async function withStore(body: (store: Store) => Promise<void>): Promise<void> {
    const where = place();
    const store = where.open();
    try {
      await store.prepare();
      await body(store);
    } finally {
      await store.close();
      where.remove();
    }
  }

  test("listSessions() tells those that last, of all or of one person, page by page", () =>
    withStore(async (store) => {
      await store.insertSession(session("ses_old", { ends: NOW - 1, began: NOW - 13 * HOUR }));
      await store.insertSession(session("ses_1"));
      await store.insertSession(
        session("ses_2", { began: NOW + 1, member: null, name: "admin_key", team: null }),
      );
      await store.insertSession(session("ses_3", { began: NOW + 2 }));
      await store.insertSession(session("ses_3", { began: NOW + 9 }));
      const ids = async (more: { member?: string; after?: { created: number; id: string } | null } = {}) =>
        (await store.listSessions({ after: null, limit: 2, now: NOW + HOUR, ...more })).map(({ id }) => id);
      assertEquals(await ids(), ["ses_3", "ses_2"]);
      assertEquals(await ids({ after: { created: NOW + 1, id: "ses_2" } }), ["ses_1"]);
      assertEquals(await ids({ member: "https://id.example#ada" }), ["ses_3", "ses_1"]);
      assertEquals(await store.sessionById("ses_1"), session("ses_1"));
      assertEquals(await store.sessionById("ses_old"), null, "what has ended is forgotten");
      await store.endSession({ id: "ses_3", ends: NOW + 12 * HOUR }, NOW);
      assertEquals(await ids(), ["ses_2", "ses_1"]);
    }));

  test("changesSince() tells who watches, and runningCalls() what the others told", () =>
    withStore(async (store) => {
      for (const node of ["a", "b"]) await store.registerNode(node);
      const before = await store.revision();
      await store.noteWatch("a");
      const changes = await store.changesSince(before);
      assertEquals(changes.watches, ["a"]);
      assertEquals((await store.changesSince(changes.rev)).watches, []);
      await store.noteWatch("a");
      assertEquals((await store.changesSince(changes.rev)).watches, ["a"], "who still watches says so again");
      await store.putRunningCalls("b", "one");
      await store.putRunningCalls("b", "two");
      await store.putRunningCalls("a", "own");
      assertEquals(await store.runningCalls("a"), [{ node: "b", data: "two" }]);
      await store.putRunningCalls("b", null);
      assertEquals(await store.runningCalls("a"), []);
      await store.putRunningCalls("b", "three");
      await store.removeNodes(["b"]);
      assertEquals(await store.runningCalls("a"), [], "a node that is gone runs nothing");
    }));

  test("nearBudgets() finds what is at 80 per cent or more, the highest share first; endingKeys() what ends soon", () =>
    withStore(async (store) => {
      await store.registerNode("a");
      const budget = (
        name: string,
        scope: BudgetRef["scope"],
        limit: bigint,
        ends: number | null,
      ): BudgetRef => ({
        id: `k:${name}`,
        scope,
        owner: name,
        starts: 0,
        ends,
        limit,
      });
      const spending = [
        { ref: budget("half", "key", 100n, null), spent: 50n },
        { ref: budget("near", "key", 100n, NOW + HOUR), spent: 85n },
        { ref: budget("past", "key", 100n, NOW - 1), spent: 99n },
        { ref: budget("over", "team", 100n, null), spent: 120n },
      ];
      let seq = 0;
      const sync = (refs: BudgetRef[], records: Parameters<typeof store.sync>[0]["records"] = []) =>
        store.sync({
          node: "a",
          seq: ++seq,
          now: NOW,
          records,
          leases: refs.map((budget) => ({ budget, floor: 0n, exact: true })),
        });
      await sync(spending.map(({ ref }) => ref));
      await sync(
        [],
        spending.map(({ ref: { scope, owner, ends }, spent: cost }, i) =>
          encodeRecord(generation(`gen_${i}`, {
            cost,
            created: ends !== null && ends < NOW ? NOW - HOUR : NOW,
            ...(scope === "team" ? { team: owner } : { keyId: owner }),
          }))
        ),
      );
      const { rows, all } = await store.nearBudgets({ now: NOW, limit: 10 });
      assertEquals(rows.map(({ scope, owner, spent, limit }) => [scope, owner, spent, limit]), [
        ["team", "over", 120n, 100n],
        ["key", "near", 85n, 100n],
      ]);
      assertEquals([all, (await store.nearBudgets({ now: NOW, limit: 1 })).all], [2, 2]);
      await sync([{ ...spending[1].ref, limit: 1000n }]);
      assertEquals(
        (await store.nearBudgets({ now: NOW, limit: 10 })).all,
        1,
        "with a higher limit it is near no more",
      );

      // A key that may not be used any more needs no decision, and leaves no room for those that do.
      await sync([{ ...spending[1].ref, limit: 90n }]);
      const nearest = async () =>
        (await store.nearBudgets({ now: NOW, limit: 10 })).rows.map(({ owner }) => owner);
      assertEquals(await nearest(), ["over", "near"]);
      await store.insertKey({ ...storedKey("near"), expiresAt: NOW + 1 }, "hash-near");
      assertEquals(await nearest(), ["over", "near"]);
      for (const change of [{ expiresAt: NOW }, { expiresAt: null, revokedAt: NOW }]) {
        await store.updateKey("near", (key) => ({ ...key, ...change }));
        assertEquals((await store.nearBudgets({ now: NOW, limit: 10 })).all, 1, JSON.stringify(change));
      }

      const keys = {
        soon: NOW + HOUR,
        later: NOW + 100 * HOUR,
        gone: NOW - HOUR,
        never: null,
        revoked: NOW + HOUR,
      };
      for (const [id, expiresAt] of Object.entries(keys)) {
        const revokedAt = id === "revoked" ? NOW : null;
        await store.insertKey(
          storedKey(id, { expiresAt, revokedAt, member: id === "gone" ? "ada" : null }),
          id,
        );
      }
      const ending = (more: { member?: string; limit?: number } = {}) =>
        store.endingKeys({ from: NOW - 10 * HOUR, to: NOW + 10 * HOUR, limit: 10, ...more });
      assertEquals((await ending()).rows.map(({ id }) => id), ["gone", "soon"]);
      assertEquals((await ending({ member: "ada" })).rows.map(({ id }) => id), ["gone"]);
      assertEquals([(await ending({ limit: 1 })).all, (await ending({ limit: 1 })).rows.length], [2, 1]);
    }));
});
