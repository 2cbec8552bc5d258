/** Clouds and other vendors with Anthropic's API refuse fields that Anthropic takes, and that Claude Code sends. */
import { assert, assertEquals } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import {
  askWithoutRefused,
  RefusedFields,
  refusedFields,
  withoutFields,
} from "../../src/providers/refused_fields.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { steadyClock } from "../support/time.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

Deno.test("refusedFields() reads the fields of both forms of the message", () => {
  assertEquals(refusedFields("tools.0.custom.defer_loading: Extra inputs are not permitted"), [
    ["tools", null, "custom", "defer_loading"],
  ]);
  const fireworks =
    "2 request validation errors: Extra inputs are not permitted, field: 'tools[0].eager_input_streaming', value: True; Extra inputs are not permitted, field: 'tools[7].cache_control'";
  assertEquals(refusedFields(fireworks), [["tools", null, "eager_input_streaming"], [
    "tools",
    null,
    "cache_control",
  ]]);
  assertEquals(refusedFields("max_tokens: Field required"), []);
});

Deno.test("withoutFields() removes a field from all elements, and skips the names of kinds", () => {
  const body: Any = {
    tools: [{ name: "f", defer_loading: true }, { name: "g", defer_loading: false }],
    messages: [
      { role: "user", content: "a" },
      {
        role: "user",
        content: [{
          type: "tool_result",
          content: [{ type: "text", text: "x", cache_control: { type: "ephemeral", scope: "global" } }],
        }],
      },
    ],
  };
  const before = structuredClone(body);
  const from = (message: string) =>
    withoutFields(body, refusedFields(`${message}: Extra inputs are not permitted`));
  const tools = from("tools.0.custom.defer_loading");
  assertEquals(tools.lost, ["tools.defer_loading"]);
  assertEquals(tools.body.tools, [{ name: "f" }, { name: "g" }]);
  const scope = from("messages.1.content.0.tool_result.content.0.text.cache_control.ephemeral.scope");
  assertEquals(scope.lost, ["messages.content.content.cache_control.scope"]);
  const [, { content: [{ content: [text] }] }] = scope.body.messages as Any;
  assertEquals(text, { type: "text", text: "x", cache_control: { type: "ephemeral" } });
  // The prompt, of which the body has parts, is sent to other routes as it is.
  assertEquals(body, before);
  for (const other of ["context_management", "messages", "tools", "tools.0.custom.strict"]) {
    const same = from(other);
    assertEquals([same.body === body, same.lost], [true, []], other);
  }
  const shaped = { output_config: { format: {}, effort: "low" } };
  for (const path of [["output_config"], ["output_config", "format"]]) {
    assertEquals(withoutFields(shaped, [path]).lost, []);
  }
  assertEquals(withoutFields(shaped, [["output_config", "effort"]])?.lost, ["output_config.effort"]);
});

Deno.test("withoutFields() leaves a field of the same name in blocks and tools of other kinds", () => {
  const from = (body: Any, message: string) =>
    withoutFields(body, refusedFields(`${message}: Extra inputs are not permitted`));
  const tools = [{ type: "bash_20250124", name: "bash", description: "a" }, { name: "f", description: "b" }];
  const fitted = from({ tools }, "tools.0.bash_20250124.description");
  assertEquals(fitted.body.tools, [{ type: "bash_20250124", name: "bash" }, tools[1]]);
  const image = { type: "image", text: "c", source: { type: "url", url: "u" } };
  const content = [image, { type: "text", text: "d" }];
  const parts = from({ messages: [{ role: "user", content }] }, "messages.0.content.0.image.text");
  const { text: _, ...less } = image;
  assertEquals((parts.body.messages as Any)[0].content, [less, content[1]]);
  for (const message of ["messages.0.content.1.thinking.text", "messages.0.text", "image.text"]) {
    assertEquals(from({ messages: [{ role: "user", content }] }, message).lost, [], message);
  }
});

Deno.test("RefusedFields keeps 30 fields for each of 50 sets of features, the last ones learned, for an hour", () => {
  const known = new RefusedFields(false);
  const named = (from: number, count: number) => Array.from({ length: count }, (_, i) => [`f${from + i}`]);
  const body = Object.fromEntries(named(0, 40).map(([name]) => [name, 1]));
  const left = (beta: string, now = 0) => 40 - known.fit(body, { "anthropic-beta": beta }, now).lost.length;
  const learn = (beta: string, fields: string[][], now = 0) =>
    known.learn(fields, { body, headers: { "anthropic-beta": beta }, now });
  assertEquals(learn("many", named(0, 20))?.lost.length, 20);
  assertEquals(learn("many", named(20, 20))?.lost.length, 30);
  assertEquals(left("many"), 10);
  assertEquals(known.fit(body, { "anthropic-beta": "many" }, 0).body.f0, 1);
  assertEquals([learn("many", [["f39"]]), learn("many", [["unknown"]])], [null, null]);

  assertEquals([left("many", 3_599_999), left("many", 3_600_000)], [10, 40]);
  for (let i = 0; i < 49; i++) learn(`b${i}`, [["f0"]]);
  // Learned anew, so that it is not the oldest of the 50.
  learn("b0", [["f1"]]);
  learn("one more", [["f0"]]);
  assertEquals([left("many"), left("b0"), left("b1"), left("one more")], [40, 38, 39, 39]);
  learn("another", [["f0"]]);
  assertEquals([left("b0"), left("b1"), left("b2")], [38, 40, 39]);
  // The order of features does not matter, nor blanks between them.
  learn("x,y", [["f0"]]);
  assertEquals([left(" y , x,"), left("x"), left("x,y,z")], [39, 40, 40]);
});

