/** The requests per minute of a session, where its node ends, or where the node's clock is set. */
import { assertEquals } from "@std/assert";
import { codeOf, configOf, endOf, requestOf, type Running } from "./support.ts";
import { keyOf, onThreeNodes } from "./three_nodes.ts";

const DAY = 86_400_000;

onThreeNodes((test) => {
  const config = configOf({ session_limit: { requests_per_minute: 3 } });
  const labels = { tags: null, session: "s1" };
  const ask = async (node: Running) => {
    const key = await keyOf(node);
    return await codeOf(async () =>
      await (await node.admit(requestOf(key, 1, { labels }))).settle(endOf({ input: 1 }))
    );
  };
  const used = ["", "", "", "provider_rate_limited"].map((code) => code || null);

  test("a session's rate holds although the clock of its node is set", config, async ([a]) => {
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await ask(a));
    assertEquals(answers, used);
    for (const by of [31 * DAY, -31 * DAY, 700_000]) {
      for (let turn = 0; turn < 3; turn++) await a.tick();
      a.clock.move(by);
      for (let turn = 0; turn < 3; turn++) {
        await a.tick();
        await a.flush();
      }
      assertEquals(await ask(a), "provider_rate_limited", `after ${by}`);
    }
  }, { nodes: 1, timeOfNodes: false });

  test("a session's rate holds although its node ends", config, async ([a, b]) => {
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await ask(a));
    assertEquals(answers, used.slice(0, 3));
    await a.close();
    assertEquals(await ask(b), "provider_rate_limited");
    b.clock.move(61_000);
    assertEquals(await ask(b), null);
  }, { nodes: 2 });
});
