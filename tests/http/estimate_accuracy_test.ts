/** Compares the estimate of a request with the result of sending the same request. */
import { assert, assertEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const secretOf = (name: string) => SECRET + name;
const MODEL = {
  pricing: { prompt: "0.000001", completion: "0.000004" },
  context_length: 20_000,
  max_completion_tokens: 1000,
};
const KEYS = [
  { name: "test", secret: SECRET },
  { name: "eu", secret: secretOf("eu"), access_policy: "eu" },
  { name: "listed", secret: secretOf("listed"), models: ["chat/*"] },
  { name: "poor", secret: secretOf("poor"), account: "poor" },
  { name: "spent", secret: secretOf("spent"), spend_limit: { amount: "0.0000001", period: "day" } },
  { name: "session", secret: secretOf("session"), session_limit: { amount: "0.0000001" } },
];

async function withGateway(use: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const provider = loopbackProvider(leastAnswer);
  const { url } = provider;
  const gateway = await testGateway({
    chat: { api: "openai-chat", url, model: MODEL },
    messages: { api: "anthropic-messages", url, model: MODEL },
    gemini: { api: "gemini", url, model: MODEL },
    small: { api: "openai-chat", url, model: { ...MODEL, context_length: 100 } },
    own: {
      api: "anthropic-messages",
      url,
      model: MODEL,
      more: { pass_credentials: true, api_key: undefined },
    },
  }, {
    auto: { models: ["chat/model", "messages/model", "small/model"] },
    access_policies: { eu: { allow: ["chat/*"], deny: [] } },
    accounts: [{ name: "default", credits: "100.00" }, { name: "poor", credits: "0" }],
    keys: KEYS,
  });
  try {
    await use(gateway);
  } finally {
    await gateway.close();
    await provider.close();
  }
}

/** Sends a request to be estimated, and then to be answered; both must tell the same. */
async function compare(
  gateway: TestGateway,
  body: Record<string, unknown>,
  headers: Record<string, string>,
): Promise<string> {
  const format = headers["x-api-key"] === undefined ? "chat_completions" : "messages";
  const path = format === "messages" ? "/v1/messages" : "/v1/chat/completions";
  const estimated = await gateway.post(`/v1/estimate?format=${format}`, body, { headers });
  const estimate = await estimated.json();
  const answer = await gateway.post(path, body, { headers });
  const answered = await answer.json();
  const what = JSON.stringify([headers, body]).slice(0, 300);
  const refusal = estimate.error === undefined
    ? estimate.refusal
    : { status: estimated.status, code: estimate.error.code };
  const outcome = refusal === null ? "200" : `${refusal.status} ${refusal.code}`;
  assertEquals(outcome, answer.ok ? "200" : `${answer.status} ${answered.error.code}`, what);
  if (estimate.error === undefined) assertEquals(estimate.allowed, answer.ok, what);
  if (!answer.ok) return outcome;
  await gateway.gateway.idle();
  const { data: [{ model, cost }] } = await gateway.gateway.accounts.generations({ limit: 1 });
  const candidate = estimate.candidates.find((one: { model: string }) => one.model === model);
  assert(candidate !== undefined, what);
  assert(Number(candidate.cost_min) <= Number(candidate.cost_max), what);
  assert(Number(cost) <= Number(candidate.cost_max), what);
  return outcome;
}

const file = (data: string) => [{ type: "file", file: { filename: "a", file_data: data } }];
const CONTENTS = {
  words: "hi",
  "many blanks": " ".repeat(150_000) + "hi",
  "too long": "word ".repeat(30_000),
  "too long for a small model": "a few words more ".repeat(60),
  nothing: "",
  audio: [{ type: "text", text: "hi" }, {
    type: "input_audio",
    input_audio: { data: "AAAA", format: "wav" },
  }],
  "a stored file": [{ type: "text", text: "hi" }, { type: "file", file: { file_id: "file-1" } }],
  "a file of another kind": [{ type: "text", text: "hi" }, ...file("data:application/x-foo;base64,AAAA")],
};

Deno.test("an estimate refuses what the request would be refused for, and nothing else: whatever is sent to whatever model", async () => {
  await withGateway(async (gateway) => {
    const outcomes = new Set<string>();
    for (
      const model of ["chat/model", "messages/model", "gemini/model", "small/model", "svc/auto", "no/model"]
    ) {
      for (const content of Object.values(CONTENTS)) {
        for (const more of [{}, { n: 200 }, { web_search_options: {} }, { reasoning_effort: "max" }]) {
          const body = { model, messages: [{ role: "user", content }], ...more };
          outcomes.add(await compare(gateway, body, {}));
        }
      }
    }
    // Each kind is among them.
    for (
      const outcome of ["200", "404 model_not_found", "422 validation_error", "400 feature_not_supported"]
    ) {
      assert(outcomes.has(outcome), [...outcomes].join());
    }
  });
});

Deno.test("an estimate refuses what the request would be refused for, and nothing else: whoever asks, and whoever pays", async () => {
  await withGateway(async (gateway) => {
    const outcomes = new Set<string>();
    for (const { name, secret } of KEYS) {
      for (const model of ["chat/model", "messages/model", "own/model", "svc/auto"]) {
        const body = { model, max_tokens: 10, messages: [{ role: "user", content: "hi" }] };
        const session = { "x-svc-session": `of-${name}` };
        outcomes.add(await compare(gateway, body, { authorization: `Bearer ${secret}`, ...session }));
        const own = { authorization: "", "x-svc-key": secret, "x-api-key": "vendors" };
        outcomes.add(await compare(gateway, body, { ...own, ...session }));
      }
    }
    for (const status of ["200", "402", "403", "404", "422", "429"]) {
      assert([...outcomes].some((outcome) => outcome.startsWith(status)), [...outcomes].join());
    }
  });
});
