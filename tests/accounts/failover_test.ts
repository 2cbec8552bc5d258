/** The primary dies under load, and its standby takes its place: nothing is lost, and nothing counts twice. */
import { assert, assertEquals } from "@std/assert";
import { makeCluster, postgresHere } from "../support/cluster.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { makeStandby, openBalancer } from "../support/standby.ts";
import { eventually, pause } from "../support/time.ts";
import { connect } from "./three_nodes.ts";

const CREDITS = 1_000_000;
const TOKENS = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };

Deno.test({
  name:
    "postgres: calls on two gateways go through a failover to a promoted standby, each recorded and charged once",
  ignore: postgresHere === null,
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "sluice-failover-" });
    const primary = await makeCluster();
    const standby = await makeStandby(primary);
    const balancer = openBalancer(primary.url);
    let billed = 0;
    const provider = loopbackProvider(({ body }) => {
      billed++;
      const message = { role: "assistant", content: "hello" };
      const choice = { index: 0, finish_reason: "stop" };
      if (body.stream !== true) {
        return Response.json({ id: "c", choices: [{ ...choice, message }], usage: TOKENS });
      }
      const chunks = [{ choices: [{ ...choice, delta: message }] }, { choices: [], usage: TOKENS }];
      const text = chunks.map((one) => `data: ${JSON.stringify({ id: "c", ...one })}\n\n`).join("");
      return new Response(`${text}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
    });
    const gateways: TestGateway[] = [];
    try {
      for (const journal of [`${folder}/node`, null]) {
        gateways.push(
          await testGateway({
            p: {
              api: "openai-chat",
              url: provider.url,
              model: { pricing: { prompt: "0.01", completion: "0.01" } },
            },
          }, {
            store: { url: balancer.url, journal, pepper: "pepper-of-the-failover-test" },
            accounts: [{ name: "default", credits: String(CREDITS) }],
          }),
        );
      }
      let answered = 0;
      let over = false;
      const caller = async (n: number) => {
        while (!over) {
          const body = {
            model: "p/model",
            stream: n % 2 === 0,
            max_tokens: 50,
            messages: [{ role: "user", content: "hi" }],
          };
          const response = await gateways[n % 3 % 2].post("/v1/chat/completions", body);
          const text = await response.text();
          if (response.status === 200) {
            assert(text.includes("hello") && !text.includes('"error"'), text);
            answered++;
          } else {
            assertEquals(response.status, 503, text);
            await pause(20);
          }
        }
      };
      const callers = Array.from({ length: 6 }, (_, n) => caller(n));
      try {
        await eventually(() => answered > 100);
        await primary.stop();
        await standby.promote();
        balancer.lead(standby.url);
        const before = answered;
        await eventually(() => gateways.every(({ gateway }) => gateway.accounts.storeUp()));
        await eventually(() => answered > before + 200);
      } finally {
        over = true;
        await Promise.all(callers);
      }
      const [{ gateway: { accounts } }] = gateways;
      for (const { gateway } of gateways) {
        await eventually(async () => await gateway.accounts.flush().then(() => true, () => false));
      }
      assertEquals(billed, answered);
      const { data: [sum] } = await accounts.usage({ by: "key" });
      assertEquals([sum.generations, sum.failed, sum.input_tokens], [answered, 0, answered * 5]);
      assertEquals(Number((await accounts.credits("default")).spent), answered * 12 / 100);
      const sql = connect({ ...primary, url: standby.url });
      try {
        const [{ records, cost }] = await sql`SELECT count(*) AS records, sum(cost) AS cost FROM generations`;
        assertEquals([Number(records), Number(cost)], [answered, answered * 12e10]);
        const [{ running }] = await sql`SELECT count(*) AS running FROM running`;
        assertEquals(Number(running), 0);
      } finally {
        await sql.end();
      }
    } finally {
      for (const gateway of gateways) await gateway.close();
      await provider.close();
      await balancer.close();
      await standby.remove();
      await primary.remove();
      await Deno.remove(folder, { recursive: true });
    }
  },
});
