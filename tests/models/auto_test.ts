import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { Prompt, Turn } from "../../src/exchange/prompt.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";
import { type AutoRequest, openAuto } from "../../src/models/auto.ts";
import { type Model, openCatalog } from "../../src/models/catalog.ts";
import { measure } from "../../src/models/limits.ts";

const model = (id: string, price: string, more: Partial<Model> = {}): Model => ({
  id,
  name: id,
  routes: [],
  contextLength: 100_000,
  maxCompletion: 4000,
  pricing: { prompt: price, completion: price },
  inputs: ["text"],
  outputs: ["text"],
  features: new Set(["tools"]),
  efforts: null,
  parameters: {},
  stickyCache: true,
  shortNames: [],
  ...more,
});

const user = (text: string): Turn => ({ role: "user", content: [{ type: "text", text }] });

function request(more: Partial<Prompt>, rest: Partial<AutoRequest> = {}): AutoRequest {
  const prompt: Prompt = {
    format: "chat_completions",
    model: "svc/auto",
    stream: false,
    turns: [user("What is the capital of France?")],
    tools: [],
    verbatim: {},
    unknown: {},
    ...more,
  };
  const body = {
    messages: prompt.turns.map(({ role, content }) => ({
      role,
      content: content.filter((c) => c.type === "text"),
    })),
  };
  const limits = { maxTextChars: 1e9, maxFileBytes: 1e9, maxMessages: 1e6 };
  const size = measure(prompt, readLeaves(body, LEAVES.chat_completions), limits);
  return {
    prompt,
    size,
    access: { models: null, accessPolicy: null, team: null },
    searches: false,
    healthy: () => true,
    ...rest,
  };
}

const MODELS = [
  model("a/cheap", "0.0000001"),
  model("a/dear", "0.00001", {
    inputs: ["text", "image"],
    features: new Set(["tools", "prompt_caching", "structured_outputs"]),
  }),
];
const router = (quality: number, models = MODELS) =>
  openAuto({ models: models.map((m) => m.id), quality }, openCatalog(models, [], 0));

Deno.test("openAuto() goes from the cheapest to the best with quality", () => {
  assertEquals(router(0)(request({})).model.id, "a/cheap");
  assertEquals(router(1)(request({})).model.id, "a/dear");
});

Deno.test("openAuto() stays with one model for a whole conversation", () => {
  const hard = "Prove that every group of order 45 is abelian. ".repeat(3);
  for (const first of ["Good morning", hard]) {
    const choose = router(0.5);
    const before = choose(request({ turns: [user(first)] })).route;
    const after = choose(request({
      turns: [
        user(first),
        { role: "assistant", content: [{ type: "text", text: "Yes." }] },
        user("Thanks. Now compute 17^43 mod 91."),
      ],
    })).route;
    assertEquals(after, before);
  }
});

Deno.test("openAuto() takes only models that fit, and says why it chose", () => {
  const image: Turn = {
    role: "user",
    content: [{ type: "text", text: "What is it?" }, {
      type: "image",
      source: { kind: "url", url: "https://a.example/x.png" },
    }],
  };
  const chosen = router(0)(request({ turns: [image] }));
  assertEquals(chosen.model.id, "a/dear");
  assertMatch(chosen.route, /^a\/dear \S+,gain:[\d.]+,quality:0,of:1$/);
});

function under(accessPolicy: AutoRequest["access"]["accessPolicy"]): AutoRequest {
  return request({}, { access: { models: null, accessPolicy, team: null } });
}

