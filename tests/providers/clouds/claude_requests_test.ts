/** What Claude Code sends, and Claude's endpoints on Vertex AI and Bedrock reject. */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import { BEDROCK } from "../../../src/providers/clouds/bedrock.ts";
import { VERTEX } from "../../../src/providers/clouds/vertex.ts";

const MARK = { type: "ephemeral", scope: "global", ttl: "1h" };
const PLAIN = { type: "ephemeral", ttl: "1h" };
const body = (cache_control: unknown) => ({
  max_tokens: 9,
  system: [{ type: "text", text: "s", cache_control }, { type: "text", text: "t" }],
  messages: [
    { role: "user", content: [{ type: "text", text: "x", cache_control }] },
    { role: "assistant", content: "y" },
  ],
  tools: [{ name: "f", input_schema: { type: "object" }, cache_control }],
});

const SETTINGS = {
  api: null,
  project: "p",
  location: "global",
  region: "eu-central-1",
  resource: null,
  deployments: [],
};
const CLOUDS = { vertex: VERTEX.open(SETTINGS as never), bedrock: BEDROCK.open(SETTINGS as never) };

function sent(
  cloud: keyof typeof CLOUDS,
  betas?: string,
): { body: Loose; headers?: Loose; dropped: readonly string[] } {
  const api = CLOUDS[cloud].api("anthropic-messages", "claude-sonnet-4-5");
  const request = {
    body: { ...body(MARK), model: "claude-sonnet-4-5" },
    headers: { "anthropic-version": "2023-06-01", ...(betas !== undefined && { "anthropic-beta": betas }) },
    dropped: [],
  };
  return api.finish!(request, "claude-sonnet-4-5", undefined as never);
}

for (const cloud of ["vertex", "bedrock"] as const) {
  Deno.test(`${cloud}: cache breakpoints have no scope`, () => {
    const { anthropic_version: _, ...rest } = sent(cloud).body;
    assertEquals(rest, body(PLAIN));
  });
}

Deno.test("vertex: beta features that it rejects are left out", () => {
  const many = sent(
    "vertex",
    "claude-code-20250219, prompt-caching-scope-2026-01-05,structured-outputs-2025-12-15,interleaved-thinking-2025-05-14",
  );
  assertEquals(many.headers, { "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14" });
  assertEquals(many.dropped, ["anthropic-beta"]);
  const one = sent("vertex", "prompt-caching-2024-07-31");
  assertEquals([one.headers, one.dropped], [{}, ["anthropic-beta"]]);
  const good = sent("vertex", "context-1m-2025-08-07");
  assertEquals([good.headers, good.dropped], [{ "anthropic-beta": "context-1m-2025-08-07" }, []]);
  assertEquals([sent("vertex").headers, sent("vertex").dropped], [{}, []]);
});
