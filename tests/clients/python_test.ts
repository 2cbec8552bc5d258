/**
 * The Python clients, in front of provider APIs: whole and streamed answers, reasoning, searches, tools, structured output,
 * lists of models, and the class that each raises for each kind of failure. They are installed once into a cache; where there is no
 * Python, or no index to install from, these tests say so and are skipped. `SLUICE_PYTHON_CLIENTS=skip` skips them.
 */
import { assert, assertEquals } from "@std/assert";
import { searchStage } from "./search_stage.ts";
import { refusal, SECRET, stage } from "./support.ts";
import type { Line, ScriptedApi } from "../support/script/mod.ts";
import { python } from "./python/environment.ts";

const CLIENTS = new URL("./python/clients.py", import.meta.url).pathname;
/** Interpreters start slowly on a busy machine. */
const RUN_MS = 240_000;

interface Seen {
  model: string;
  name: string;
  saw?: unknown;
  threw?: { bases?: string[]; status?: number | null; trace?: string };
  message?: string;
}

async function run(executable: string, args: readonly string[]): Promise<Seen[]> {
  const signal = AbortSignal.timeout(RUN_MS);
  const command = new Deno.Command(executable, {
    args: [CLIENTS, ...args],
    env: { PYTHONWARNINGS: "ignore", PYTHONDONTWRITEBYTECODE: "1" },
    signal,
    stdin: "null",
  });
  const { stdout, stderr } = await command.output();
  const lines = new TextDecoder().decode(stdout).split("\n").filter((line) => line.startsWith("{"));
  assert(lines.length > 0, new TextDecoder().decode(stderr).slice(-2000));
  return lines.map((line) => JSON.parse(line));
}

const executable = await python();
const ignore = executable === null;
const ADDRESS = { city: "Oslo" };
const CALL: Line = { calls: [{ id: "call_Kx1aB2cD3eF4", name: "weather", input: ADDRESS }] };
const TEXT: Line = {
  reasoning: { text: "Rain means an umbrella.", proof: "EqQBCkYIBxgCKkDcW1==" },
  text: "Take an umbrella.",
};

async function sees(which: string, line: Line, api: ScriptedApi, expected: unknown): Promise<void> {
  await using at = await stage(api, new Array(80).fill(line));
  const seen = await run(executable!, [at.url, SECRET, at.model, which]);
  for (const { name, saw, threw, message } of seen) {
    assertEquals(saw, expected, `${name} at ${api}: ${message ?? ""} ${threw?.trace ?? ""}`);
  }
}

// A run takes half a minute, most of it for imports; the clients in JavaScript are in front of the other APIs, too.
for (const api of ["gemini", "anthropic-messages"] as const) {
  Deno.test({
    name: `Python clients read answers of ${api}, whole and streamed`,
    ignore,
    fn: () => sees("text", TEXT, api, "Take an umbrella."),
  });
}
Deno.test({
  name: "Python clients read tool calls",
  ignore,
  fn: () => sees("tool", CALL, "anthropic-messages", ADDRESS),
});
Deno.test({
  name: "Python clients read structured output",
  ignore,
  fn: () => sees("shape", { text: JSON.stringify(ADDRESS) }, "openai-chat", ADDRESS),
});
Deno.test({
  name: "Python clients list the models",
  ignore,
  fn: () => sees("list", TEXT, "openai-responses", ["p/model"]),
});

Deno.test({
  name: "Python clients read reasoning",
  ignore,
  fn: () => sees("reasoning", TEXT, "anthropic-messages", "Rain means an umbrella."),
});

Deno.test({
  name: "Python clients read answers with searches, and send them back",
  ignore,
  async fn() {
    await using at = await searchStage();
    const seen = await run(executable!, [at.url, SECRET, at.model, "search"]);
    assert(seen.length > 8, String(seen.length));
    for (const { name, saw, threw, message } of seen) {
      assert(String(saw).endsWith("Found it."), `${name}: ${saw} ${message ?? ""} ${threw?.trace ?? ""}`);
    }
  },
});

/** What the provider answers for each of the models of the next test, and the classes by which applications tell it. */
const FAILURES: readonly [string, Line, readonly (readonly [RegExp, string])[]][] = [
  ["overflow", refusal(400, "prompt is too long: 210001 tokens > 200000 maximum"), [
    [/^langchain_(?:chat|responses)/, "ContextOverflowError"],
    [/^litellm_/, "ContextWindowExceededError"],
    [/^(?:anthropic|langchain)_/, "ContentTooLargeError"],
    [/./, "APIStatusError"],
  ]],
  ["limit", refusal(429, "Slow down.", { "retry-after": "7" }), [[/./, "RateLimitError"]]],
  ["refusal", () =>
    Response.json(
      { error: { message: "Your request was flagged by our moderation.", code: "content_policy_violation" } },
      { status: 403 },
    ), [[/^litellm_/, "APIError"], [/./, "PermissionDeniedError"]]],
  ["bad", refusal(400, "Unsupported value."), [[/./, "BadRequestError"]]],
  ["down", refusal(500, "The server had an error."), [[/^litellm_/, "APIError"], [
    /./,
    "InternalServerError",
  ]]],
  ["auth", TEXT, [[/./, "AuthenticationError"]]],
];

Deno.test({
  name: "Python clients raise their own class for each kind of failure",
  ignore,
  async fn() {
    const models = FAILURES.map(([kind]) => ({ id: `p/${kind}`, routes: [{ provider: "p", model: kind }] }));
    const line: Line = (sent) => {
      const [, answer] = FAILURES.find(([kind]) => kind === sent.body.model)!;
      return typeof answer === "function" ? answer(sent) : Response.json({}, { status: 500 });
    };
    await using at = await stage("openai-responses", new Array(1000).fill(line), { models });
    const ids = models.map(({ id }) => id).join();
    const seen = await run(executable!, [at.url, SECRET, ids, "error"]);
    assert(seen.length > 120, String(seen.length));
    for (const { model, name, saw, threw, message = "" } of seen) {
      assertEquals(saw, undefined, `${model} ${name}`);
      const [, , classes] = FAILURES.find(([kind]) => model === `p/${kind}`)!;
      // Pydantic AI has one class for all.
      const expected = name.startsWith("pydantic_ai_")
        ? "ModelHTTPError"
        : classes.find(([pattern]) => pattern.test(name))![1];
      assert(threw?.bases?.includes(expected), `${model} ${name}: ${threw?.bases} ${message}`);
      if (model === "p/overflow") {
        assert(message.includes("210001 tokens > 200000 maximum"), `${name}: ${message}`);
      }
    }
  },
});