const CASES: [string, string, AutoRequest][] = [
  ["auto_routing_missing_context", "no user text", request({ turns: [] })],
  [
    "auto_routing_no_match",
    "a modality that nobody takes",
    request({
      turns: [{
        role: "user",
        content: [{ type: "text", text: "x" }, {
          type: "audio",
          source: { kind: "base64", mediaType: "audio/wav", data: "" },
        }],
      }],
    }),
  ],
  ["auto_routing_no_match", "nobody healthy", request({}, { healthy: () => false })],
  ["policy_violation", "a policy that does not exist", under("missing")],
  ["policy_violation", "a policy that allows none", under({ allow: ["b/*"], deny: [] })],
  ["policy_violation", "a policy that denies it by name", under({ allow: ["*"], deny: ["svc/*"] })],
  [
    "policy_violation",
    "a team's policy that denies it by name",
    request({}, {
      access: {
        models: null,
        accessPolicy: null,
        team: { models: null, accessPolicy: { allow: ["*"], deny: ["svc/auto"] } },
      },
    }),
  ],
  [
    "auto_routing_request_too_large",
    "a prompt over every context",
    request({ turns: [user("word ".repeat(400_000))] }),
  ],
  [
    "auto_routing_caching_unavailable",
    "a cache mark where only the cheap one is seen",
    request(
      { turns: [{ role: "user", content: [{ type: "text", text: "x", cache: {} }] }] },
      { access: { models: ["a/cheap", "svc/auto"], accessPolicy: null, team: null } },
    ),
  ],
  [
    "model_not_found",
    "a key that sees none",
    request({}, { access: { models: ["b/*", "svc/auto"], accessPolicy: null, team: null } }),
  ],
];

for (const [code, situation, asked] of CASES) {
  Deno.test(`openAuto() refuses with ${code}: ${situation}`, () => {
    assertEquals(assertThrows(() => router(0.5)(asked), Failure).code, code);
  });
}

Deno.test("openAuto() leaves room for the answer that is asked for", () => {
  const models = [
    model("a/small", "0.0000001", { contextLength: 1000 }),
    model("a/large", "0.00001", { contextLength: 9000, maxCompletion: 8000 }),
  ];
  const chosen = (maxOutput: number) => router(0, models)(request({ maxOutput })).model.id;
  assertEquals([chosen(500), chosen(999)], ["a/small", "a/large"]);
  // A model that cannot say more needs no room for more.
  const brief = [model("a/brief", "0.0000001", { contextLength: 1000, maxCompletion: 100 }), models[1]];
  assertEquals(router(0, brief)(request({ maxOutput: 5000 })).model.id, "a/brief");
});

Deno.test("openAuto() looks into results, and asks for reasoning only where it is wished", () => {
  const image: Turn = {
    role: "user",
    content: [{
      type: "result",
      callId: "c",
      kind: "function",
      isError: false,
      content: [{ type: "image", source: { kind: "url", url: "https://a.example/x.png" } }],
    }],
  };
  assertEquals(router(0)(request({ turns: [user("What is it?"), image] })).model.id, "a/dear");
  const thinking = [MODELS[0], model("a/thinks", "0.00001", { features: new Set(["reasoning"]) })];
  const chosen = (reasoning: Prompt["reasoning"]) => router(0, thinking)(request({ reasoning })).model.id;
  assertEquals(chosen({ effort: "high" }), "a/thinks");
  assertEquals(chosen({ mode: "off", effort: "high" }), "a/cheap");
  assertEquals(chosen({ effort: "none" }), "a/cheap");
  assertEquals(chosen({}), "a/cheap");
});

Deno.test("openAuto() gives a conversation with tool calls to a model with tools, also where none is declared any more", () => {
  const choose = router(0, [model("a/plain", "0.0000001", { features: new Set() }), MODELS[1]]);
  const call = { type: "call", id: "c", name: "f", kind: "function", arguments: "{}" } as const;
  const result = {
    type: "result",
    callId: "c",
    name: "f",
    kind: "function",
    content: [{ type: "text", text: "done" }],
    isError: false,
  } as const;
  const turns: Turn[] = [
    user("Do it."),
    { role: "assistant", content: [call] },
    { role: "user", content: [{ ...result, content: [...result.content] }] },
  ];
  assertEquals(choose(request({ turns })).model.id, "a/dear");
  assertEquals(choose(request({ turns: [user("Do it.")] })).model.id, "a/plain");
});
