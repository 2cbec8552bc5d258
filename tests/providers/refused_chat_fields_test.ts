/** Servers of chat-completions refuse fields that OpenAI has, each in words of its own. */
import { assertEquals } from "@std/assert";
import { refusedFields } from "../../src/providers/refused_fields.ts";
import { leastAnswer } from "../support/answers.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** What each server answers to a field at the top, and to the name of a message. */
const SERVERS: Record<string, (path: readonly (string | number)[]) => [number, unknown]> = {
  fireworks: (path) => [400, {
    error: {
      object: "error",
      type: "invalid_request_error",
      message: `Extra inputs are not permitted, field: '${
        path.map((step, i) => typeof step === "number" ? `[${step}]` : i > 0 ? `.${step}` : step).join("")
      }', value: 1`,
    },
  }],
  mistral: (path) => [422, {
    object: "error",
    message: {
      detail: [{
        type: "extra_forbidden",
        loc: ["body", ...path.flatMap((step) => typeof step === "number" ? [step, "user"] : [step])],
        msg: "Extra inputs are not permitted",
        input: 1,
      }],
    },
  }],
  vllm: (path) => [400, {
    object: "error",
    message: `[{'type': 'extra_forbidden', 'loc': ('body', ${
      path.map((step) => typeof step === "number" ? step : `'${step}'`).join(", ")
    }), 'msg': 'Extra inputs are not permitted', 'input': 1}]`,
    type: "BadRequestError",
    code: 400,
  }],
  cerebras: (path) => [400, {
    message: `body.${path.join(".")}: property 'body.${path.join(".")}' is unsupported`,
    type: "invalid_request_error",
    code: "wrong_api_format",
  }],
  groq: (path) => [400, {
    error: {
      message: path.length === 1
        ? `property '${path[0]}' is unsupported`
        : `'${path.slice(0, -1).join(".")}' : for 'role:user' the following must be satisfied[('${
          path.slice(0, -1).join(".")
        }' : property '${path.at(-1)}' is unsupported)]`,
      type: "invalid_request_error",
    },
  }],
  google: (path) => [400, [{
    error: {
      code: 400,
      message: `Invalid JSON payload received. Unknown name "${path.at(-1)}"${
        path.length === 1 ? "" : ` at 'messages[0]'`
      }: Cannot find field.`,
      status: "INVALID_ARGUMENT",
    },
  }]],
  imitators: (path) => [400, {
    error: {
      message: path.length === 1
        ? `Unrecognized request argument supplied: ${path[0]}`
        : `Unknown parameter: 'messages[0].name'.`,
      type: "invalid_request_error",
    },
  }],
};

const ASK = { model: "p/model", messages: [{ role: "user", name: "ann", content: "Hi" }] };

for (const [name, refusal] of Object.entries(SERVERS)) {
  Deno.test(`a request is sent again without the fields that ${name} refuses, and later ones at once`, async () => {
    await using provider = loopbackProvider((seen) => {
      const body = seen.body as Any;
      const path = body.store !== undefined
        ? ["store"]
        : body.messages[0].name !== undefined
        ? ["messages", 0, "name"]
        : null;
      if (path === null) return leastAnswer(seen);
      const [status, error] = refusal(path);
      return Response.json(error, { status });
    });
    await using gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
    for (const calls of [3, 1]) {
      provider.seen.length = 0;
      const response = await gateway.post("/v1/chat/completions", { ...ASK, store: true });
      const text = await response.text();
      assertEquals([response.status, provider.seen.length], [200, calls], text);
      assertEquals(response.headers.get("x-svc-dropped"), "store, messages.name");
      const { messages, store } = provider.seen.at(-1)!.body as Any;
      assertEquals([messages, store], [[{ role: "user", content: "Hi" }], undefined]);
    }
  });
}

Deno.test("refusals of fields that ask for another answer, and of unknown ones, reach the caller", async () => {
  let field = "";
  await using provider = loopbackProvider(() =>
    Response.json({ error: { message: `Extra inputs are not permitted, field: '${field}'` } }, {
      status: 400,
    })
  );
  await using gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const fields: Any = {
    response_format: { type: "json_object" },
    n: 1,
    tool_choice: "auto",
    max_tokens: 9,
    tools: [{ type: "function", function: { name: "f", parameters: {} } }],
    my_own: 1,
  };
  for (
    field of [
      ...Object.keys(fields),
      "messages",
      "model",
      "messages[0].content",
      "tools[0].function.parameters",
    ]
  ) {
    provider.seen.length = 0;
    const response = await gateway.post("/v1/chat/completions", { ...ASK, ...fields });
    const text = await response.text();
    assertEquals([response.status, provider.seen.length], [400, 1], `${field}: ${text}`);
  }
});

Deno.test("OpenAI's own refusals are the caller's to read", async () => {
  await using provider = loopbackProvider(() =>
    Response.json({ error: { message: "Unknown parameter: 'store'.", param: "store" } }, { status: 400 })
  );
  await using gateway = await testGateway({
    p: { api: "openai-chat", url: `${provider.url}/v1`, more: { preset: "openai" } },
  });
  const response = await gateway.post("/v1/chat/completions", { ...ASK, store: true });
  await response.body?.cancel();
  assertEquals([response.status, provider.seen.length], [400, 1]);
});

Deno.test("refusedFields() reads no other error", () => {
  for (
    const text of [
      "Unsupported parameter: 'temperature' is not supported with this model.",
      "property 'messages' is missing",
      '{"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required"}]}',
    ]
  ) assertEquals(refusedFields(text), [], text);
});
