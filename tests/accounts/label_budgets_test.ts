/** Budgets of sessions and of tags, on both databases and several nodes. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { Key } from "../../src/accounts/mod.ts";
import { Failure } from "../../src/exchange/failure.ts";
import { open, requestOf } from "./support.ts";
import { configWith, DAY, inSession, onNodes, secretOf, spendAtOnce, tagged } from "./budget_nodes.ts";

onNodes((test) => {
  test(
    "a session stops at its limit, and tells the agent why; other sessions go on",
    configWith([{ name: "dev", session_limit: { amount: "0.1" } }]),
    1,
    async ([node]) => {
      const dev = await node.authenticate(secretOf("dev"));
      assertEquals((await spendAtOnce([node], [dev], { calls: 9, ...inSession("loop") })).spent, 9);
      const failure = await assertRejects(() => node.admit(requestOf(dev, 2, inSession("loop"))), Failure);
      assertEquals(failure.code, "api_key_limit_exceeded");
      assertMatch(
        failure.message,
        /This session's spend limit of 0\.10 \(0\.09 spent\) does not cover.*new session/,
      );
      assertEquals(failure.row.retryable, undefined);
      assertEquals((await spendAtOnce([node], [dev], { calls: 3, ...inSession("other") })).spent, 3);
      assertEquals((await spendAtOnce([node], [dev], { calls: 50, labels: null })).spent, 50);
    },
  );

  test(
    "a session's budget is remembered when its lease is gone, and by the next process",
    configWith([{ name: "dev", session_limit: { amount: "0.1", requests_per_minute: 100 } }]),
    1,
    async ([node], here) => {
      const dev = await node.authenticate(secretOf("dev"));
      await spendAtOnce([node], [dev], { calls: 6, ...inSession("long") });
      await node.flush();
      const engine = here.engine();
      try {
        const rows = () => engine.query("SELECT id FROM budgets WHERE scope LIKE 'session%'");
        assertEquals((await rows()).length, 2);
        node.clock.move(3_600_000);
        for (let turn = 0; turn < 21; turn++) await node.tick();
        await node.flush();
        const { labels } = inSession("another");
        await spendAtOnce([node], [dev], { calls: 1, labels });
        await node.flush();
        const left = await rows();
        assert(
          left.length === 2 && left.every(({ id }) => String(id).includes("another")),
          JSON.stringify(left),
        );
      } finally {
        await engine.close();
      }
      assertEquals((await spendAtOnce([node], [dev], { calls: 9, ...inSession("long") })).spent, 4);
      const next = await open(here.open(), configWith([{ name: "dev", session_limit: { amount: "0.15" } }]), {
        clock: node.clock,
      });
      try {
        await node.close();
        const again = await next.authenticate(secretOf("dev"));
        assertEquals((await spendAtOnce([next], [again], { calls: 30, ...inSession("long") })).spent, 5);
      } finally {
        await next.close();
      }
    },
  );

  test(
    "sessions that are never used again leave no rows, whether they are limited or not",
    configWith([{ name: "dev", session_limit: { amount: "0.1", requests_per_minute: 100 } }, {
      name: "free",
    }]),
    1,
    async ([node], here) => {
      const [dev, free] = [
        await node.authenticate(secretOf("dev")),
        await node.authenticate(secretOf("free")),
      ];
      const engine = here.engine();
      const rows = async () =>
        (await engine.query("SELECT (SELECT COUNT(*) FROM budgets) AS b, (SELECT COUNT(*) FROM leases) AS l"))
          .map(({ b, l }) => [Number(b), Number(l)])[0];
      /** A new session with each call. */
      const crowd = async (key: Key, from: number, count: number) => {
        for (let i = from; i < from + count; i++) {
          await spendAtOnce([node], [key], { calls: 1, ...inSession(`s${i}`) });
        }
        await node.flush();
      };
      try {
        await crowd(free, 0, 1);
        await crowd(dev, 0, 1);
        const [budgets, leases] = await rows();
        await crowd(free, 1, 100);
        assertEquals(await rows(), [budgets, leases], "without a limit there is nothing to keep");
        const left = [];
        for (let round = 0; round < 3; round++) {
          await crowd(dev, 1 + round * 100, 100);
          left.push(await rows());
          node.clock.move(700_000);
          for (let turn = 0; turn < 21; turn++) await node.tick();
          await node.flush();
        }
        for (const [b, l] of left) {
          assert(b <= budgets + 200 && l <= leases + 200, JSON.stringify({ left, budgets, leases }));
          assert(b > budgets, "a limited session has a budget while it is used");
        }
      } finally {
        await engine.close();
      }
    },
  );

  test(
    "requests of a session in a minute are bounded, and say when it goes on",
    configWith([{ name: "dev", session_limit: { requests_per_minute: 5 } }]),
    1,
    async ([node]) => {
      const dev = await node.authenticate(secretOf("dev"));
      const { spent, refused } = await spendAtOnce([node], [dev], { calls: 12, ...inSession("loop") });
      assertEquals([spent, refused.get("provider_rate_limited")], [5, 7]);
      const failure = await assertRejects(() => node.admit(requestOf(dev, 1, inSession("loop"))), Failure);
      assertMatch(failure.message, /limit of 5 requests a minute\. If an agent is running in a loop/);
      assertEquals(failure.headers?.["x-should-retry"], "false");
      assert(failure.retryAfter! > 0);
      assertEquals((await spendAtOnce([node], [dev], { calls: 5, ...inSession("calm") })).spent, 5);
      node.clock.move(61_000);
      assertEquals((await spendAtOnce([node], [dev], { calls: 9, ...inSession("loop") })).spent, 5);
    },
  );

  test(
    "two keys that use one name have two sessions",
    configWith(["one", "two"].map((name) => ({ name, session_limit: { amount: "0.05" } }))),
    1,
    async ([node]) => {
      const keys = await Promise.all(["one", "two"].map((name) => node.authenticate(secretOf(name))));
      assertEquals((await spendAtOnce([node], keys, { calls: 30, ...inSession("same") })).spent, 10);
    },
  );

  test(
    "200 calls at once on three nodes spend a session's limit and no more",
    configWith([{ name: "dev", session_limit: { amount: "0.5" } }]),
    3,
    async (nodes) => {
      const dev = await nodes[0].authenticate(secretOf("dev"));
      const first = await spendAtOnce(nodes, [dev], { calls: 200, ...inSession("loop") });
      assert(first.spent <= 50, `${first.spent}`);
      // What one node held and did not need comes to those that do.
      let spent = first.spent;
      for (let round = 0; round < 20 && spent < 50; round++) {
        for (const node of nodes) await node.tick();
        nodes[0].clock.move(1100);
        spent += (await spendAtOnce(nodes, [dev], { calls: 30, ...inSession("loop") })).spent;
      }
      assertEquals(spent, 50);
    },
  );

  test(
    "each value of a tag has a budget of its own, in each period",
    configWith([{ name: "dev", tag_limits: [{ tag: "customer", amount: "0.05", period: "day" }] }]),
    1,
    async ([node]) => {
      const dev = await node.authenticate(secretOf("dev"));
      const spend = async (tags: Record<string, string>) =>
        (await spendAtOnce([node], [dev], { calls: 9, ...tagged(tags) })).spent;
      assertEquals(await spend({ customer: "acme", env: "x" }), 5);
      assertEquals(await spend({ customer: "acme", env: "y" }), 0);
      assertEquals(await spend({ customer: "acme, inc: 100%" }), 5);
      assertEquals(await spend({ env: "x" }), 9);
      const failure = await assertRejects(
        () => node.admit(requestOf(dev, 1, tagged({ customer: "acme" }))),
        Failure,
      );
      assertMatch(failure.message, /spend limit of the tag customer=acme/);
      node.clock.move(DAY);
      assertEquals(await spend({ customer: "acme" }), 5);
    },
  );

  test(
    "budgets of tags in all go with their leases, and are remembered",
    configWith([{ name: "dev", tag_limits: [{ tag: "customer", amount: "0.1", period: "total" }] }]),
    1,
    async ([node], here) => {
      const dev = await node.authenticate(secretOf("dev"));
      const spend = async (customer: string, calls: number) =>
        (await spendAtOnce([node], [dev], { calls, ...tagged({ customer }) })).spent;
      for (let i = 0; i < 20; i++) await spend(`c${i}`, 4);
      // More than half is told of once, so it is not forgotten.
      assertEquals(await spend("large", 6), 6);
      await node.flush();
      const engine = here.engine();
      try {
        const rows = () => engine.query("SELECT id FROM budgets WHERE scope = 'tag'");
        assertEquals((await rows()).length, 21);
        node.clock.move(3_600_000);
        for (let turn = 0; turn < 21; turn++) await node.tick();
        await node.flush();
        await spend("another", 1);
        await node.flush();
        assertEquals((await rows()).length, 2);
      } finally {
        await engine.close();
      }
      assertEquals(await spend("c7", 20), 6);
      assertEquals(await spend("large", 20), 4);
    },
  );
});
