/** The program as Deno Deploy starts it: the entry point of `deno.json`, no file, no thread, no listener of its own, and PostgreSQL. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { onCluster } from "../support/cluster.ts";
import type { Serving } from "../support/program.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually } from "../support/time.ts";
import { databases, instance, stop } from "./instance.ts";

const SECRET = "sk_live_deploydeploydeploydeploydep01";
const ADMIN = "an-admin-key-of-enough-letters";
/** A call costs 0.01, which is also the most that it may cost: the least cap on an answer, all of it used. */
const TOKENS = 16;
const CALLS = 12;
const PER_MINUTE = 8;
/** A minute that ends among its calls has two budgets: another key has one of its own then. */
const RATED = ["r0", "r1", "r2", "r3"];

function configOf(provider: string) {
  return {
    admin_key: ADMIN,
    providers: { p: { api: "openai-chat", base_url: `${provider}/v1`, api_key: "key", retries: 0 } },
    models: [{
      id: "p/model",
      routes: [{ provider: "p", model: "m" }],
      pricing: { prompt: "0", completion: "0.000625" },
      capabilities: { features: ["tools"] },
    }],
    catalog: { discover: false },
    dlp_policies: {
      built: { mode: "mask", entity_types: ["EMAIL_ADDRESS"] },
      pattern: { mode: "mask", entity_types: [], regexes: [{ name: "order", pattern: "AB-\\d{4}" }] },
    },
    keys: [
      { name: "plain", secret: SECRET },
      ...RATED.map((key) => ({
        name: key,
        secret: `${SECRET}${key}`,
        rate_limit: { requests_per_minute: PER_MINUTE },
      })),
      { name: "limited", secret: `${SECRET}l`, spend_limit: { amount: `0.${CALLS}`, period: "total" } },
      { name: "built", secret: `${SECRET}b`, dlp_policy: "built" },
      { name: "pattern", secret: `${SECRET}p`, dlp_policy: "pattern" },
    ],
  };
}

function call(at: Serving, key = "", more: object = {}): Promise<Response> {
  return fetch(`${at.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET}${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "p/model",
      max_tokens: TOKENS,
      messages: [{ role: "user", content: "jane.doe@corp.example AB-1234" }],
      ...more,
    }),
  });
}

async function statusOf(answer: Promise<Response>): Promise<number> {
  const response = await answer;
  await response.body?.cancel();
  return response.status;
}

async function records(at: Serving, key: string): Promise<{ id: string; cost: string }[]> {
  const response = await fetch(`${at.url}/admin/generations?limit=100&key=${key}`, {
    headers: { authorization: `Bearer ${ADMIN}` },
  });
  assertEquals(response.status, 200);
  return (await response.json()).data;
}

const BODIES: Record<string, object> = {
  "/v1/chat/completions": { model: "p/model", messages: [{ role: "user", content: "hi" }] },
  "/v1/messages": { model: "p/model", max_tokens: 9, messages: [{ role: "user", content: "hi" }] },
  "/v1/responses": { model: "p/model", input: "hi" },
};

onCluster((cluster) => {
  Deno.test("an instance of Deno Deploy serves all formats, screens, and has a record in the database before its answer ends", async () => {
    const provider = loopbackProvider(leastAnswer);
    const [first, second] = await Promise.all(
      databases(cluster().url).map((d) => instance(configOf(provider.url), d)),
    );
    try {
      const ids: string[] = [];
      for (const [path, body] of Object.entries(BODIES)) {
        for (const stream of [false, true]) {
          const response = await fetch(first.url + path, {
            method: "POST",
            headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
            body: JSON.stringify({ ...body, stream }),
          });
          const text = await response.text();
          assertEquals(response.status, 200, text);
          assertStringIncludes(text, "hi");
          ids.unshift(response.headers.get("x-request-id")!);
          // Asked of another instance, at once: nothing but the database can know it.
          assertEquals((await records(second, "plain")).map(({ id }) => id), ids);
        }
      }
      const masked = await call(first, "b");
      assertEquals(
        [masked.status, masked.headers.get("x-svc-dlp-findings")],
        [200, "1"],
        await masked.text(),
      );
      // Without a thread no pattern of one's own can be looked for, so that nothing is called clean.
      const refused = await call(first, "p");
      assertEquals([refused.status, (await refused.json()).error.code], [403, "dlp_violation"]);
      const made = await fetch(`${first.url}/admin/keys`, {
        method: "POST",
        headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
        body: JSON.stringify({ name: "another" }),
      });
      const { secret } = await made.json();
      await eventually(async () =>
        await statusOf(
          fetch(`${second.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } }),
        ) === 200
      );
      for (
        const path of ["/healthz", "/readyz", "/docs", "/config.schema.json", "/console"]
      ) {
        assertEquals(await statusOf(fetch(first.url + path)), 200, path);
      }
    } finally {
      await Promise.all([stop(first), stop(second)]);
      await provider.close();
    }
  });

  Deno.test("instances of Deno Deploy that come and go keep a rate and a budget exactly", async () => {
    const provider = loopbackProvider(() =>
      Response.json({
        id: "c1",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, finish_reason: "length", message: { role: "assistant", content: "hi" } }],
        usage: { prompt_tokens: 3, completion_tokens: TOKENS, total_tokens: TOKENS + 3 },
      })
    );
    const config = configOf(provider.url);
    const [database] = databases(cluster().url);
    const instances = await Promise.all([instance(config, database), instance(config, database)]);
    try {
      let passed: number | null = null;
      for (const key of RATED) {
        const minute = new Date().getUTCMinutes();
        const statuses = await Promise.all(
          Array.from({ length: 3 * PER_MINUTE }, (_, i) => statusOf(call(instances[i % 2], key))),
        );
        assert(statuses.every((status) => status === 200 || status === 429), statuses.join());
        if (minute !== new Date().getUTCMinutes()) continue;
        passed = statuses.filter((status) => status === 200).length;
        break;
      }
      assertEquals(passed, PER_MINUTE);

      let paid = 0;
      const pay = async (at: Serving) => {
        const response = await call(at, "l");
        const { error } = await response.json();
        if (response.status === 200) paid++;
        else assertEquals(response.status, 429);
        return error?.code;
      };
      // What the other one has merely leased is asked back: 429 until then.
      await eventually(async () => {
        for (const at of instances) await pay(at);
        return paid >= CALLS / 2;
      });
      // One goes, with whatever it had leased, and another comes.
      await stop(instances.shift()!);
      instances.push(await instance(config, database));
      await eventually(async () => {
        for (const at of instances) if (paid < CALLS) await pay(at);
        return paid >= CALLS;
      });
      for (const at of instances) assertEquals(await pay(at), "api_key_limit_exceeded");
      assertEquals(paid, CALLS);
      assertEquals(
        (await records(instances[0], "limited")).map(({ cost }) => Number(cost)),
        Array(CALLS).fill(0.01),
      );
    } finally {
      await Promise.all(instances.map(stop));
      await provider.close();
    }
  });
});
