import { assertEquals } from "@std/assert";
import { NO_USAGE } from "../../../src/exchange/usage.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { gemini } from "../../../src/formats/gemini/mod.ts";
import { decodeUsage, mergeUsage, serviceOf } from "../../../src/formats/gemini/usage.ts";

Deno.test("decodeUsage() adds thoughts to output and what tools read to input", () => {
  assertEquals(
    decodeUsage({
      promptTokenCount: 100,
      toolUsePromptTokenCount: 20,
      cachedContentTokenCount: 30,
      candidatesTokenCount: 7,
      thoughtsTokenCount: 40,
      totalTokenCount: 167,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: 60 }, { modality: "IMAGE", tokenCount: 25 }, {
        modality: 4,
        tokenCount: 15,
      }],
      toolUsePromptTokensDetails: [{ modality: "VIDEO", tokenCount: 5 }, { modality: 2, tokenCount: 1 }],
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 4 }, { modality: "AUDIO", tokenCount: 2 }],
    }),
    {
      ...NO_USAGE,
      input: 120,
      cached: 30,
      imageInput: 26,
      audioInput: 15,
      videoInput: 5,
      output: 47,
      reasoning: 40,
      imageOutput: 4,
      audioOutput: 2,
    },
  );
});

Deno.test("mergeUsage() keeps the last value of each field", () => {
  const sofar = {};
  mergeUsage(sofar, { promptTokenCount: 9, totalTokenCount: 9 });
  mergeUsage(sofar, { trafficType: "ON_DEMAND" });
  mergeUsage(sofar, { promptTokenCount: 9, candidatesTokenCount: 3, thoughtsTokenCount: 5 });
  mergeUsage(sofar, { candidatesTokenCount: 8, thoughtsTokenCount: null });
  mergeUsage(sofar, null);
  assertEquals(decodeUsage(sofar), { ...NO_USAGE, input: 9, output: 13, reasoning: 5 });
});

Deno.test("decodeUsage() is null without counts", () => {
  assertEquals(decodeUsage({}), null);
  const sofar = {};
  mergeUsage(sofar, { trafficType: "ON_DEMAND", totalTokenCount: 4 });
  assertEquals(decodeUsage(sofar), null);
});

Deno.test("serviceOf() names the tier that Google served, under its name in prices", () => {
  const named: [string | undefined, ReturnType<typeof JSON.parse>][] = [
    ["flex", { serviceTier: "flex" }],
    ["priority", { serviceTier: "PRIORITY" }],
    ["flex", { trafficType: "ON_DEMAND_FLEX" }],
    ["priority", { serviceTier: "standard", trafficType: "ON_DEMAND_PRIORITY" }],
    ["offpeak", { trafficType: "ON_DEMAND_OFFPEAK" }],
    ["standard", { serviceTier: "standard" }],
    ["standard", { trafficType: "ON_DEMAND" }],
    ["standard", { trafficType: "PROVISIONED_THROUGHPUT" }],
    [undefined, { serviceTier: "unspecified", trafficType: "TRAFFIC_TYPE_UNSPECIFIED" }],
    [undefined, {}],
  ];
  for (const [tier, metadata] of named) assertEquals(serviceOf(metadata), tier, JSON.stringify(metadata));
});

/** The searches in the report of an answer that came in these chunks. */
function searchesOf(chunks: readonly Record<string, unknown>[]): number | undefined {
  const decoder = gemini.decodeStream();
  const parts: Part[] = [];
  for (const chunk of chunks) decoder.push({ event: "", data: JSON.stringify(chunk) }, parts);
  decoder.end(parts);
  for (const part of parts) if (part.type === "usage") return part.searches;
}

Deno.test("searches of Google's own are its queries, each once, of all candidates", () => {
  const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 3 };
  const said = (text: string, more: Record<string, unknown> = {}) => ({
    content: { parts: [{ text }] },
    ...more,
  });
  const grounded = (...webSearchQueries: unknown[]) => ({ groundingMetadata: { webSearchQueries } });
  const end = { finishReason: "STOP" };
  const cases: [number | undefined, Record<string, unknown>[]][] = [
    [undefined, [said("a", end)]],
    [undefined, [said("a", { ...end, groundingMetadata: { groundingChunks: [] } })]],
    [2, [said("a", { ...end, ...grounded("one", "two") })]],
    // Streams repeat what they have said.
    [2, [said("a", grounded("one")), said("b", grounded("one", "two")), said("", { ...end, ...grounded() })]],
    [1, [said("a", { ...end, ...grounded("one", "one", "", " ", null, 7) })]],
    [2, [said("a", { ...end, groundingMetadata: { webSearchQueries: ["one"], imageSearchQueries: ["b"] } })]],
  ];
  for (const [wanted, candidates] of cases) {
    const chunks = candidates.map((candidate) => ({ candidates: [candidate], usageMetadata }));
    assertEquals(searchesOf(chunks), wanted, JSON.stringify(candidates));
  }
  const two = [0, 1].map((index) => ({ index, ...said("a", { ...end, ...grounded("one") }) }));
  assertEquals(searchesOf([{ candidates: two, usageMetadata }]), 2);
  const [, , [, several]] = cases;
  for (
    const [model, wanted] of [
      ["gemini-2.5-flash", 1],
      ["gemini-2.0-flash-001", 1],
      ["publishers/google/models/gemini-1.5-pro", 1],
      ["gemini-3-flash-preview", 2],
      ["gemini-3.1-pro", 2],
    ] as const
  ) {
    const chunks = several.map((candidate) => ({
      candidates: [candidate],
      usageMetadata,
      modelVersion: model,
    }));
    assertEquals(searchesOf(chunks), wanted, model);
  }
  assertEquals(searchesOf([{ candidates: two, usageMetadata, modelVersion: "gemini-2.5-pro" }]), 1);
});
