/** Models that a request names beside the one it asks for: which keys may name them, and where. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { SECRET } from "../support/gateway.ts";
import {
  answerOf,
  type Format,
  HELLO,
  LISTED,
  NARROW,
  OF_TEAM,
  onGateway,
  POLICED,
} from "./other_models_rig.ts";

/** Fields by which providers of the format are told of another model, with the place of its name. */
const FIELDS: [format: Format, field: string, more: (name: string) => Record<string, unknown>][] = [
  [
    "messages",
    "fallbacks[1].model",
    (name) => ({ fallbacks: [{ model: "large-1" }, { model: name, max_tokens: 90 }] }),
  ],
  ["messages", "tools[1].model", (name) => ({
    tools: [
      {
        name: "f",
        input_schema: { type: "object", properties: { model: { type: "string", default: "hidden-1" } } },
      },
      { type: "advisor_20260301", name: "advisor", model: name },
    ],
  })],
  ["messages", "messages[1].content[0].tool.definition.model", (name) => ({
    messages: [...HELLO, {
      role: "system",
      content: [{
        type: "tool_addition",
        tool: {
          type: "tool_definition",
          definition: { type: "advisor_20260301", name: "advisor", model: name },
        },
      }],
    }],
  })],
  ["messages", "models[0]", (name) => ({ models: [name] })],
  ["chat", "models[1]", (name) => ({ models: ["small-1", name], route: "fallback" })],
  ["chat", "fallbacks[0]", (name) => ({ fallbacks: [name] })],
  // As a tool's declaration has them.
  [
    "chat",
    "fallbacks[0].model",
    (name) => ({ fallbacks: [{ model: name, type: "function", properties: {} }] }),
  ],
  ["chat", "fallbacks[0].small-1[0]", (name) => ({ fallbacks: [{ "small-1": [name] }] })],
  ["chat", "compound_custom.models.answering_model", (name) => ({
    compound_custom: { models: { answering_model: name } },
  })],
  [
    "chat",
    "providerOptions.gateway.models[0]",
    (name) => ({ providerOptions: { gateway: { models: [name] } } }),
  ],
  [
    "chat",
    "plugins.fusion.analysis_models[0]",
    (name) => ({ plugins: { fusion: { analysis_models: [name] } } }),
  ],
  ["chat", "tools[0].parameters.model", (name) => ({
    tools: [{ type: "openrouter:advisor", parameters: { model: name } }],
  })],
  ["responses", "tools[0].model", (name) => ({ tools: [{ type: "image_generation", model: name }] })],
  ["responses", "tools[0].svg.model", (name) => ({
    tools: [{ type: "image_generation", output_format: "svg", svg: { model: name } }],
  })],
  ["responses", "input[0].tools[0].model", (name) => ({
    input: [
      { type: "additional_tools", role: "developer", tools: [{ type: "image_generation", model: name }] },
      { role: "user", content: "hi" },
    ],
  })],
  ["responses", "models[0]", (name) => ({ models: [name] })],
];

for (const [format, field, more] of FIELDS) {
  Deno.test(`${format}: a key names in ${field} only models that it may use`, () =>
    onGateway(
      (format, { body }) =>
        answerOf(format, "small-1", { input_tokens: 1, output_tokens: 1 }, body.stream === true),
      async ({ ask, asked }) => {
        const status = async (name: string, key: string) => {
          const response = await ask(format, more(name), key);
          const { error } = await response.json();
          return {
            status: response.status,
            code: error?.code,
            message: String(error?.message),
            param: error?.param,
          };
        };
        for (const key of [LISTED, OF_TEAM]) {
          for (const name of ["hidden-1", "of-nobody"]) {
            const refused = await status(name, key);
            assertEquals(
              [refused.status, refused.code],
              [404, "model_not_found"],
              `${name} ${refused.message}`,
            );
            // The team's list does not have the other one either.
            if (key === LISTED) assertStringIncludes(refused.message, `${field}: model "${name}"`);
            assertStringIncludes(refused.message, '"small-1"');
            if (format === "responses" && key === LISTED) assertEquals(refused.param, field);
          }
        }
        const forbidden = await status("hidden-1", POLICED);
        assertEquals([forbidden.status, forbidden.code], [403, "policy_violation"], forbidden.message);
        assertStringIncludes(forbidden.message, field);
        assertEquals(asked.length, 0);
        for (const name of ["large-1", `${format}/large`]) {
          for (const key of [LISTED, POLICED]) assertEquals((await status(name, key)).status, 200, name);
        }
        assertEquals((await status("hidden-1", SECRET)).status, 200);
        assertStringIncludes(JSON.stringify(asked.at(-1)!.body), "hidden-1");
      },
    ));
}

Deno.test("a key whose models are listed lets no provider choose another one", () =>
  onGateway(
    (format) => answerOf(format, "small-1", { input_tokens: 1, output_tokens: 1 }, false),
    async ({ ask }) => {
      const refused = await ask("messages", { fallbacks: "default" }, LISTED);
      assertEquals(refused.status, 404);
      assertStringIncludes((await refused.json()).error.message, "fallbacks");
      const passed = await ask("messages", { fallbacks: "default" });
      assertEquals(passed.status, 200, await passed.text());
    },
  ));