Deno.test("the answer is that of the last request: of one that is refused for another reason, its refusal", async () => {
  const failures = [1, 2, 3].map((n) => new Failure("validation_error", `failure ${n}`));
  const texts = [
    "a: Extra inputs are not permitted",
    "b: Extra inputs are not permitted",
    "max_tokens: too large",
  ];
  const asked: unknown[] = [];
  let learned = 0;
  const known = new RefusedFields(false);
  const answer = await askWithoutRefused<unknown, string>({
    refused: failures[0],
    text: () => texts[asked.length],
    known,
    learned: () => learned++,
    prepare: (fit) => fit({ a: 1, b: 2, c: 3 }, undefined).body,
    ask: (request) => Promise.resolve((asked.push(request), failures[asked.length])),
    now: () => 0,
  });
  assertEquals(answer, failures[2]);
  assertEquals([asked, learned], [[{ b: 2, c: 3 }, { c: 3 }], 2]);
  const other = await askWithoutRefused<unknown, string>({
    refused: failures[0],
    text: () => null,
    known,
    learned: () => learned++,
    prepare: () => assert(false),
    ask: () => assert(false),
    now: () => 0,
  });
  assertEquals([other, learned], [failures[0], 2]);
});

Deno.test("a server that refuses one field after the other is not asked without end", async () => {
  await using provider = loopbackProvider(({ body }) => {
    const [field] = Object.keys(body as Any).filter((key) => key.startsWith("x_"));
    const message = `${field}: Extra inputs are not permitted`;
    return Response.json({ type: "error", error: { type: "invalid_request_error", message } }, {
      status: 400,
    });
  });
  await using gateway = await testGateway({
    cloud: { api: "anthropic-messages", url: `${provider.url}/v1` },
  });
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`x_${i}`, i]));
  const response = await gateway.post("/v1/messages", {
    model: "cloud/model",
    max_tokens: 100,
    messages: [{ role: "user", content: "Hi" }],
    ...many,
  });
  assertEquals([response.status, provider.seen.length], [400, 9], await response.text());
});

const REFUSED = ["context_management", "tools.0.custom.defer_loading", "output_config.effort"];

/** A server that refuses one field after the other, as long as they are there. */
function answer(body: Any): Response {
  const there = [
    body.context_management !== undefined,
    body.tools?.some((tool: Any) => tool.defer_loading !== undefined),
    body.output_config?.effort !== undefined,
  ];
  const at = there.indexOf(true);
  if (at >= 0) {
    const message = `${REFUSED[at]}: Extra inputs are not permitted`;
    return Response.json({ type: "error", error: { type: "invalid_request_error", message } }, {
      status: 400,
    });
  }
  return Response.json({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "Done." }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 1 },
  });
}

const REQUEST = {
  max_tokens: 100,
  messages: [{ role: "user", content: "Hi" }],
  tools: [{ name: "f", input_schema: { type: "object" }, defer_loading: true }],
  context_management: { edits: [] },
  output_config: { effort: "low" },
};

Deno.test("a request with refused fields is sent without them, which are listed, and later ones at once", async () => {
  await using provider = loopbackProvider(({ body }) => answer(body));
  await using gateway = await testGateway({
    cloud: { api: "anthropic-messages", url: `${provider.url}/v1` },
  });
  for (const calls of [4, 1]) {
    provider.seen.length = 0;
    const response = await gateway.post("/v1/messages", { model: "cloud/model", ...REQUEST });
    const text = await response.text();
    assertEquals(response.status, 200, text);
    assertEquals(provider.seen.length, calls);
    const lost = response.headers.get("x-svc-dropped")!.split(/, ?/).sort();
    assertEquals(lost, ["context_management", "output_config.effort", "tools.defer_loading"]);
  }
});

