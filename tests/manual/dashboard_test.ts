/** Every query of the dashboard, asked of a Prometheus that scraped a gateway with traffic of every kind. */
import { assertEquals } from "@std/assert";
import { FILES } from "../../src/manual/files.ts";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { prometheusHere, startPrometheus } from "../support/prometheus.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually } from "../support/time.ts";

const ADMIN = "the-admin-key-of-tests";
/** Queries about what did not happen here. A budget warning is counted as a share of a limit is passed, between two scrapes. */
const NEED_EVENTS = ["sluice_budget_warnings_total"];

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

Deno.test({
  name: `every panel of the dashboard has series${
    prometheusHere ? "" : " (skipped: prometheus is not installed)"
  }`,
  ignore: !prometheusHere,
  async fn() {
    const provider = loopbackProvider((seen) => {
      if (seen.text.includes("please fail")) return new Response("down", { status: 500 });
      if (!seen.text.includes("please search") || seen.text.includes("call_1")) return leastAnswer(seen);
      const call = { name: "web_search", arguments: '{"query":"news"}' };
      const message = {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: call }],
      };
      return Response.json({
        id: "c",
        object: "chat.completion",
        model: "m",
        choices: [{ index: 0, message, finish_reason: "tool_calls" }],
        usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
      });
    });
    const engine = loopbackProvider(() =>
      Response.json({ results: [{ url: "https://site.test/a", title: "A", content: "a" }] })
    );
    const folder = await Deno.makeTempDir();
    const gateway = await testGateway({
      p: { api: "openai-chat", url: `${provider.url}/v1`, more: { retries: 1 } },
    }, {
      admin_key: ADMIN,
      search: { engine: "searxng", base_url: engine.url, price: "0" },
      payloads: { to: `file:${folder}/payloads`, key: "a key of payloads, only for tests" },
      dlp_policies: { mask: { mode: "mask", entity_types: ["EMAIL_ADDRESS"] } },
      keys: [{ name: "test", secret: SECRET, payloads: true, dlp_policy: "mask" }],
    });
    const prometheus = await startPrometheus(gateway.url, ADMIN);
    try {
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
      const asked = queries.filter((expr) => !NEED_EVENTS.some((name) => expr.includes(name)));
      assertEquals(queries.length - asked.length, NEED_EVENTS.length);
      const without = async () => {
        const empty: string[] = [];
        for (const expr of asked) {
          const query = expr.replaceAll("$__rate_interval", "1m").replace(/\$(?:model|instance)/g, ".*");
          const found = await prometheus.ask(`/api/v1/query?query=${encodeURIComponent(query)}`);
          if (!(found?.result?.length > 0)) empty.push(expr);
        }
        return empty;
      };
      let empty = asked;
      await eventually(async () => (empty = await without()).length === 0).catch(() => {});
      assertEquals(empty, []);
    } finally {
      await prometheus.stop();
      await gateway.close();
      await provider.close();
      await engine.close();
      await Deno.remove(folder, { recursive: true });
    }
  },
});
