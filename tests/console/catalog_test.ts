/** The catalog over the administration API, and a provider's credential tried. */
import { assert, assertEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually } from "../support/time.ts";

const PRICES = { pricing: { prompt: "0.000001", completion: "0.000002" } };

/** A provider whose list of models wants its key, unless it is open; calls always do. */
async function listing(
  { open, config = {} }: { open: boolean; config?: Record<string, unknown> },
  test: (
    // deno-lint-ignore no-explicit-any
    call: (method: string, path: string, body?: unknown) => Promise<{ status: number; json: any }>,
    gateway: TestGateway,
    at: { key: string; models: string[] },
  ) => Promise<void>,
): Promise<void> {
  const at = { key: "provider-secret", models: ["model", "other"] };
  const provider = loopbackProvider((request) => {
    const good = request.headers.get("authorization") === `Bearer ${at.key}`;
    if (request.path.endsWith("/models")) {
      return good || open
        ? Response.json({ object: "list", data: at.models.map((id) => ({ id, object: "model" })) })
        : Response.json({ error: { message: "no" } }, { status: 401 });
    }
    return good ? leastAnswer(request) : Response.json({ error: { message: "bad key" } }, { status: 401 });
  });
  const gateway = await testGateway(
    { p: { api: "openai-chat", url: `${provider.url}/v1`, model: PRICES } },
    { admin_key: "the-admin-key", ...config },
    { discovers: true },
  );
  try {
    await test(
      async (method, path, body) => {
        const response = await fetch(gateway.url + path, {
          method,
          headers: { authorization: "Bearer the-admin-key" },
          body: body === undefined ? undefined : JSON.stringify(body),
        });
        return { status: response.status, json: await response.json() };
      },
      gateway,
      at,
    );
  } finally {
    await gateway.close();
    await provider.close();
  }
}

Deno.test("a credential is proved by a list of models that others do not get, for nothing", () =>
  listing({ open: false }, async (call, _, at) => {
    const good = (await call("POST", "/admin/providers/p/try")).json;
    assertEquals([good.ok, good.by, good.models, good.cost, good.error], [true, "models", 2, "0.00", null]);
    at.key = "another";
    const bad = (await call("POST", "/admin/providers/p/try")).json;
    assertEquals([bad.ok, bad.models], [false, null]);
    assert(bad.error.includes("401") && !JSON.stringify(bad).includes("provider-secret"), bad.error);
    assertEquals((await call("POST", "/admin/providers/nobody/try")).status, 404);
  }));

Deno.test("where everybody gets the list, the shortest call proves the credential, and says what it cost", () =>
  listing({ open: true }, async (call, _, at) => {
    const good = (await call("POST", "/admin/providers/p/try")).json;
    assertEquals([good.ok, good.by, good.model, good.cost], [true, "call", "p/model", "0.000005"]);
    at.key = "another";
    const bad = (await call("POST", "/admin/providers/p/try", { model: "model" })).json;
    assertEquals([bad.ok, bad.by], [false, "call"]);
    assert(bad.error !== null && !bad.error.includes("provider-secret"));
  }));

Deno.test("GET /admin/models has prices, and of each route its share of the load", () =>
  listing({ open: false }, async (call, gateway) => {
    const chat = { model: "p/model", max_tokens: 10, messages: [{ role: "user", content: "hi" }] };
    await (await gateway.post("/v1/chat/completions", chat)).text();
    const { data, next_cursor } = (await call("GET", "/admin/models")).json;
    assertEquals([data.length, next_cursor], [1, null]);
    assertEquals([data[0].id, data[0].pricing], ["p/model", PRICES.pricing]);
    const [route] = data[0].routes;
    assertEquals([route.provider, route.model, route.share, route.attempts, route.state], [
      "p",
      "model",
      1,
      1,
      "closed",
    ]);
    assert(route.first_output_ms.p95 >= 0);
    assertEquals((await call("GET", "/admin/models?search=NOTHING")).json.data, []);
  }));

Deno.test("differences of the catalog are told before they are taken over, and changes after", () =>
  listing(
    { open: false, config: { catalog: { discover: true, unpriced: "free" } } },
    async (call, gateway, at) => {
      const before = (await call("GET", "/admin/models")).json.data.map((m: { id: string }) => m.id);
      assertEquals((await call("GET", "/admin/models/changes")).json.data, []);
      at.models = ["model", "other", "third"];
      const { data } = (await call("GET", "/admin/models/diff")).json;
      const added = data.filter((change: { what: string }) => change.what === "added");
      assertEquals(added.length, 1, JSON.stringify(data));
      assertEquals(
        (await call("GET", "/admin/models")).json.data.length,
        before.length,
        "nothing is taken over",
      );
      assert(gateway.url !== "");
    },
  ));

Deno.test("a price that is another one since the last run is told after the start, and still after the next", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-prices-" });
  const run = async (prompt: string): Promise<unknown[]> => {
    const gateway = await testGateway(
      {
        demo: { api: "demo", url: "", model: { pricing: { prompt, completion: "0.000002" } } },
        same: { api: "demo", url: "", model: PRICES },
      },
      { admin_key: "the-admin-key", store: { url: `sqlite:${folder}/s.db` } },
      { discovers: true },
    );
    try {
      const headers = { authorization: "Bearer the-admin-key" };
      const matters = await (await fetch(`${gateway.url}/admin/attention`, { headers })).json();
      // Kept once it has been written: the next start reads it.
      const kept = async () =>
        JSON.parse(await Deno.readTextFile(`${folder}/s.db.catalog.json`).catch(() => "[]"))
          .some((model: { pricing: { prompt: string } }) => model.pricing.prompt === prompt);
      await eventually(kept);
      return matters.data.filter(({ kind }: { kind: string }) => kind === "price")
        .map(({ name, text }: { name: string; text: string }) => `${name}: ${text}`);
    } finally {
      await gateway.close();
    }
  };
  try {
    assertEquals(await run("0.000001"), []);
    assertEquals(await run("0.000001"), []);
    const told = ["demo/model: The price of prompt changed from $1 to $3 for a million."];
    assertEquals(await run("0.000003"), told);
    await eventually(() => exists(`${folder}/s.db.catalog.changes.json`));
    assertEquals(await run("0.000003"), told, "it is not forgotten with a second start");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a generation shows the prices that it was billed at, also when the file has others by now", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-prices-" });
  let id = "";
  const shown = async (prompt: string, calls: boolean) => {
    const gateway = await testGateway(
      { demo: { api: "demo", url: "", model: { pricing: { prompt, completion: "0.000002" } } } },
      { admin_key: "the-admin-key", store: { url: `sqlite:${folder}/s.db` } },
    );
    try {
      if (calls) {
        const messages = [{ role: "user", content: "hi" }];
        const answer = await gateway.post("/v1/chat/completions", { model: "demo/model", messages });
        await answer.body?.cancel();
        id = answer.headers.get("x-request-id")!;
        await gateway.gateway.idle();
      }
      const headers = { authorization: "Bearer the-admin-key" };
      const { prices, price_version } =
        await (await fetch(`${gateway.url}/admin/generations/${id}`, { headers })).json();
      return [prices.length, prices[0].version === price_version, prices[0].prices.prompt];
    } finally {
      await gateway.close();
    }
  };
  try {
    assertEquals(await shown("0.000001", true), [1, true, "0.000001"]);
    assertEquals(await shown("0.000003", false), [1, true, "0.000001"]);
    assertEquals(await shown("0.000003", true), [1, true, "0.000003"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

const exists = (path: string) => Deno.stat(path).then(() => true, () => false);
