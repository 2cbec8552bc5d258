/** Arguments of recorded calls: good ones stay as they are, and broken ones are mended to what they were. */
import { assert, assertEquals } from "@std/assert";
import { parse } from "../../../src/exchange/json.ts";
import { CALLER_FORMATS } from "../../../src/formats/mod.ts";
import { Declared, kindOf } from "../../../src/pipeline/repair/declared.ts";
import { mend } from "../../../src/pipeline/repair/mend.ts";
import { ArgumentScanner } from "../../../src/pipeline/repair/scanner.ts";
import { readRecordings } from "../../support/recordings.ts";

interface Called {
  text: string;
  declared: Declared;
}

const FORMATS = { chat: "chat_completions", msgs: "messages", resp: "responses" } as const;

/** Calls that stand in recorded requests, with the schemas of their tools. */
function recordedCalls(): Called[] {
  const found = new Map<string, Called>();
  for (const [api, format] of Object.entries(FORMATS)) {
    for (const { request } of readRecordings(api as keyof typeof FORMATS)) {
      let prompt;
      try {
        prompt = CALLER_FORMATS[format].decodeRequest(request, { unseal: () => null, headers: () => ({}) });
      } catch {
        continue;
      }
      const tools = new Map(
        prompt.tools.flatMap((t) => t.kind === "function" ? [[t.name, t.parameters]] : []),
      );
      for (const { content } of prompt.turns) {
        for (const part of content) {
          if (part.type !== "call" || part.kind !== "function" || !tools.has(part.name)) continue;
          const key = `${part.name} ${part.arguments}`;
          found.set(key, { text: part.arguments, declared: Declared.of(tools.get(part.name)) });
        }
      }
    }
  }
  return [...found.values()].filter(({ text }) => kindOf(parse(text)) === "object");
}

/** Ways in which models break what they write, and the kinds of text that each breaks. */
const BREAKS: Readonly<Record<string, (text: string) => string>> = {
  "the last bracket is missing": (text) => text.trimEnd().slice(0, -1),
  "a comma before the end": (text) => text.trimEnd().replace(/([^{\s])\s*\}$/, "$1,}"),
  "one bracket too many": (text) => `${text}}`,
  "a fence around": (text) => "```json\n" + text + "\n```",
  "JSON in a string": (text) => JSON.stringify(text),
};

const calls = recordedCalls();
const ignore = calls.length === 0;

Deno.test({
  name: "no recorded call that was good is changed, wherever its stream is cut (../shared)",
  ignore,
  fn() {
    assert(calls.length > 30, `${calls.length}`);
    for (const { text, declared } of calls) {
      for (const step of [1, 7, text.length]) {
        const scanner = new ArgumentScanner(declared);
        for (let at = 0; at < text.length; at += step) scanner.push(text.slice(at, at + step));
        assertEquals([scanner.whole, scanner.good], [true, text.length], text);
      }
    }
  },
});

for (const [name, broken] of Object.entries(BREAKS)) {
  Deno.test({
    name: `recorded calls are mended when they are broken: ${name} (../shared)`,
    ignore,
    fn() {
      for (const { text, declared } of calls) {
        const given = broken(text);
        if (given === text) continue;
        const scanner = new ArgumentScanner(declared);
        scanner.push(given);
        assertEquals(scanner.whole, false, given);
        const mended = mend(given, declared, { complete: true });
        assertEquals(mended === null ? null : parse(mended), parse(text), given);
        assert(mended!.startsWith(given.slice(0, scanner.good)), given);
      }
    },
  });
}
