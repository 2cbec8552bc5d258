/** What clouds refuse, by its meaning: who is to blame, what callers are told, and whether another route is tried. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import { cloud } from "../credentials/cloud.ts";
import { eventMessage, exceptionMessage, joined } from "../../support/event_stream.ts";
import { answerOf, models, rig } from "./impostors.ts";

interface Refusal {
  what: string;
  status: number;
  headers?: Record<string, string>;
  body: unknown;
  /** What callers see. */
  seen: [status: number, code: string, retryAfter?: string];
  /** The next route answers. */
  next?: boolean;
}

const aws = (type: string) => ({
  "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
});
const DOWN: [number, string] = [502, "provider_model_down"];
const OURS: [number, string] = [502, "provider_unavailable"];

const BEDROCK: readonly Refusal[] = [
  {
    what: "access to the model is denied",
    status: 403,
    headers: aws("AccessDeniedException"),
    body: { message: "You don't have access to the model with the specified model ID." },
    seen: OURS,
    next: true,
  },
  {
    what: "the role may not invoke",
    status: 403,
    headers: aws("AccessDeniedException"),
    body: {
      message:
        "User: arn:aws:sts::123456789012:assumed-role/r/s is not authorized to perform: bedrock:InvokeModel on resource: arn:aws:bedrock:eu-central-1::foundation-model/m",
    },
    seen: OURS,
    next: true,
  },
  {
    what: "an unknown model",
    status: 400,
    headers: aws("ValidationException"),
    body: { message: "The provided model identifier is invalid." },
    seen: DOWN,
    next: true,
  },
  {
    what: "a model that wants an inference profile",
    status: 400,
    headers: aws("ValidationException"),
    body: {
      message:
        "Invocation of model ID anthropic.claude-sonnet-4-5-20250929-v1:0 with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.",
    },
    seen: DOWN,
    next: true,
  },
  {
    what: "a resource that is not there",
    status: 404,
    headers: aws("ResourceNotFoundException"),
    body: { message: "Could not resolve the foundation model from the provided model identifier." },
    seen: DOWN,
    next: true,
  },
  {
    what: "throttling",
    status: 429,
    headers: { ...aws("ThrottlingException"), "retry-after": "7" },
    body: { message: "Too many tokens, please wait before trying again." },
    seen: [429, "provider_rate_limited", "7"],
    next: true,
  },
  {
    what: "a quota of the account",
    status: 400,
    headers: aws("ServiceQuotaExceededException"),
    body: { message: "Your request exceeds the service quota for your account." },
    seen: OURS,
    next: true,
  },
  {
    what: "an input that is too long",
    status: 400,
    headers: aws("ValidationException"),
    body: { message: "Input is too long for requested model." },
    seen: [413, "provider_payload_too_large"],
    // The context of this provider is not named, so another one may have a larger one.
    next: true,
  },
  {
    what: "a prompt that is too long, in Anthropic's words",
    status: 400,
    headers: aws("ValidationException"),
    body: {
      message: "The model returned the following errors: prompt is too long: 215000 tokens > 200000 maximum",
    },
    seen: [413, "provider_payload_too_large"],
  },
  {
    what: "a wrong field",
    status: 400,
    headers: aws("ValidationException"),
    body: { message: "The value at messages.0.content.0.image failed to satisfy constraint: 3.75 MB" },
    seen: [400, "provider_bad_request"],
  },
  {
    what: "a model that failed",
    status: 424,
    headers: aws("ModelErrorException"),
    body: {
      message: "The system encountered an unexpected error during processing. Try your request again.",
    },
    seen: OURS,
    next: true,
  },
  {
    what: "a request that the model's own server refused",
    status: 424,
    headers: aws("ModelErrorException"),
    body: {
      message: "The model returned the following errors: stop_sequences: at most 4",
      originalStatusCode: 400,
      resourceName: "endpoint",
    },
    seen: [400, "provider_bad_request"],
  },
  {
    what: "a rate limit of the model's own server",
    status: 424,
    headers: aws("ModelErrorException"),
    body: { message: "The model returned an error.", originalStatusCode: 429 },
    seen: [429, "provider_rate_limited"],
    next: true,
  },
  {
    what: "a key that the model's own server refused",
    status: 424,
    headers: aws("ModelErrorException"),
    body: { message: "The model returned an error.", originalStatusCode: 403 },
    seen: OURS,
    next: true,
  },
  {
    what: "a model that took too long",
    status: 408,
    headers: aws("ModelTimeoutException"),
    body: { message: "Model has timed out in processing the request." },
    seen: [408, "provider_timeout"],
    next: true,
  },
  {
    what: "an outage",
    status: 503,
    headers: aws("ServiceUnavailableException"),
    body: { message: "Bedrock is unable to process your request." },
    seen: DOWN,
    next: true,
  },
  {
    what: "a wrong bearer key",
    status: 403,
    body: { Message: "Authentication failed: Please make sure your API Key is valid." },
    seen: OURS,
    next: true,
  },
];

