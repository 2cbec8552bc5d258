/** Every query of the dashboard, asked of a Prometheus that scraped a gateway with traffic of every kind. */
import { assertEquals } from "@std/assert";
import { FILES } from "../../src/manual/files.ts";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { prometheusHere, startPrometheus } from "../support/prometheus.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually } from "../support/time.ts";

const ADMIN = "the-admin-key-of-tests";
const POOR = "sk_live_poorpoorpoorpoorpoorpoorpoor01";
/** Their series are there from the start on: it is their increase that is looked for. */
const BUDGETS = "sluice_budget_warnings_total";

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

const answered = (message: object, finish_reason: string, prompt_tokens: number) =>
  Response.json({
    id: "c",
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message, finish_reason }],
    usage: { prompt_tokens, completion_tokens: 1, total_tokens: prompt_tokens + 1 },
  });

Deno.test({
  name: `every panel of the dashboard has series, and the first budget that is used up is an alert${
    prometheusHere ? "" : " (skipped: prometheus is not installed)"
  }`,
  ignore: !prometheusHere,
  async fn() {
    const provider = loopbackProvider((seen) => {
      if (seen.text.includes("please fail")) return new Response("down", { status: 500 });
      if (seen.text.includes("please spend")) {
        return answered({ role: "assistant", content: "gone" }, "stop", 900);
      }
      if (!seen.text.includes("please search") || seen.text.includes("call_1")) return leastAnswer(seen);
      const call = { name: "web_search", arguments: '{"query":"news"}' };
      const message = {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: call }],
      };
      return answered(message, "tool_calls", 3);
    });
    const engine = loopbackProvider(() =>
      Response.json({ results: [{ url: "https://site.test/a", title: "A", content: "a" }] })
    );
    const folder = await Deno.makeTempDir();
    const gateway = await testGateway({
      p: {
        api: "openai-chat",
        url: `${provider.url}/v1`,
        more: { retries: 1 },
        model: { pricing: { prompt: "0.01", completion: "0.01" } },
      },
    }, {
      admin_key: ADMIN,
      search: { engine: "searxng", base_url: engine.url, price: "0" },
      payloads: { to: `file:${folder}/payloads`, key: "a key of payloads, only for tests" },
      dlp_policies: { mask: { mode: "mask", entity_types: ["EMAIL_ADDRESS"] } },
      keys: [
        { name: "test", secret: SECRET, payloads: true, dlp_policy: "mask" },
        { name: "poor", secret: POOR, spend_limit: { amount: "5", period: "total" } },
      ],
    });
    const prometheus = await startPrometheus(gateway.url, ADMIN);
    const asked = async (query: string) =>
      (await prometheus.ask(`/api/v1/query?query=${encodeURIComponent(query)}`))?.result ?? [];
    try {
      // What happened before the first scrape is no increase.
      await eventually(async () => (await asked(BUDGETS)).length > 0);
      for (const text of ["hi", "mail a@example.org", "please fail", "please search"]) {
        for (const stream of [false, true]) {
          if (stream && text === "please search") continue;
          const messages = [{ role: "user", content: text }];
          const body = {
            model: "p/model",
            stream,
            messages,
            ...(text === "please search" && { web_search_options: {} }),
          };
          await (await gateway.post("/v1/chat/completions", body)).text();
        }
      }
      const { panels } = JSON.parse(FILES["grafana.json"].text) as { panels: Panel[] };
      const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
      const spends = {
        model: "p/model",
        max_tokens: 1,
        messages: [{ role: "user", content: "please spend" }],
      };
      const headers = { authorization: `Bearer ${POOR}` };
      await (await gateway.post("/v1/chat/completions", spends, { headers })).text();
      const without = async () => {
        const empty: string[] = [];
        for (const expr of queries) {
          const query = expr.replaceAll("$__rate_interval", "1m").replaceAll("$__range", "1m")
            .replace(/\$(?:model|instance)/g, ".*");
          if ((await asked(expr.includes(BUDGETS) ? `${query} > 0` : query)).length === 0) empty.push(expr);
        }
        return empty;
      };
      let empty = queries;
      await eventually(async () => (empty = await without()).length === 0).catch(() => {});
      assertEquals(empty, []);
      const alert = await eventually(async () =>
        (await asked('ALERTS{alertname="SluiceBudgetUsedUp",alertstate="firing"}'))[0]
      );
      assertEquals(alert.metric.scope, "key");
    } finally {
      await prometheus.stop();
      await gateway.close();
      await provider.close();
      await engine.close();
      await Deno.remove(folder, { recursive: true });
    }
  },
});
