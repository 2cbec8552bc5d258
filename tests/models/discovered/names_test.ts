/** Providers' names of models, and the ids that they come to. */
import { assertEquals } from "@std/assert";
import { answersConversations, idOf, undated } from "../../../src/models/discovered/names.ts";

const NAMES: [preset: string | null, provider: string, model: string, id: string][] = [
  ["anthropic", "anthropic", "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5-20250929"],
  [
    "bedrock",
    "bedrock",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "anthropic/claude-sonnet-4-5-20250929",
  ],
  ["bedrock", "aws", "anthropic.claude-opus-4-6-v1", "anthropic/claude-opus-4-6"],
  ["bedrock", "aws", "meta.llama3-3-70b-instruct-v1:0", "meta/llama3-3-70b-instruct"],
  ["bedrock", "aws", "amazon.nova-pro-v1:0:24k", "amazon/nova-pro"],
  ["bedrock", "aws", "openai.gpt-oss-120b-1:0", "openai/gpt-oss-120b-1:0"],
  ["vertex", "vertex", "claude-sonnet-4-5@20250929", "anthropic/claude-sonnet-4-5-20250929"],
  ["vertex", "vertex", "claude-opus-4-6@default", "anthropic/claude-opus-4-6"],
  ["vertex", "vertex", "gemini-2.5-pro", "google/gemini-2.5-pro"],
  ["azure", "azure", "gpt-4.1", "openai/gpt-4.1"],
  ["openrouter", "openrouter", "anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4-5"],
  ["openrouter", "openrouter", "x-ai/grok-4", "xai/grok-4"],
  ["openrouter", "openrouter", "qwen/qwen3-8b", "alibaba/qwen3-8b"],
  // A name that JavaScript's objects have.
  ["openrouter", "openrouter", "constructor/x", "constructor/x"],
  ["fireworks", "fireworks", "accounts/fireworks/models/kimi-k2", "moonshot/kimi-k2"],
  ["cloudflare", "cloudflare", "@cf/meta/llama-3.2-3b-instruct", "meta/llama-3.2-3b-instruct"],
  ["databricks", "databricks", "databricks-claude-opus-4-6", "anthropic/claude-opus-4-6"],
  ["groq", "groq", "llama-3.3-70b-versatile", "meta/llama-3.3-70b-versatile"],
  ["groq", "groq", "openai/gpt-oss-120b", "openai/gpt-oss-120b"],
  ["groq", "groq", "allam-2-7b", "groq/allam-2-7b"],
  ["huggingface", "hf", "deepseek-ai/DeepSeek-V3", "deepseek/DeepSeek-V3"],
  ["openai", "work", "gpt-5", "openai/gpt-5"],
  // What is behind these nobody knows.
  ["ollama", "ollama", "qwen3:8b", "ollama/qwen3:8b"],
  ["vllm", "lab", "Qwen/Qwen3-8B", "lab/Qwen/Qwen3-8B"],
  [null, "corp proxy", "gpt-4.1", "corp-proxy/gpt-4.1"],
];

for (const [preset, provider, model, id] of NAMES) {
  Deno.test(`idOf() ${preset ?? "an unknown preset"}: ${model}`, () =>
    assertEquals(idOf(preset, provider, model), id));
}

Deno.test("undated() takes a date off and nothing else", () => {
  assertEquals(undated("a/x-20250929"), "a/x");
  assertEquals(undated("a/x-2024-08-06"), "a/x");
  for (const id of ["a/x-0905", "a/x-12345678", "a/x-2025", "a/x"]) assertEquals(undated(id), id);
});

Deno.test("answersConversations() knows what embeds, draws, speaks and transcribes", () => {
  const others =
    "text-embedding-3-small whisper-1 tts-1-hd gpt-4o-mini-tts dall-e-3 gpt-image-1 omni-moderation-latest gpt-realtime gpt-4o-transcribe sora-2 babbage-002 imagen-4.0 veo-3.0-generate mistral-ocr-latest BAAI/bge-m3 rerank-v3.5 gemini-embedding-001"
      .split(" ");
  assertEquals(others.filter(answersConversations), []);
  const models =
    "gpt-5 gpt-4o-audio-preview claude-sonnet-4-5 gemini-2.5-flash-image grok-4 llama-3.1-8b-instruct o3 command-r oliver-1 mixtral-8x7b"
      .split(" ");
  assertEquals(models.filter((name) => !answersConversations(name)), []);
});
