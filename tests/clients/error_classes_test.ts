/**
 * The case of a failure as applications tell it: by the client's class, the status and the words. A context that overflows,
 * whoever notices it and in whatever words, a limit, a refusal of the content, a request that is refused, and a model that
 * is down.
 */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { Line, ScriptedApi } from "../support/script/mod.ts";
import { type Client, CLIENTS, codeOf, thrownBy } from "./failing.ts";
import { APIS, refusal, stage } from "./support.ts";

/** How each provider says that the conversation is too long. */
const TOO_LONG: Readonly<Record<ScriptedApi, Line>> = {
  "openai-chat": () =>
    Response.json({
      error: {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 130513 tokens. Please reduce the length of the messages.",
        type: "invalid_request_error",
        param: "messages",
        code: "context_length_exceeded",
      },
    }, { status: 400 }),
  "openai-responses": () =>
    Response.json({
      error: {
        message:
          "Your input exceeds the context window of this model. Please adjust your input and try again.",
        type: "invalid_request_error",
        param: "input",
        code: "context_length_exceeded",
      },
    }, { status: 400 }),
  "anthropic-messages": () =>
    Response.json({
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 210001 tokens > 200000 maximum" },
    }, { status: 400 }),
  gemini: () =>
    Response.json({
      error: {
        code: 400,
        message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).",
        status: "INVALID_ARGUMENT",
      },
    }, { status: 400 }),
  "bedrock-converse": () =>
    Response.json({
      message: "The model returned the following errors: prompt is too long: 210001 tokens > 200000 maximum",
    }, { status: 400, headers: { "x-amzn-errortype": "ValidationException" } }),
};

const COUNTED: Readonly<Record<ScriptedApi, string>> = {
  "openai-chat": "prompt is too long: 130513 tokens > 128000 maximum",
  "openai-responses": "prompt is too long",
  "anthropic-messages": "prompt is too long: 210001 tokens > 200000 maximum",
  gemini: "prompt is too long: 1200000 tokens > 1048575 maximum",
  "bedrock-converse": "prompt is too long: 210001 tokens > 200000 maximum",
};

/** Names of the classes of an error, and of what caused it. */
function classesOf(error: unknown): string[] {
  const names: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) {
    names.push(at.name);
    for (let proto = Object.getPrototypeOf(at); proto; proto = Object.getPrototypeOf(proto)) {
      names.push(proto.constructor.name);
    }
  }
  return names;
}

/** LangChain throws a class of its own, which holds the client's error. */
async function overflow(client: Client, ask: () => Promise<unknown>): Promise<Error> {
  if (!client.name.startsWith("langchain ChatOpenAI")) return thrownBy(client, 413, ask);
  const error = await assertRejects(ask, Error);
  assert(classesOf(error).includes("ContextOverflowError"), classesOf(error).join());
  assertEquals((error.cause as { status?: number }).status, 413);
  return error;
}

function assertOverflow(client: Client, error: Error, words: string): void {
  assertStringIncludes(error.message, words);
  assertStringIncludes(error.message, "exceeds the context window");
  assertStringIncludes(error.message, "this model's maximum context length is");
  assertEquals(codeOf(error) ?? codeOf(error.cause), "provider_payload_too_large");
  if (client.name.startsWith("ai ")) assertEquals((error as { isRetryable?: boolean }).isRetryable, false);
}

for (const client of CLIENTS) {
  for (const method of ["whole", "streamed"] as const) {
    Deno.test(`${client.name} ${method} tells a context that overflows, whoever notices it`, async () => {
      for (const api of APIS) {
        await using at = await stage(api, [TOO_LONG[api]]);
        const error = await overflow(client, () => client[method](at, {}));
        assertOverflow(client, error, COUNTED[api]);
        assertEquals(at.seen.length, 1);
      }
      await using at = await stage("gemini", [], { models: [smallModel("gemini")] });
      const error = await overflow(client, () => client[method](at, {}));
      assertOverflow(client, error, "tokens > 3 maximum");
      assertEquals(at.seen.length, 0);
    });
  }

  Deno.test(`${client.name} tells a refused content, a refused request and a model that is down apart`, async () => {
    const moderated = {
      error: { message: "Your request was flagged by our moderation.", code: "content_policy_violation" },
    };
    const cases: readonly [Line, number, string][] = [
      [() => Response.json(moderated, { status: 403 }), 403, "provider_forbidden"],
      [refusal(400, "Unsupported value: 'x'."), 400, "provider_bad_request"],
      [refusal(529, "Overloaded"), 502, "provider_model_down"],
      [refusal(500, "The server had an error."), 502, "provider_unavailable"],
    ];
    for (const [line, status, code] of cases) {
      for (const method of ["whole", "streamed"] as const) {
        await using at = await stage("openai-chat", new Array(4).fill(line));
        const error = await thrownBy(client, status, () => client[method](at, {}));
        assertEquals(codeOf(error), code);
      }
    }
  });
}

function smallModel(api: ScriptedApi): Record<string, unknown> {
  return {
    id: "p/model",
    routes: [{ provider: "p", model: api }],
    context_length: 3,
    pricing: { prompt: "0.00001", completion: "0.00001" },
  };
}