const AZURE: readonly Refusal[] = [
  {
    what: "the content filter",
    status: 400,
    body: {
      error: {
        message:
          "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
        type: null,
        param: "prompt",
        code: "content_filter",
        status: 400,
        innererror: {
          code: "ResponsibleAIPolicyViolation",
          content_filter_result: { hate: { filtered: true, severity: "high" } },
        },
      },
    },
    seen: [403, "provider_forbidden"],
  },
  {
    what: "an unknown deployment",
    status: 404,
    body: {
      error: { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." },
    },
    seen: DOWN,
    next: true,
  },
  {
    what: "a wrong key",
    status: 401,
    body: {
      error: { code: "401", message: "Access denied due to invalid subscription key or wrong API endpoint." },
    },
    seen: OURS,
    next: true,
  },
  {
    what: "a used-up rate",
    status: 429,
    headers: { "retry-after": "11" },
    body: {
      error: {
        code: "429",
        message: "Requests have exceeded token rate limit of your current pricing tier.",
      },
    },
    seen: [429, "provider_rate_limited", "11"],
    next: true,
  },
  {
    what: "a context that overflows",
    status: 400,
    body: {
      error: {
        message:
          "Your input exceeds the context window of this model. Please adjust your input and try again.",
        type: "invalid_request_error",
        param: "input",
        code: "context_length_exceeded",
      },
    },
    seen: [413, "provider_payload_too_large"],
    next: true,
  },
];

const VERTEX: readonly Refusal[] = [
  {
    what: "a model that is not there",
    status: 404,
    body: {
      error: {
        code: 404,
        message:
          "Publisher Model `projects/p/locations/global/publishers/google/models/x` was not found or your project does not have access to it.",
        status: "NOT_FOUND",
      },
    },
    seen: DOWN,
    next: true,
  },
  {
    what: "a right that is missing",
    status: 403,
    body: {
      error: {
        code: 403,
        message:
          "Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/projects/p'",
        status: "PERMISSION_DENIED",
      },
    },
    seen: OURS,
    next: true,
  },
  {
    what: "a used-up quota",
    status: 429,
    body: [{
      error: {
        code: 429,
        message: "Resource exhausted. Please try again later.",
        status: "RESOURCE_EXHAUSTED",
      },
    }],
    seen: [429, "provider_rate_limited"],
    next: true,
  },
  {
    what: "a prompt that is too long",
    status: 400,
    body: {
      error: {
        code: 400,
        message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        status: "INVALID_ARGUMENT",
      },
    },
    seen: [413, "provider_payload_too_large"],
  },
];

const CLOUDS = [
  ["bedrock", { region: "eu-central-1", api_key: "cloud-key-12345" }, [
    { model: "amazon.nova-lite-v1:0" },
    { model: "claude-3-5", api: "anthropic-messages" },
  ], BEDROCK],
  ["azure", { resource: "r", api_key: "cloud-key-12345" }, [{ model: "gpt-5" }], AZURE],
  ["vertex", { project: "p", api_key: "cloud-key-12345" }, [{ model: "gemini-3-pro" }, {
    model: "claude-sonnet-4-5",
  }], VERTEX],
] as const;

for (const [name, fields, routes, refusals] of CLOUDS) {
  for (const { what, status, headers, body, seen, next = false } of refusals) {
    Deno.test(`${name}: ${what}`, async () => {
      await using upstream = cloud(() => Response.json(body, { status, headers }));
      await using other = cloud((seen) => answerOf(seen, "plain_text")!);
      const alone = models(routes.map((route) => ({ provider: name, ...route })));
      const followed = models(routes.map((route) => ({ provider: name, ...route }))) as {
        id: string;
        context_length?: number;
        routes: object[];
      }[];
      for (const model of followed) {
        model.id = `f/${model.id.slice(2)}`;
        model.context_length = 200_000;
        model.routes.push({ provider: "other", model: "m" });
      }
      await using gateway = await rig({
        providers: {
          [name]: { ...fields, base_url: upstream.origin, retries: 0 },
          other: { api: "openai-chat", base_url: `${other.origin}/v1` },
        },
        models: [...alone, ...followed],
      }, {});
      for (const stream of [false, true]) {
        for (let i = 0; i < routes.length; i++) {
          const ask = (model: string) =>
            gateway.ask("/v1/messages", {
              model,
              stream,
              max_tokens: 9,
              messages: [{ role: "user", content: "Hi" }],
            });
          const refused = await ask(`m/${i}`);
          const { error } = JSON.parse(refused.text);
          assertEquals([refused.status, error.code], seen.slice(0, 2), refused.text);
          assertEquals(refused.headers.get("retry-after"), seen[2] ?? null);
          assertFalse(/cloud-key|127\.0\.0\.1|arn:aws|123456789012/.test(refused.text), refused.text);
          const second = await ask(`f/${i}`);
          assertEquals(second.status === 200, next, second.text);
        }
      }
      assert(gateway.logged.every((line) => !line.includes("cloud-key")));
    });
  }
}

Deno.test("an exception or a wrong checksum within a stream is the caller's error event, and no tokens are billed", async () => {
  const begun = joined([
    eventMessage("messageStart", { role: "assistant" }),
    eventMessage("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Hel" } }),
  ]);
  const wrong = eventMessage("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "lo" } });
  wrong[wrong.length - 1] ^= 1;
  let bytes = new Uint8Array(0);
  await using upstream = cloud(() =>
    new Response(bytes, { headers: { "content-type": "application/vnd.amazon.eventstream" } })
  );
  await using gateway = await rig({
    providers: { bedrock: { region: "eu-central-1", base_url: upstream.origin, api_key: "k", retries: 0 } },
    models: models([{ provider: "bedrock", model: "m" }]),
  }, {});
  for (const end of [exceptionMessage("modelStreamErrorException", "It broke."), wrong, new Uint8Array(0)]) {
    bytes = joined([begun, end]);
    for (
      const [path, ending] of [
        ["/v1/chat/completions", /data: \{"error":\{.*\}\}\n\n$|data: \[DONE\]\n\n$/],
        ["/v1/messages", /event: error\ndata: \{"type":"error".*\}\n\n$/],
        ["/v1/responses", /event: error\n[^]*data: \[DONE\]\n\n$/],
      ] as const
    ) {
      const asked = path === "/v1/responses"
        ? { input: "Hi" }
        : { max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
      const { status, text } = await gateway.ask(path, { model: "m/0", stream: true, ...asked });
      assertEquals(status, 200);
      assert(text.includes("Hel") && text.includes("provider_unavailable") && ending.test(text), text);
    }
  }
  const { data } = await gateway.gateway.accounts.generations({});
  assertEquals(data.length, 9);
  assert(data.every((r) => r.status === "failed" && r.usage === null && Number(r.cost) === 0));
  // One that comes before anything is said has a status of its own.
  bytes = exceptionMessage("throttlingException", "Too many requests");
  const early = await gateway.ask("/v1/chat/completions", {
    model: "m/0",
    stream: true,
    messages: [{ role: "user", content: "Hi" }],
  });
  assertEquals([early.status, JSON.parse(early.text).error.code], [429, "provider_rate_limited"]);
});
