/**
 * What clients make of failures: each its own class of error, with the status and the code, and no second try where the
 * gateway says that one is useless.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { CLIENTS, codeOf, thrownBy } from "./failing.ts";
import { APIS, refusal, SECRET, type Stage, stage } from "./support.ts";

const KEY = { name: "test", secret: SECRET };
/** Refusals that no repetition mends: status, code, and the configuration that makes them. */
const USELESS: readonly [number, string, Record<string, unknown>][] = [
  [402, "insufficient_funds", { accounts: [{ name: "default", credits: "0" }] }],
  [403, "policy_violation", {
    access_policies: { none: { deny: ["*"] } },
    keys: [{ ...KEY, access_policy: "none" }],
  }],
  [429, "api_key_limit_exceeded", { keys: [{ ...KEY, spend_limit: { amount: "0", period: "month" } }] }],
];

for (const client of CLIENTS) {
  for (const method of ["whole", "streamed"] as const) {
    Deno.test(`${client.name} ${method} throws its own error for 401, 422 and 429`, async () => {
      await using at = await stage("anthropic-messages", [
        refusal(429, "Slow down.", { "retry-after": "7" }),
      ]);
      const wrong = await thrownBy(client, 401, () => client[method](at, { key: "sk_live_wrong" }));
      // The other two surfaces answer in the short form, without a code.
      if (client.surface === "responses") assertEquals(codeOf(wrong), "invalid_api_key");

      // On messages a name without a provider may be a short one, so this one is unknown there and not a mistake.
      const [status, code] = client.surface === "messages"
        ? [404, "model_not_found"]
        : [422, "validation_error"];
      const unnamed = await thrownBy(client, status, () => client[method](at, { model: "gpt-5" }));
      assertEquals(codeOf(unnamed), code);

      const limited = await thrownBy(client, 429, () => client[method](at, {}));
      assertEquals(codeOf(limited), "provider_rate_limited");
      assertEquals(retryAfter(limited), "7");
    });
  }

  Deno.test(`${client.name} does not try again where that is useless`, async () => {
    for (const [status, code, config] of USELESS) {
      if (status === 429 && !client.listens) continue;
      await using at = await stage("gemini", [], config);
      const error = await thrownBy(client, status, () => client.whole(at, { retries: 2 }));
      assertEquals(codeOf(error), code);
      // Each try is one more refusal that the gateway counts.
      const refusals = await refusalsOf(at);
      assertEquals(refusals, 1, code);
    }
  });

  for (const api of APIS) {
    Deno.test(`${client.name} throws when the stream of ${api} breaks or ends in an error`, async () => {
      const text = "A long answer that never comes to its end.";
      await using at = await stage(api, [
        { text, breaksAfter: 7 },
        { text, failsWith: "The server had an error." },
      ]);
      for (let i = 0; i < 2; i++) {
        const error = await assertRejects(() => client.streamed(at, {}), Error);
        assertEquals(at.seen.length, i + 1);
        // Gemini's error names a status that means overload.
        const code = api === "gemini" && i === 1 ? "provider_model_down" : "provider_unavailable";
        assertEquals(codeOf(error), code);
      }
    });
  }
}

/** Answers with an error status that the gateway has given. */
async function refusalsOf(at: Stage): Promise<number> {
  const text = await (await fetch(`${at.url}/metrics`)).text();
  let sum = 0;
  for (
    const [, status, count] of text.matchAll(/^sluice_\w*responses\w*\{[^}]*status="(\d+)"[^}]*\} (\d+)$/gm)
  ) {
    if (Number(status) >= 400) sum += Number(count);
  }
  return sum;
}

function retryAfter(error: unknown): unknown {
  const e = error as { headers?: Headers; responseHeaders?: Record<string, string> };
  return e.responseHeaders?.["retry-after"] ?? e.headers?.get("retry-after");
}