Deno.test("a key whose models are listed uses no tool that asks a model of the provider's choice", () =>
  onGateway(
    (format) => answerOf(format, "small-1", { input_tokens: 1, output_tokens: 1 }, false),
    async ({ ask, asked }) => {
      const tools: [Format, Record<string, unknown>][] = [
        ["responses", { type: "image_generation" }],
        ["responses", { type: "image_generation", model: null, quality: "high" }],
        ["responses", { type: "image_generation", svg: { model: "small-1" } }],
        ["chat", { type: "openrouter:advisor" }],
        ["chat", { type: "openrouter:subagent", parameters: {} }],
        ["chat", { type: "openrouter:fusion", parameters: { analysis_models: [] } }],
      ];
      for (const [format, tool] of tools) {
        for (const key of [LISTED, POLICED, OF_TEAM]) {
          const refused = await ask(format, { tools: [tool] }, key);
          const { error } = await refused.json();
          assertEquals([refused.status, error.code], [404, "model_not_found"], JSON.stringify(tool));
          assertStringIncludes(error.message, "Cannot use tools[0]: the provider would choose the model");
        }
      }
      const inHistory = await ask("responses", {
        input: [
          { type: "additional_tools", role: "developer", tools: [{ type: "image_generation" }] },
          { role: "user", content: "hi" },
        ],
      }, LISTED);
      assertStringIncludes((await inHistory.json()).error.message, "input[0].tools[0]");
      assertEquals(asked.length, 0);
      for (const [format, tool] of tools) {
        const passed = await ask(format, { tools: [tool] });
        assertEquals(passed.status, 200, await passed.text());
      }
    },
  ));

Deno.test("of a key whose models are listed no provider is told a name that the catalog does not have there", () =>
  onGateway(
    (format, seen) =>
      answerOf(
        seen.path.includes("chat") ? "chat" : format,
        "small-1",
        { input_tokens: 1, output_tokens: 1 },
        false,
      ),
    async ({ ask, asked }) => {
      const ways = async (more: Record<string, unknown>, key?: string) => {
        const before = asked.length;
        const response = await ask("chat", more, key);
        const { error } = await response.json();
        return [
          response.status,
          error?.message ?? asked.slice(before).map(({ body }) => body.model).join(),
        ];
      };
      assertEquals(await ways({}, LISTED), [200, "first"]);
      // Known at the second provider alone.
      assertEquals(await ways({ models: ["large-2"] }, LISTED), [200, "second"]);
      assertEquals(await ways({ models: ["large-1"] }, LISTED), [200, "first"]);
      assertEquals(await ways({ models: ["large-2"] }), [200, "first"]);
      const [status, message] = await ways({ models: ["large-2", "large-1"] }, LISTED);
      assertEquals(status, 404);
      assertStringIncludes(message, 'Cannot use models[1]: no provider of chat/small has model "large-1"');
    },
    {
      models: [
        {
          id: "chat/small",
          routes: [
            { provider: "responses", model: "first", api: "openai-chat" },
            { provider: "chat", model: "second" },
          ],
        },
        { id: "a/large", routes: [{ provider: "chat", model: "large-2" }] },
        { id: "b/large", routes: [{ provider: "responses", model: "large-1", api: "openai-chat" }] },
      ],
    },
  ));

Deno.test("words of the caller's own are no names of models, and fields that no provider is told are not looked at", () =>
  onGateway(
    (format, { body }) =>
      answerOf(format, "small-1", { input_tokens: 1, output_tokens: 1 }, body.stream === true),
    async ({ ask }) => {
      const model = { type: "string", enum: ["hidden-1"], model: "hidden-1" };
      const schema = { type: "object", properties: { model } };
      const harmless: [Format, Record<string, unknown>][] = [
        ["chat", {
          metadata: { model: "hidden-1" },
          models: [],
          provider: { ignore: ["hidden-1"] },
          plugins: { auto: { excluded_models: ["hidden-1"] } },
          tools: [{ type: "function", function: { name: "f", parameters: schema }, model: "hidden-1" }],
          response_format: { type: "json_schema", json_schema: { name: "s", schema } },
          messages: [{ role: "assistant", content: "a", model: "hidden-1" }, ...HELLO],
        }],
        ["messages", {
          tools: [{ name: "f", input_schema: schema, input_examples: [{ model: "hidden-1" }] }],
          mcp_servers: [{ type: "url", url: "https://example.com", headers: { model: "hidden-1" } }],
          messages: [...HELLO, {
            role: "assistant",
            model: "hidden-1",
            content: [{ type: "fallback", from: { model: "hidden-1" }, to: { model: "small-1" } }, {
              type: "text",
              text: "a",
            }],
          }, ...HELLO],
        }],
        ["responses", {
          moderation: { model: "omni-moderation-latest" },
          prompt: { id: "pmpt_1", variables: { model: "hidden-1" } },
          prompt_cache_options: { models: null },
        }],
      ];
      for (const [format, more] of harmless) {
        const response = await ask(format, more, LISTED);
        assertEquals(response.status, 200, await response.text());
      }
      // Its provider speaks another format, and is told nothing of the field.
      const elsewhere = await ask("chat", { model: "messages/small", models: ["hidden-1"] }, LISTED);
      assertEquals(elsewhere.status, 200, await elsewhere.text());
      assertStringIncludes(elsewhere.headers.get("x-svc-dropped")!, "models");
    },
  ));

Deno.test("a provider's own name for a model counts before a catalog id that is spelled so", () =>
  onGateway(
    (format) => answerOf(format, "small-1", { input_tokens: 1, output_tokens: 1 }, false),
    async ({ ask }) => {
      const refused = await ask("chat", { models: ["chat/large"] }, NARROW);
      assertEquals(refused.status, 404, await refused.text());
    },
    {
      models: [["small", "small-1"], ["large", "large-1"], ["hidden", "chat/large"]].map(([id, model]) => ({
        id: `chat/${id}`,
        routes: [{ provider: "chat", model }],
      })),
      keys: [{ name: "narrow", secret: NARROW, models: ["chat/small", "chat/large"] }],
      teams: [],
    },
  ));
