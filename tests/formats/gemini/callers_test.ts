/** Gemini behind the three caller formats: signatures out and back in. */
import { assert, assertEquals } from "@std/assert";
import { type Answer, collect } from "../../../src/exchange/answer.ts";
import { array, isObject, type Loose, object } from "../../../src/exchange/json.ts";
import type { CallerFormat } from "../../../src/formats/format.ts";
import { gemini } from "../../../src/formats/gemini/mod.ts";
import { CALLER_FORMATS } from "../../../src/formats/mod.ts";
import { readRecordings } from "../../support/recordings.ts";
import { context, prompt } from "./prompts.ts";
import { checkRequest } from "./request_checker.ts";
import { sharedTest } from "../../support/shared.ts";

const RECORDINGS = readRecordings();

const PROVIDER_RUN = ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"];

/**
 * Kind and signature of each part; texts joined as far as no signature divides them, thoughts left out, parts of Google's own
 * tools as they are.
 */
function shape(parts: readonly unknown[]): string[] {
  const seen: { kind: string; signature: string }[] = [];
  for (const part of parts.map(object)) {
    if (PROVIDER_RUN.some((name) => part[name])) {
      seen.push({ kind: JSON.stringify(part), signature: "" });
      continue;
    }
    const signature = String(part.thoughtSignature ?? "").replace("skip_thought_signature_validator", "");
    const name = object(part.functionCall).name;
    const kind = typeof name === "string" ? name : part.text === undefined || part.thought ? "" : "text";
    const last = seen.at(-1);
    if (kind === "text" && last?.kind === "text" && !last.signature && part.text) last.signature = signature;
    else if (kind === "text" && (part.text || signature)) {
      seen.push({ kind: part.text ? kind : "alone", signature });
    } else if (kind !== "text" && kind !== "") seen.push({ kind, signature });
  }
  return seen.map((s) => `${s.kind} ${s.signature}`);
}

/** Whether a text or a call stands before a part of Google's own tools. */
function leadsTools(shapes: readonly string[]): boolean {
  const other = shapes.findIndex((s) => !s.startsWith("{"));
  return other >= 0 && shapes.findLastIndex((s) => s.startsWith("{")) > other;
}

/** The answer sent back as each format's clients do, its calls answered, and the user going on. */
function nextRequest(format: CallerFormat, answer: Loose, calls: readonly string[]): Loose {
  if (format.name === "chat_completions") {
    const message = object(array(answer.choices)[0]).message;
    const results = calls.map((id) => ({ role: "tool", tool_call_id: id, content: "R" }));
    return {
      messages: [{ role: "user", content: "q" }, message, ...results, { role: "user", content: "go on" }],
    };
  }
  if (format.name === "messages") {
    const results = calls.map((id) => ({ type: "tool_result", tool_use_id: id, content: "R" }));
    return {
      max_tokens: 9,
      messages: [
        { role: "user", content: "q" },
        { role: "assistant", content: answer.content },
        { role: "user", content: [...results, { type: "text", text: "go on" }] },
      ],
    };
  }
  const results = calls.map((id) => ({ type: "function_call_output", call_id: id, output: "R" }));
  return {
    input: [{ role: "user", content: "q" }, ...array(answer.output), ...results, {
      role: "user",
      content: "go on",
    }],
  };
}

const callIds = (answer: Answer) => answer.choices[0].blocks.flatMap((b) => b.type === "call" ? [b.id] : []);

sharedTest(
  "corpus/",
  "gemini signatures and parts of Google's own tools come back in their places through every caller format",
  () => {
    let signed = 0;
    let ran = 0;
    for (const r of RECORDINGS) {
      if (r.api !== "gemini-generate" || r.status !== 200) continue;
      const chunks = r.sse === null
        ? [r.response].flat()
        : r.sse.split(/\r?\n/).filter((l) => l.startsWith("data:")).map((l) => JSON.parse(l.slice(5)));
      const parts = chunks.flatMap((c) =>
        array(object(object(array(object(c).candidates)[0]).content).parts)
      );
      // An image has no form in the caller formats.
      if (parts.some((p) => isObject(p) && p.inlineData)) continue;
      const expected = shape(parts);
      if (expected.some((kind) => kind.startsWith("{"))) ran++;
      const answer = collect(gemini.decodeAnswer(chunks));
      if (answer.choices[0].reason === "content-filter") continue;
      for (const format of Object.values(CALLER_FORMATS)) {
        // A chat message is one text and its calls, behind all that they were made with: borders and places are lost, signatures are not.
        const texts = expected.filter((s) => s.startsWith("text"));
        if (format.name === "chat_completions" && (texts.length > 1 || leadsTools(expected))) continue;
        const sent = format.encodeAnswer(answer, {
          id: "gen_1",
          created: 1,
          model: () => "a/b",
          prompt: prompt([], { format: format.name }),
          seal: (proof) => `sealed:${JSON.stringify(proof)}`,
        });
        const next = {
          model: "a/b",
          ...nextRequest(format, JSON.parse(JSON.stringify(sent)), callIds(answer)),
        };
        const asked = format.decodeRequest(next, {
          unseal: (text) => text.startsWith("sealed:") ? JSON.parse(text.slice(7)) : null,
          headers: () => ({}),
        });
        const { body } = gemini.encodeRequest(asked, context({ model: "gemini-3-pro" }));
        checkRequest(body);
        const second = object(array(body.contents)[1]);
        const model = second.role === "model" ? array(second.parts) : [];
        assertEquals(shape(model), expected, `${r.id} through ${format.name}`);
        signed += expected.filter((s) => !s.endsWith(" ")).length;
      }
    }
    assert(signed > 300, `only ${signed} signatures`);
    assert(ran > 10, `only ${ran} answers with tools of the provider`);
  },
);
