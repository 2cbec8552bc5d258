/**
 * Every row of up to three parts that a model of Gemini's API or of Converse answers with: official clients of each format hold
 * the same of the stream, however it is cut, as of the whole answer, and what they send back reaches the provider with each
 * signature on its part and each call under its id.
 */
import { assert, assertEquals } from "@std/assert";
import { array, type Loose, object } from "../../src/exchange/json.ts";
import type { Part } from "../../src/exchange/part.ts";
import type { Frame } from "../../src/formats/format.ts";
import { PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { type Caller, CALLERS, encode } from "./conversions.ts";
import { assertLegal } from "./gemini/legal_parts.ts";
import { type ClientAnswer, decode, nextRequest, streamed, whole } from "./client_answers.ts";

const frame = (data: unknown, event = ""): Frame => ({ event, data: JSON.stringify(data) });

/** A text in pieces of one character, or in two. */
const cut = (text: string, fine: boolean) =>
  (fine ? [...text] : [text.slice(0, text.length >> 1), text.slice(text.length >> 1)])
    .filter((piece) => piece !== "");

interface Api {
  name: "gemini" | "converse";
  model: string;
  parts: Readonly<Record<string, Loose>>;
  answer(parts: readonly Loose[]): Loose;
  frames(answer: Loose, parts: readonly Loose[], fine: boolean): Frame[];
  /** What its model reads in the next request as its own words. */
  history(body: Loose): Loose[];
  /** Parts with what must come back of them, but for reasoning that nothing proves; neighbouring texts as one. */
  shape(parts: readonly Loose[]): string[][];
  text(part: Loose): string;
  reasoning(part: Loose): string;
  call(part: Loose): { name: string; args: unknown; id?: string } | undefined;
}

/** Texts that nothing divides joined, also those between which only stood what does not come back. */
function joined(rows: readonly string[][]): string[][] {
  const thoughts = joinedOf("unsigned", rows, (kind) => kind === "unsigned" || kind === "thought");
  const back = thoughts.filter(([kind]) => kind !== "unsigned" && kind !== "border");
  return joinedOf("text", back, (kind) => kind === "text");
}

/** Rows of one kind that have no signature joined with the row behind them. */
function joinedOf(kind: string, rows: readonly string[][], joins: (kind: string) => boolean): string[][] {
  const out: string[][] = [];
  for (const row of rows) {
    const last = out.at(-1);
    if (last?.[0] === kind && last[2] === "" && joins(row[0])) {
      out[out.length - 1] = [row[0], last[1] + row[1], row[2]];
    } else out.push(row);
  }
  return out;
}

const GEMINI: Api = {
  name: "gemini",
  model: "gemini-3-pro-preview",
  parts: {
    thought: { text: "Thought, ", thought: true },
    signedThought: { text: "thought.", thought: true, thoughtSignature: "dHM=" },
    text: { text: "Älpha 😀, " },
    signedText: { text: "beta.", thoughtSignature: "YXM=" },
    call: { functionCall: { name: "look", args: { city: "Paris" } } },
    signedCall: { functionCall: { id: "g1", name: "look", args: { n: 1.5 } }, thoughtSignature: "Y3M=" },
    code: { executableCode: { language: "PYTHON", code: "1" } },
  },
  answer: (parts) => ({
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
    usageMetadata: {
      promptTokenCount: 30,
      cachedContentTokenCount: 8,
      toolUsePromptTokenCount: 2,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 4,
    },
    responseId: "r1",
  }),
  frames(answer, parts, fine) {
    const { usageMetadata, responseId } = answer;
    const pieces = parts.flatMap((part) => {
      if (typeof part.text !== "string") return [part];
      const { thoughtSignature, ...rest } = part;
      const texts = cut(part.text, fine);
      return texts.map((text, i) => ({
        ...rest,
        text,
        ...(i === texts.length - 1 && thoughtSignature !== undefined && { thoughtSignature }),
      }));
    });
    const chunks: Loose[] = pieces.map((part) => ({
      candidates: [{ content: { role: "model", parts: [part] }, index: 0 }],
      usageMetadata: { promptTokenCount: 30 },
      responseId,
    }));
    const end = { content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP", index: 0 };
    chunks.push({ candidates: [fine ? end : { finishReason: "STOP" }], usageMetadata, responseId });
    return chunks.map((chunk) => frame(chunk));
  },
  history: ({ contents }) =>
    array(contents).map(object).filter(({ role }) => role === "model").flatMap(({ parts }) =>
      array(parts).map(object)
    ),
  shape: (parts) =>
    joined(parts.flatMap((part) => {
      const given = String(part.thoughtSignature ?? "");
      const signature = given === "skip_thought_signature_validator" ? "" : given;
      const call = GEMINI.call(part);
      if (call) return [["call", JSON.stringify(call.args), signature]];
      if (typeof part.text !== "string") return [["border", "", ""]];
      if (part.thought !== true) return [["text", part.text, signature]];
      return [[signature === "" ? "unsigned" : "thought", part.text, signature]];
    })),
  text: (part) => typeof part.text === "string" && part.thought !== true ? part.text : "",
  reasoning: (part) => typeof part.text === "string" && part.thought === true ? part.text : "",
  call(part) {
    const call = object(part.functionCall);
    if (typeof call.name !== "string") return undefined;
    return { name: call.name, args: call.args, ...(typeof call.id === "string" && { id: call.id }) };
  },
};

const CONVERSE: Api = {
  name: "converse",
  model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  parts: {
    thought: { reasoningContent: { reasoningText: { text: "Thought." } } },
    signedThought: { reasoningContent: { reasoningText: { text: "Signed.", signature: "sig" } } },
    redacted: { reasoningContent: { redactedContent: "cmVkYWN0ZWQ=" } },
    text: { text: "Älpha 😀. " },
    cited: {
      citationsContent: {
        content: [{ text: "Cited " }, { text: "words." }],
        citations: [{ title: "Web", location: { web: { url: "https://x.test" } } }],
      },
    },
    call: { toolUse: { toolUseId: "tooluse_1", name: "look", input: { city: "Paris", n: [1.5, null] } } },
    emptyCall: { toolUse: { toolUseId: "tooluse_2", name: "look", input: {} } },
    serverTool: { toolUse: { toolUseId: "srv", name: "search", input: {}, type: "server_tool_use" } },
  },
  answer: (content) => ({
    output: { message: { role: "assistant", content } },
    stopReason: content.some(({ toolUse }) => object(toolUse).name === "look") ? "tool_use" : "end_turn",
    usage: { inputTokens: 20, outputTokens: 9, cacheReadInputTokens: 8, cacheWriteInputTokens: 4 },
    metrics: { latencyMs: 1 },
  }),
  frames({ stopReason, usage, metrics }, content, fine) {
    const out = [frame({ role: "assistant" }, "messageStart")];
    content.forEach((block, contentBlockIndex) => {
      const delta = (value: unknown) =>
        out.push(frame({ contentBlockIndex, delta: value }, "contentBlockDelta"));
      const { input, ...tool } = object(block.toolUse);
      const { reasoningText, redactedContent } = object(block.reasoningContent);
      const { text, signature } = object(reasoningText);
      if (block.toolUse) {
        out.push(frame({ contentBlockIndex, start: { toolUse: tool } }, "contentBlockStart"));
        if (fine) delta({ toolUse: { input: "" } });
        for (const piece of cut(JSON.stringify(input), fine)) delta({ toolUse: { input: piece } });
      }
      for (const piece of cut(String(text ?? ""), fine)) delta({ reasoningContent: { text: piece } });
      if (signature !== undefined) delta({ reasoningContent: { signature } });
      if (redactedContent !== undefined) delta({ reasoningContent: { redactedContent } });
      for (const piece of cut(CONVERSE.text(block), fine)) delta({ text: piece });
      for (const citation of array(object(block.citationsContent).citations)) delta({ citation });
      out.push(frame({ contentBlockIndex }, "contentBlockStop"));
    });
    return [...out, frame({ stopReason }, "messageStop"), frame({ usage, metrics }, "metadata")];
  },
  history: ({ messages }) =>
    array(messages).map(object).filter(({ role }) => role === "assistant").flatMap(({ content }) =>
      array(content).map(object)
    ),
  shape: (content) =>
    joined(content.flatMap((block) => {
      const call = CONVERSE.call(block);
      if (call) return [["call", JSON.stringify(call.args), String(call.id)]];
      const { reasoningText, redactedContent } = object(block.reasoningContent);
      const { text, signature } = object(reasoningText);
      if (typeof redactedContent === "string") return [["redacted", redactedContent, ""]];
      if (signature !== undefined) return [["thought", String(text), String(signature)]];
      const words = CONVERSE.text(block);
      return words === "" ? [] : [["text", words, ""]];
    })),
  text: (block) =>
    String(
      block.text ?? array(object(block.citationsContent).content).map((c) => object(c).text).join(""),
    ),
  reasoning: (block) => String(object(object(block.reasoningContent).reasoningText).text ?? ""),
  call(block) {
    const { toolUseId, name, input, type } = object(block.toolUse);
    return typeof name === "string" && type === undefined
      ? { name, args: input, id: String(toolUseId) }
      : undefined;
  },
};

function read(api: Api, frames: readonly Frame[]): Part[] {
  const decoder = PROVIDER_FORMATS[api.name].decodeStream(api.model);
  const parts: Part[] = [];
  for (const one of frames) decoder.push(one, parts);
  decoder.end(parts);
  assertLegal(parts);
  return parts;
}

/** All rows of two and three parts, each call under an id of its own. */
function* rows({ parts }: Api): Generator<[string, Loose[]]> {
  const names = Object.keys(parts);
  for (const a of names) {
    for (const b of names) {
      for (const c of ["", ...names]) {
        const row = [a, b, ...(c === "" ? [] : [c])];
        yield [row.join(" "), row.map((name, i) => numbered(structuredClone(parts[name]), i))];
      }
    }
  }
}

function numbered(part: Loose, nth: number): Loose {
  for (const [call, id] of [["functionCall", "id"], ["toolUse", "toolUseId"]]) {
    const held = object(part[call]);
    if (held[id] !== undefined) held[id] = `${held[id]}_${nth}`;
  }
  return part;
}

/** A message of chat-completions says of its text, its reasoning and its calls no order. */
function ordered(caller: Caller, shape: string[][]): unknown {
  if (caller !== "chat_completions") return shape;
  const of = (kind: string) => shape.filter(([k]) => k === kind);
  return {
    text: of("text").map(([, text]) => text).join(""),
    others: ["thought", "redacted", "call"].map(of),
    signatures: shape.map(([, , signature]) => signature).filter((s) => s !== "").sort(),
  };
}

const paragraphs = (text: string) => text.replaceAll("\n\n", "");

for (const api of [GEMINI, CONVERSE]) {
  for (const caller of CALLERS) {
    Deno.test(`${api.name}: rows of parts for ${caller}: whole, streamed and sent back`, async () => {
      let tried = 0;
      for (const [name, parts] of rows(api)) {
        const answer = api.answer(parts);
        const told: ClientAnswer = await whole(caller, PROVIDER_FORMATS[api.name].decodeAnswer(answer));
        const about = `${name} for ${caller}`;
        for (const fine of parts.length < 3 ? [false, true] : [tried % 2 === 0]) {
          assertEquals(await streamed(caller, read(api, api.frames(answer, parts, fine))), told, about);
        }
        assertEquals(told.text, parts.map(api.text).join(""), about);
        assertEquals(paragraphs(told.reasoning), parts.map(api.reasoning).join(""), about);
        const calls = parts.flatMap((part) => api.call(part) ?? []);
        assertEquals(
          told.calls.map(({ name, args }) => ({ name, args })),
          calls.map(({ name, args }) => ({ name, args })),
        );
        assertEquals(told.usage, [32, 9, 8, api.name === "gemini" ? 0 : 4]);
        const { body } = encode(decode(caller, nextRequest(caller, told)), api.name, api.model);
        const back = api.history(body);
        // A turn of nothing but reasoning has no place in Converse.
        const words = api.name === "gemini" || parts.some((part) => api.text(part) !== "" || api.call(part));
        const expected = words ? api.shape(parts) : [];
        assertEquals(ordered(caller, api.shape(back)), ordered(caller, expected), about);
        const ids = back.flatMap((part) => api.call(part)?.id ?? []);
        assertEquals(ids, calls.map(({ id }, i) => id ?? told.calls[i].id), about);
        tried++;
      }
      assert(tried > 300, String(tried));
    });
  }
}
