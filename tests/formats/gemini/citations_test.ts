import { assertEquals } from "@std/assert";
import { addSources, decodeCitations, type Sources } from "../../../src/formats/gemini/citations.ts";
import { collect } from "../../../src/exchange/answer.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { gemini } from "../../../src/formats/gemini/mod.ts";

const web = (uri: string, title?: string) => ({ web: { uri, title } });

Deno.test("decodeCitations() turns byte offsets into UTF-16 indices", () => {
  const text = "Ä 😀 fünf. Zwei – drei.";
  const byte = (unit: number) => new TextEncoder().encode(text.slice(0, unit)).length;
  for (let start = 0; start < text.length; start++) {
    // Not inside the surrogate pair, where no byte offset can point.
    if (start === 3) continue;
    const segment = { startIndex: byte(start), endIndex: byte(text.length) };
    const [citation] = decodeCitations({
      grounding: {
        groundingChunks: [web("u")],
        groundingSupports: [{ segment, groundingChunkIndices: [0] }],
      },
    }, text);
    assertEquals([citation.start, citation.end], [start, text.length]);
  }
});

Deno.test("decodeCitations() trusts the words of a segment above its offsets", () => {
  const text = "one two one three";
  const cite = (segment: Record<string, unknown>) => {
    const [c] = decodeCitations({
      grounding: {
        groundingChunks: [web("u")],
        groundingSupports: [{ segment, groundingChunkIndices: [0] }],
      },
    }, text);
    return [c.start, c.end];
  };
  assertEquals(cite({ startIndex: 10, endIndex: 13, text: "one" }), [8, 11]);
  assertEquals(cite({ endIndex: 3, text: "one" }), [0, 3]);
  assertEquals(cite({ startIndex: 14, endIndex: 17, text: "two" }), [4, 7]);
  assertEquals(cite({ startIndex: 4, endIndex: 900, text: "absent" }), [4, text.length]);
  assertEquals(cite({ startIndex: 9, endIndex: 2 }), [9, 9]);
  const inside = decodeCitations({
    grounding: {
      groundingChunks: [web("u")],
      groundingSupports: [{ segment: { startIndex: 7, endIndex: 10 }, groundingChunkIndices: [0] }],
    },
  }, "x – 😀 y");
  assertEquals([inside[0].start, inside[0].end], [4, 6], "an offset inside a character is the character's");
  assertEquals(cite({ startIndex: -5, endIndex: 1e300 }), [0, text.length]);
});

