/** What becomes of a key between the head and the body of a request counts for that request. */
import { assertEquals } from "@std/assert";
import { loadValue } from "../../src/config/load.ts";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const BODY = { model: "p/model", max_tokens: 20, messages: [{ role: "user", content: "hi" }] };

Deno.test("a key that changes while a body comes in is the changed one", async () => {
  const provider = loopbackProvider(leastAnswer);
  let arrived = () => {};
  const gateway = await testGateway({
    p: { api: "openai-chat", url: provider.url, model: { pricing: { prompt: "0.01", completion: "0.01" } } },
  }, {
    access_policies: { none: { allow: [] } },
  }, { onRequest: () => arrived() });
  const { accounts } = gateway.gateway;

  /** Sends the head, then changes something, then the body. */
  async function ask(secret: string, change: () => unknown): Promise<number> {
    const heard = new Promise<void>((resolve) => arrived = resolve);
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const text = new TextEncoder().encode(JSON.stringify(BODY));
        controller.enqueue(text.subarray(0, 5));
        await heard;
        await change();
        controller.enqueue(text.subarray(5));
        controller.close();
      },
    });
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    });
    await response.body?.cancel();
    return response.status;
  }

  try {
    const make = async (name: string) => (await accounts.createKey({ name })).secret;
    const changes: [name: string, status: number, change: (name: string) => unknown][] = [
      ["unchanged", 200, () => {}],
      ["revoked", 401, (name) => accounts.revokeKey(name)],
      ["rotated", 401, (name) => accounts.rotateKey(name)],
      ["rotated with an overlap", 200, (name) => accounts.rotateKey(name, { overlapSeconds: 60 })],
      ["expired", 401, (name) => accounts.patchKey(name, { expires_at: "2020-01-01" })],
      [
        "out of money",
        429,
        (name) => accounts.patchKey(name, { spend_limit: { amount: "0", period: "day" } }),
      ],
      ["without the model", 404, (name) => accounts.patchKey(name, { models: ["q/*"] })],
      ["under a policy", 403, (name) => accounts.patchKey(name, { access_policy: "none" })],
    ];
    for (const [name, status, change] of changes) {
      assertEquals(await ask(await make(name), () => change(name)), status, name);
    }
    const seen = provider.seen.length;
    assertEquals(await ask(SECRET, () => reload(gateway, [{ name: "test", secret: `${SECRET}2` }])), 401);
    assertEquals(await ask(`${SECRET}2`, () => reload(gateway, [])), 401);
    assertEquals(provider.seen.length, seen);
  } finally {
    await gateway.close();
    await provider.close();
  }

  function reload({ gateway: running }: TestGateway, keys: unknown[]): Promise<void> {
    const { config } = loadValue({
      store: { url: "sqlite::memory:" },
      providers: { p: { api: "openai-chat", base_url: provider.url } },
      models: [{ id: "p/model", routes: [{ provider: "p", model: "model" }] }],
      keys,
    }, { env: () => undefined });
    return running.reload(config);
  }
});

Deno.test("a reload puts keys into force in one step with the policies and models that they name", async () => {
  const provider = loopbackProvider(leastAnswer);
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  const { accounts } = gateway.gateway;
  const { config } = loadValue({
    store: { url: "sqlite::memory:" },
    providers: { p: { api: "openai-chat", base_url: provider.url } },
    models: [{ id: "p/new", routes: [{ provider: "p", model: "model" }] }],
    dlp_policies: { new: { mode: "mask" } },
    keys: [{ name: "new", secret: `${SECRET}2`, dlp_policy: "new" }],
  }, { env: () => undefined });
  const ask = async (secret: string, model: string) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ ...BODY, model }),
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    });
    await response.body?.cancel();
    return response.status;
  };
  // The call begins in the same step, before the reload asks the store for changes.
  const asked: Promise<number>[] = [];
  const { reload } = accounts;
  accounts.reload = (next, applied) =>
    reload(next, () => {
      applied!();
      asked.push(ask(`${SECRET}2`, "p/new"), ask(SECRET, "p/model"));
    });
  try {
    assertEquals([await ask(SECRET, "p/model"), await ask(`${SECRET}2`, "p/new")], [200, 401]);
    await gateway.gateway.reload(config);
    assertEquals(await Promise.all(asked), [200, 401]);
  } finally {
    await gateway.close();
    await provider.close();
  }
});