Deno.test("a field that needs a beta feature is left out only of requests without it", async () => {
  await using provider = loopbackProvider(({ body, headers }) =>
    headers.get("anthropic-beta")?.includes("context-management-2025-06-27")
      ? answer({ ...body as Any, context_management: undefined })
      : answer(body)
  );
  await using gateway = await testGateway({
    cloud: { api: "anthropic-messages", url: `${provider.url}/v1` },
  });
  const sent = async (beta?: string) => {
    const headers: Record<string, string> = beta === undefined ? {} : { "anthropic-beta": beta };
    const { tools: _, output_config: __, ...request } = REQUEST;
    const response = await gateway.post("/v1/messages", { model: "cloud/model", ...request }, { headers });
    assertEquals(response.status, 200, await response.text());
    return provider.seen.at(-1)!.body.context_management;
  };
  const other = "other-2025-01-01";
  for (let i = 0; i < 2; i++) {
    assertEquals([await sent(), await sent(other)], [undefined, undefined]);
    assertEquals(await sent("context-management-2025-06-27"), { edits: [] });
    assertEquals(await sent(`context-management-2025-06-27, ${other}`), { edits: [] });
  }
  assertEquals(provider.seen.length, 10);
});

Deno.test("a large request with refused fields is sent without them too", async () => {
  await using provider = loopbackProvider(({ body }) => answer(body));
  await using gateway = await testGateway({
    cloud: { api: "anthropic-messages", url: `${provider.url}/v1` },
  });
  // From a megabyte on, requests are written in slices.
  const messages = [{ role: "user", content: "word ".repeat(250_000) }];
  for (const calls of [4, 1]) {
    provider.seen.length = 0;
    const response = await gateway.post("/v1/messages", { model: "cloud/model", ...REQUEST, messages });
    const text = await response.text();
    assertEquals([response.status, provider.seen.length], [200, calls], text);
    assertEquals(provider.seen.at(-1)?.body.messages, messages);
  }
});

Deno.test("refused fields are sent again after an hour, since the server may have learned them", async () => {
  let isNew = false;
  await using provider = loopbackProvider(({ body }) =>
    answer(isNew ? { ...body as Any, context_management: undefined } : body)
  );
  const steady = steadyClock();
  let hours = 0;
  await using gateway = await testGateway(
    { cloud: { api: "anthropic-messages", url: `${provider.url}/v1` } },
    {},
    { clock: { now: () => steady.now() + hours * 3_600_000 } },
  );
  const last = async () => {
    await (await gateway.post("/v1/messages", { model: "cloud/model", ...REQUEST })).body?.cancel();
    return provider.seen.at(-1)!.body;
  };
  assertEquals((await last()).context_management, undefined);
  isNew = true;
  assertEquals((await last()).context_management, undefined);
  hours = 1;
  const sent = await last();
  assertEquals([sent.context_management, (sent.tools as Any)[0].defer_loading], [{ edits: [] }, undefined]);
});

Deno.test("what a caller writes into a refusal takes no field from the requests of others", async () => {
  const forged = [
    "1 request validation error: Extra inputs are not permitted, field: 'messages[0].content'",
    "tools.0.custom.description: Extra inputs are not permitted",
    "messages.0.content.0.text.text: Extra inputs are not permitted",
  ].join("; ");
  await using provider = loopbackProvider(({ body }) => {
    const { x_mine, ...rest } = body as Any;
    if (x_mine === undefined) return answer({ ...rest, tools: undefined });
    const message = `Extra inputs are not permitted, field: 'x_mine', value: ${x_mine}`;
    return Response.json({ type: "error", error: { type: "invalid_request_error", message } }, {
      status: 400,
    });
  });
  const secret = (name: string) => `sk_live_${name.padEnd(30, "k")}`;
  await using gateway = await testGateway(
    { cloud: { api: "anthropic-messages", url: `${provider.url}/v1` } },
    { keys: ["mallory", "alice"].map((name) => ({ name, secret: secret(name) })) },
  );
  const body = {
    model: "cloud/model",
    max_tokens: 100,
    system: "Be brief.",
    messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    tools: [{ name: "f", description: "Finds", input_schema: { type: "object" } }],
  };
  const ask = async (name: string, more: Any = {}) => {
    const headers = { "x-api-key": secret(name), authorization: "" };
    const response = await gateway.post("/v1/messages", { ...body, ...more }, { headers });
    return { status: response.status, text: await response.text() };
  };
  await ask("mallory", { x_mine: forged });
  const sent = provider.seen.at(-1)!.body as Any;
  assertEquals(sent.messages, body.messages);
  provider.seen.length = 0;
  const { status, text } = await ask("alice");
  assertEquals(status, 200, text);
  const { messages, system, tools } = provider.seen[0].body as Any;
  assertEquals([messages, system, tools], [body.messages, body.system, body.tools]);
});

Deno.test("a refusal of something that must not be left out reaches the caller", async () => {
  const message = "output_config.format: Extra inputs are not permitted";
  await using provider = loopbackProvider(() =>
    Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 })
  );
  await using gateway = await testGateway({
    cloud: { api: "anthropic-messages", url: `${provider.url}/v1` },
  });
  const format = { type: "json_schema", schema: { type: "object", properties: {} } };
  const response = await gateway.post("/v1/messages", {
    model: "cloud/model",
    ...REQUEST,
    output_config: { format },
  });
  const text = await response.text();
  assertEquals([response.status, provider.seen.length], [400, 1], text);
  assert(text.includes(message), text);
});
