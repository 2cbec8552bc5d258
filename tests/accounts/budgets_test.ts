/** Budgets of teams, on both databases and several nodes; and what usage says of teams, sessions and tags. */
import { assert, assertEquals, assertMatch, assertObjectMatch, assertRejects } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { codeOf, endOf, requestOf } from "./support.ts";
import {
  configWith,
  DAY,
  inSession,
  type Labels,
  onNodes,
  secretOf,
  spendAtOnce,
  tagged,
} from "./budget_nodes.ts";

onNodes((test) => {
  test(
    "a key that has come to another team or account while a body came in is bounded and billed as it is now",
    configWith([], [
      { name: "large", account: "acme", spend_limit: { amount: "5", period: "month" } },
      { name: "small", account: "labs", spend_limit: { amount: "0.03", period: "month" } },
    ]),
    1,
    async ([node]) => {
      const { secret } = await node.createKey({ name: "mover", team: "small" });
      const before = await node.authenticate(secret);
      await node.patchKey("mover", { team: "large", account: "acme" });
      assertEquals((await spendAtOnce([node], [before], { calls: 10 })).spent, 10);
      const [generation] = (await node.generations({})).data;
      assertEquals([generation.team, generation.account], ["large", "acme"]);
      const spentBy = async () => (await node.teams()).data.map(({ name, spend }) => [name, spend?.amount]);
      assertEquals(await spentBy(), [["large", "0.10"], ["small", "0.00"]]);
      // The other way round: the small limit holds at once.
      const after = await node.authenticate(secret);
      await node.patchKey("mover", { team: "small", account: "labs" });
      assertEquals((await spendAtOnce([node], [after], { calls: 10 })).spent, 3);
      assertEquals(await spentBy(), [["large", "0.10"], ["small", "0.03"]]);
      assertEquals((await node.credits("labs")).spent, "0.03");
      // Without its team nobody knows what it may spend.
      const member = await node.authenticate(secret);
      await node.reload(configWith([]));
      assertEquals(await codeOf(() => node.admit(requestOf(member, 1))), "policy_violation");
    },
  );

  test(
    "what any number of teams has spent is told at once",
    configWith(
      [{ name: "dev", account: "acme", team: "team7" }],
      Array.from(
        { length: 700 },
        (_, i) => ({ name: `team${i}`, spend_limit: { amount: "9", period: "day" } }),
      ),
    ),
    1,
    async ([node]) => {
      const dev = await node.authenticate(secretOf("dev"));
      await spendAtOnce([node], [dev], { calls: 4 });
      const { data } = await node.teams({ limit: 1000 });
      assertEquals(data.length, 700);
      assertEquals(data.filter(({ spend }) => spend?.amount !== "0.00").map(({ name }) => name), ["team7"]);
    },
  );

  test(
    "200 calls at once of two keys on three nodes spend their team's limit and no more",
    configWith(
      [{ name: "one", team: "t" }, { name: "two", team: "t" }],
      [{ name: "t", spend_limit: { amount: "0.5", period: "day" } }],
    ),
    3,
    async (nodes) => {
      const keys = await Promise.all(["one", "two"].map((name) => nodes[0].authenticate(secretOf(name))));
      let { spent } = await spendAtOnce(nodes, keys, { calls: 200 });
      assert(spent <= 50, `${spent}`);
      for (let round = 0; round < 20 && spent < 50; round++) {
        for (const node of nodes) await node.tick();
        nodes[0].clock.move(1100);
        spent += (await spendAtOnce(nodes, keys, { calls: 30 })).spent;
      }
      assertEquals(spent, 50);
      await nodes[0].flush();
      await nodes[1].flush();
      await nodes[2].flush();
      const failure = await assertRejects(() => nodes[1].admit(requestOf(keys[1], 1)), Failure);
      assertMatch(failure.message, /spend limit of the team t/);
      assertEquals(failure.details?.reset_at, "2026-01-16T00:00:00.000Z");
      const { data: [team] } = await nodes[2].teams();
      assertObjectMatch(team, {
        name: "t",
        keys: 2,
        spend: { amount: "0.50", remaining: "0.00", forecast: "1.00", reset_at: "2026-01-16T00:00:00.000Z" },
      });
      nodes[0].clock.move(DAY);
      assertEquals((await spendAtOnce(nodes.slice(0, 1), keys, { calls: 1 })).spent, 1);
    },
  );

  test(
    "a team's rights hold beside its keys', the stricter of both limits too",
    configWith(
      [
        {
          name: "a",
          team: "t",
          spend_limit: { amount: "0.02", period: "total" },
          models: ["mistral/*", "x/y"],
        },
        { name: "b", team: "t", spend_limit: { amount: "9", period: "total" } },
      ],
      [{
        name: "t",
        account: "labs",
        models: ["mistral/*"],
        access_policy: "eu",
        dlp_policy: "finance",
        spend_limit: { amount: "0.05", period: "month" },
      }],
    ),
    1,
    async ([node]) => {
      const [a, b] = await Promise.all(["a", "b"].map((name) => node.authenticate(secretOf(name))));
      assertEquals(a.account, "labs");
      assertObjectMatch(a, {
        models: ["mistral/*", "x/y"],
        team: { models: ["mistral/*"], dlpPolicy: "finance" },
      });
      assertEquals((await spendAtOnce([node], [a], { calls: 9 })).spent, 2);
      assertEquals((await spendAtOnce([node], [b], { calls: 9 })).spent, 3);
      await node.flush();
      assertEquals((await node.credits("labs")).spent, "0.05");
      assertObjectMatch(await node.keyStatus(a), {
        team: "t",
        spend: { amount: "0.02" },
        team_spend: { amount: "0.05", remaining: "0.00" },
      });
    },
  );

  test(
    "keys of the store name a team, follow its account, and are refused when it is gone",
    configWith([], [{ name: "t", account: "labs", spend_limit: { amount: "0.03", period: "day" } }, {
      name: "u",
    }]),
    1,
    async ([node]) => {
      const { key, secret } = await node.createKey({
        name: "made",
        team: "t",
        session_limit: { amount: "0.02" },
        tag_limits: [{ tag: "env", amount: "0.01", period: "day" }],
      });
      assertObjectMatch(key, {
        account: "labs",
        team: "t",
        session_limit: { amount: "0.02", requests_per_minute: null },
        tag_limits: [{ tag: "env", amount: "0.01", period: "day" }],
      });
      const made = await node.authenticate(secret);
      assertEquals((await spendAtOnce([node], [made], { calls: 9, ...inSession("s") })).spent, 2);
      assertEquals((await spendAtOnce([node], [made], { calls: 9 })).spent, 1);
      assertEquals(await codeOf(() => node.createKey({ name: "x", team: "nobody" })), "validation_error");
      assertEquals(
        await codeOf(() => node.createKey({ name: "x", team: "t", account: "acme" })),
        "validation_error",
      );
      const moved = await node.patchKey("made", { team: "u", session_limit: null });
      assertObjectMatch(moved, { team: "u", session_limit: null });
      await node.reload(configWith([]));
      const orphan = await node.authenticate(secret);
      assertEquals(orphan.team?.accessPolicy, "missing");
      // What has nothing to do with its team can still be changed.
      assertObjectMatch(await node.patchKey("made", { team: null }), { team: null });
    },
  );

  test(
    "records hold labels, also of calls whose process died, and usage is summed by them",
    configWith([{ name: "dev", team: "t" }], [{ name: "t" }]),
    1,
    async ([node]) => {
      const dev = await node.authenticate(secretOf("dev"));
      const labels: Labels = { tags: { env: "prod", user: "ann" }, session: "s1" };
      const reservation = await node.admit({ ...requestOf(dev, 5, { labels }), id: "gen_labelled" });
      await reservation.settle(endOf({ input: 5 }, { latencyMs: 1500, toolCalls: 2 }));
      await spendAtOnce([node], [dev], { calls: 2, labels: null });
      assertObjectMatch(await node.generation("gen_labelled"), {
        tags: { env: "prod", user: "ann" },
        session: "s1",
        team: "t",
        tool_calls: 2,
      });
      const usage = async (by: string) => (await node.usage({ by })).data;
      assertObjectMatch((await usage("session"))[0], {
        session: "s1",
        generations: 1,
        cost: "0.05",
        tool_calls: 2,
        latency_ms: 1500,
        cache_saved: "0.00",
      });
      assertObjectMatch((await usage("session"))[1], {
        session: "",
        generations: 2,
        cost: "0.02",
        tool_calls: null,
        latency_ms: null,
      });
      assertObjectMatch((await usage("tag:env,key"))[0], { "tag:env": "prod", key: "dev", cost: "0.05" });
      assertObjectMatch(await usage("team"), [{ team: "t", generations: 3, cost: "0.07" }]);
      assertObjectMatch((await usage("session,tag:user"))[0], { session: "s1", "tag:user": "ann" });
      assertEquals(await codeOf(() => usage("tag:")), "validation_error");
      assertEquals(await codeOf(() => usage("tag:a'b")), "validation_error");
      const page = await node.usage({ by: "session", limit: 1 });
      assertEquals(page.data.length, 1);
      const rest = await node.usage({ by: "session", limit: 1, cursor: page.next_cursor! });
      assertEquals([rest.data.length, rest.next_cursor], [1, null]);
    },
  );

  test(
    "more values of a tag than a day sums up go together, and the sums stay whole",
    configWith([{ name: "dev" }]),
    1,
    async ([node]) => {
      const dev = await node.authenticate(secretOf("dev"));
      for (let i = 0; i < 1010; i++) {
        const reservation = await node.admit(requestOf(dev, 1, tagged({ id: `v${i}` })));
        await reservation.settle(endOf({ input: 1 }));
      }
      await node.flush();
      const { data } = await node.usage({ by: "tag:id", from: "2026-01-15", to: "2026-01-16", limit: 1000 });
      const other = data.find((row) => row["tag:id"] === "(other)");
      assertEquals(other?.generations, 10);
    },
  );
});
