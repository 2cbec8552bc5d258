/** Connections that are cut at random bytes: what the client puts together is the one answer, which is billed once. */
import { assert, assertEquals } from "@std/assert";
import { type Api, SECRET, testGateway } from "../support/gateway.ts";
import { cuttingProxy, readResuming, seeded } from "../support/resuming.ts";
import { type Said, type ScriptedApi, scriptedProvider, SCRIPTS } from "../support/script/mod.ts";

const PATHS = { chat: "/v1/chat/completions", messages: "/v1/messages", responses: "/v1/responses" } as const;
type Format = keyof typeof PATHS;
const CUTS = 9;

function bodyOf(format: Format): Record<string, unknown> {
  const base = { model: "p/model", stream: true };
  if (format === "responses") return { ...base, input: "hi" };
  return { ...base, max_tokens: 500, messages: [{ role: "user", content: "hi" }] };
}

const SAID: Said = { text: "Ünïcode 😀 and so on, for a while, in pieces. ".repeat(8) };

for (const api of Object.keys(SCRIPTS) as ScriptedApi[]) {
  for (const format of Object.keys(PATHS) as Format[]) {
    Deno.test(`${format} from ${api}: ${CUTS} streams with cuts at random bytes`, async () => {
      const provider = scriptedProvider(api, Array.from({ length: CUTS }, () => SAID));
      const gateway = await testGateway({ p: { api: api as Api, url: `${provider.url}/v1` } });
      // The last event of a response has all of it, and must get through some time.
      const longest = format === "responses" ? 8000 : 1800;
      const random = seeded(api.length * 100 + format.length);
      const proxy = cuttingProxy(gateway.url, () => 150 + Math.floor(random() * longest));
      const headers = {
        authorization: `Bearer ${SECRET}`,
        "content-type": "application/json",
        "x-svc-resume": "true",
        connection: "close",
      };
      let connections = 0;
      try {
        const ids: string[] = [];
        for (let i = 0; i < CUTS; i++) {
          const got = await readResuming({
            url: () => proxy.url,
            path: PATHS[format],
            body: bodyOf(format),
            // Until the head is through nobody knows the id.
            headers: { ...headers, "idempotency-key": `cut ${i}` },
          });
          connections += got.connections;
          ids.push(got.id);
          const whole = await fetch(`${gateway.url}/v1/generations/${got.id}/stream`, { headers });
          assertEquals(got.text, await whole.text());
          assert(got.text.includes("😀"));
        }
        await gateway.gateway.idle();
        const { data } = await gateway.gateway.accounts.generations({});
        assertEquals(data.map(({ id }) => id).sort(), ids.sort());
        assertEquals(provider.seen.length, CUTS);
        assert(connections > 2 * CUTS, `${connections} connections`);
      } finally {
        proxy.close();
        await gateway.close();
        await provider.close();
      }
    });
  }
}