Deno.test("decodeCitations() names every source: pages, files, recited works, fetched addresses", () => {
  const sources: Sources = {};
  addSources(sources, {
    groundingMetadata: {
      groundingChunks: [
        web("https://a", "A"),
        { retrievedContext: { title: "paper.pdf", text: "words" } },
        { maps: { uri: "https://m", title: "M" } },
        { web: {} },
      ],
      groundingSupports: [{ segment: { endIndex: 2 }, groundingChunkIndices: [1, 0, 7] }],
    },
    citationMetadata: {
      citations: [{}, { uri: "https://r", startIndex: 1, endIndex: 2 }],
      citationSources: [{ uri: "https://s" }],
    },
    urlContextMetadata: {
      urlMetadata: [
        { retrievedUrl: "https://a", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS" },
        { retrievedUrl: "https://f", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS" },
        { retrievedUrl: "https://no", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_ERROR" },
      ],
    },
  });
  const citations = decodeCitations(sources, "text");
  assertEquals(citations, [
    { kind: "file", url: undefined, title: "paper.pdf", quote: "words", start: 0, end: 2 },
    { kind: "url", url: "https://a", title: "A", start: 0, end: 2 },
    { kind: "url", url: "https://m", title: "M" },
    { kind: "url", url: "https://r", title: undefined, start: 1, end: 2 },
    { kind: "url", url: "https://s", title: undefined },
    { kind: "url", url: "https://f" },
  ]);
});

Deno.test("decodeAnswer() counts a citation's place from the start of its block", () => {
  const body = {
    candidates: [{
      content: { parts: [{ text: "Größe", thoughtSignature: "S" }, { text: "Ä und B" }] },
      finishReason: "STOP",
      groundingMetadata: {
        groundingChunks: [web("https://in"), web("https://before")],
        groundingSupports: [
          { segment: { startIndex: 9, endIndex: 14, text: " und " }, groundingChunkIndices: [0] },
          { segment: { startIndex: 0, endIndex: 3, text: "Gr" }, groundingChunkIndices: [1] },
        ],
      },
    }],
  };
  const [first, second] = collect(gemini.decodeAnswer(body)).choices[0].blocks;
  assertEquals(first.type === "text" && first.citations, []);
  assertEquals(second.type === "text" && second.citations, [
    { kind: "url", url: "https://in", title: undefined, start: 1, end: 6 },
    { kind: "url", url: "https://before", title: undefined },
  ]);
});

Deno.test("gemini.decodeStream() keeps sources that an earlier chunk named", () => {
  const decoder = gemini.decodeStream();
  const parts: Part[] = [];
  const push = (text: string, candidate: Loose) =>
    decoder.push({
      event: "",
      data: JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, ...candidate }] }),
    }, parts);
  const recited = (uri: string, startIndex: number, endIndex: number) => ({ uri, startIndex, endIndex });
  const read = (retrievedUrl: string) => ({ urlMetadata: [{ retrievedUrl }] });
  push("one ", {
    groundingMetadata: {
      groundingChunks: [web("https://a")],
      groundingSupports: [{ segment: { endIndex: 3, text: "one" }, groundingChunkIndices: [0] }],
    },
    citationMetadata: { citations: [recited("https://r", 0, 3)] },
    urlContextMetadata: read("https://u"),
  });
  push("two", {
    groundingMetadata: { webSearchQueries: ["q"], groundingChunks: [] },
    citationMetadata: { citations: [recited("https://r", 0, 3), recited("https://s", 4, 7)] },
    urlContextMetadata: read("https://v"),
  });
  push("", { finishReason: "STOP", groundingMetadata: {}, citationMetadata: {}, urlContextMetadata: {} });
  decoder.end(parts);
  const [block] = collect(parts).choices[0].blocks;
  assertEquals(block.type === "text" && block.citations.map((c) => [c.url, c.start, c.end]), [
    ["https://a", 0, 3],
    ["https://r", 0, 3],
    ["https://s", 4, 7],
    ["https://u", undefined, undefined],
    ["https://v", undefined, undefined],
  ]);
});

Deno.test("decodeAnswer() keeps the sources of an answer that ends in a call", () => {
  const body = {
    candidates: [{
      content: { parts: [{ text: "a" }, { functionCall: { name: "f" } }] },
      finishReason: "STOP",
      groundingMetadata: { groundingChunks: [web("https://a")] },
    }],
  };
  const blocks = collect(gemini.decodeAnswer(body)).choices[0].blocks;
  assertEquals(blocks.map((b) => b.type), ["text", "call", "text"]);
  assertEquals(blocks.flatMap((b) => b.type === "text" ? b.citations.map((c) => c.url) : []), ["https://a"]);
});

Deno.test("decodeAnswer() finds a segment in the part that its partIndex names", () => {
  // Offsets count bytes of the part (types of @google/genai 3.3).
  const parts = [{ text: "Thinking.", thought: true }, { text: "Käse, ja. " }, {
    text: "Brot, ja. Käse, ja.",
  }];
  const cite = (segment: Loose) => {
    const groundingMetadata = {
      groundingChunks: [web("https://a", "A")],
      groundingSupports: [{ segment, groundingChunkIndices: [0] }],
    };
    const body = { candidates: [{ content: { parts }, finishReason: "STOP", groundingMetadata }] };
    const block = collect(gemini.decodeAnswer(body)).choices[0].blocks.at(-1);
    if (block?.type !== "text") throw new Error("no text");
    const [{ start, end }] = block.citations;
    return [start, block.text.slice(start, end)];
  };
  assertEquals(cite({ partIndex: 1, endIndex: 5, text: "Käse" }), [0, "Käse"]);
  assertEquals(cite({ partIndex: 2, endIndex: 4, text: "Brot" }), [10, "Brot"]);
  assertEquals(cite({ partIndex: 2, startIndex: 10, endIndex: 15, text: "Käse" }), [20, "Käse"]);
  assertEquals(cite({ partIndex: 2, startIndex: 10, endIndex: 15 }), [20, "Käse"], "without its words");
  assertEquals(
    cite({ partIndex: 2, startIndex: 11, endIndex: 15, text: "Brot" }),
    [10, "Brot"],
    "of the whole text",
  );
  assertEquals(
    cite({ partIndex: 9, startIndex: 11, endIndex: 15, text: "Brot" }),
    [10, "Brot"],
    "no such part",
  );
});
