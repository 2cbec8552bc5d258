/** Requests that name a model and ask no provider are refused as a generation with this model is. */
import { assertEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { SocketClient } from "../support/socket_client.ts";

const KEYS = {
  free: {},
  bound: { access_policy: "only_q" },
  routed: { access_policy: "no_router" },
  shut: { access_policy: "none_of_them" },
  lost: { access_policy: "not_there" },
  narrow: { models: ["p/*"] },
  blind: { models: ["other/*", "svc/auto"] },
  thrifty: { spend_limit: { amount: "1", period: "total" } },
};
const MODELS = ["p/model", "q/model", "r/model", "svc/auto", "p/none"];
const secretOf = (name: string) => name === "free" ? SECRET : `sk_live_${name.padEnd(32, "0")}`;

/** The body's code, or `ok`. */
async function codeOf(response: Response): Promise<string> {
  const body = await response.json();
  return body.error?.code ?? body.refusal?.code ?? "ok";
}

Deno.test("counts, estimates and beginnings of a conversation hold to the rights of a key as generations do", async () => {
  const provider = loopbackProvider(leastAnswer);
  const upstream = { api: "openai-chat" as const, url: `${provider.url}/v1` };
  const priced = { ...upstream, model: { pricing: { prompt: "0.0000001", completion: "0.0000001" } } };
  const gateway = await testGateway({ p: priced, q: priced, r: upstream }, {
    auto: { models: ["p/model", "q/model"] },
    access_policies: {
      only_q: { allow: ["q/*"], deny: [] },
      no_router: { allow: ["*"], deny: ["svc/*"] },
      none_of_them: { allow: ["other/*", "svc/auto"], deny: [] },
    },
    keys: Object.entries(KEYS).map(([name, more]) => ({ name, secret: secretOf(name), ...more })),
  });
  const codes = new Set<string>();
  try {
    for (const name of Object.keys(KEYS)) {
      const headers = { authorization: `Bearer ${secretOf(name)}` };
      const ask = async (path: string, body: unknown) =>
        await codeOf(
          await fetch(gateway.url + path, { method: "POST", headers, body: JSON.stringify(body) }),
        );
      for (const model of MODELS) {
        const messages = [{ role: "user", content: "Hello" }];
        const expected = await ask("/v1/messages", { model, messages, max_tokens: 16 });
        codes.add(`${model} ${expected}`);
        const socket = await SocketClient.open(gateway.url, headers);
        const begun = (await socket.turn({ model, input: "Hello", generate: false })).at(-1);
        await socket.close();
        assertEquals({
          count_tokens: await ask("/v1/messages/count_tokens", { model, messages }),
          input_tokens: await ask("/v1/responses/input_tokens", { model, input: "Hello" }),
          estimate: await ask("/v1/estimate", { model, messages }),
          compact: await ask("/v1/responses/compact", { model, input: "Hello" }),
          begun: begun?.error?.code ?? "ok",
        }, {
          count_tokens: expected,
          input_tokens: expected,
          estimate: expected,
          compact: expected,
          begun: expected,
        }, `${name} with ${model}`);
      }
    }
    assertEquals(
      [...codes].filter((code) => code.startsWith("svc/auto")).toSorted(),
      ["svc/auto model_not_found", "svc/auto ok", "svc/auto policy_violation"],
    );
  } finally {
    await gateway.close();
    await provider.close();
  }
});
