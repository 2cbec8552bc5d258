/** What the administration tells of providers, and what it does to them. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually } from "../support/time.ts";

const CHAT = { model: "p/model", max_tokens: 10, messages: [{ role: "user", content: "hi" }] };

async function failing(
  test: (at: {
    call(method: string, path: string, body?: unknown): Promise<{
      status: number;
      // deno-lint-ignore no-explicit-any
      json: any;
    }>;
    chat(): Promise<number>;
    mend(): void;
    other(method: string, path: string): Promise<Response>;
  }) => Promise<void>,
): Promise<void> {
  let mended = false;
  const provider = loopbackProvider((request) =>
    mended
      ? leastAnswer(request)
      : Response.json({ error: { message: "overloaded; your key is provider-secret" } }, { status: 503 })
  );
  const store = `${Deno.makeTempDirSync()}/store.db`;
  const made = () =>
    testGateway({
      p: {
        api: "openai-chat",
        url: `${provider.url}/v1`,
        more: { breaker: { failures: 1, window_seconds: 30, open_seconds: 3600 } },
      },
    }, { admin_key: "the-admin-key", store: { url: `sqlite:${store}` } });
  const gateway = await made();
  const second = await made();
  const ask = (url: string, method: string, path: string, body?: unknown) =>
    fetch(url + path, {
      method,
      headers: { authorization: "Bearer the-admin-key" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  try {
    await test({
      call: async (method, path, body) => {
        const response = await ask(gateway.url, method, path, body);
        return { status: response.status, json: await response.json() };
      },
      chat: async () => {
        const response = await gateway.post("/v1/chat/completions", CHAT);
        await response.body?.cancel();
        await (await second.post("/v1/chat/completions", CHAT)).body?.cancel();
        return response.status;
      },
      mend: () => mended = true,
      other: (method, path) => ask(second.url, method, path),
    });
  } finally {
    await second.close();
    await gateway.close();
    await provider.close();
    Deno.removeSync(store.replace(/\/store\.db$/, ""), { recursive: true });
  }
}

Deno.test("a breaker closed by hand lets calls through at once, here and on other nodes", () =>
  failing(async ({ call, chat, mend, other }) => {
    await chat();
    const open = (await call("GET", "/admin/providers")).json.data[0].models[0];
    assertEquals([open.model, open.state], ["model", "open"]);
    mend();
    assertEquals(await chat(), 503, "still open");
    const closed = await call("POST", "/admin/providers/p/close", { model: "model" });
    assertEquals(closed.json, { closed: [{ provider: "p", model: "model" }], everywhere: true });
    const stateOf = async () =>
      (await (await other("GET", "/admin/providers")).json()).data[0].models[0].state;
    await eventually(async () => await stateOf() === "closed");
    assertEquals(await chat(), 200);
    assertEquals((await call("POST", "/admin/providers/p/close")).json.closed, [], "nothing was open");
    assertEquals((await call("POST", "/admin/providers/nobody/close")).status, 404);
    assertEquals((await call("POST", "/admin/providers/p/close", { model: "no" })).status, 404);
    assertEquals((await call("POST", "/admin/providers/p/close", { model: 5 })).status, 422);
    const entries = (await call("GET", "/admin/audit?kind=admin")).json.data;
    assertEquals(
      entries.filter((entry: { result: string }) => entry.result === "done")
        .map((entry: { action: string }) => entry.action),
      ["breakers.closed", "breakers.closed"],
    );
  }));

Deno.test("a provider's last error is told without its secrets, and how long its first output takes", () =>
  failing(async ({ call, chat, mend }) => {
    await chat();
    const failed = (await call("GET", "/admin/providers")).json.data[0].models[0];
    assertMatch(failed.last_error.at, /^\d{4}-\d\d-\d\dT.*Z$/);
    assert(failed.last_error.code.startsWith("provider_"), failed.last_error.code);
    assert(!JSON.stringify(failed).includes("provider-secret"));
    assertEquals(failed.first_output_ms, null);
    mend();
    await call("POST", "/admin/providers/p/close");
    assertEquals(await chat(), 200);
    const { p50, p95 } = (await call("GET", "/admin/providers")).json.data[0].models[0].first_output_ms;
    assert(p50 >= 0 && p95 >= p50);
  }));
