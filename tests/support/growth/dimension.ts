/** What can be repeated in what others send, and what the gateway does with it. */
import { collect } from "../../../src/exchange/answer.ts";
import type { CallerFormatName, FormatName } from "../../../src/exchange/format_name.ts";
import { isObject } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import type { Prompt } from "../../../src/exchange/prompt.ts";
import { flattenTools, restoreTools } from "../../../src/exchange/tools.ts";
import { readLeaves } from "../../../src/formats/leaves/mod.ts";
import { CALLER_FORMATS, LEAVES, PROVIDER_FORMATS } from "../../../src/formats/mod.ts";
import { measure } from "../../../src/models/limits.ts";

/** Something that stands `n` times in what is sent. */
export interface Dimension {
  name: string;
  /** Makes what is sent, and gives what is done with it. What that returns is what leaves the gateway. */
  prepare(n: number, watch: Watch): () => unknown;
  /** The least number to begin with; by default 200. */
  from?: number;
}

/** Lets a value be watched while it is read. */
export type Watch = <T>(value: T) => T;

export const TARGETS = ["chat_completions", "messages", "responses", "gemini", "converse"] as const;
export const CALLERS = ["chat_completions", "messages", "responses"] as const;

const MODELS: Readonly<Record<FormatName, string>> = {
  chat_completions: "gpt-5-mini",
  messages: "claude-haiku-4-5",
  responses: "gpt-5-mini",
  gemini: "gemini-3-pro-preview",
  converse: "anthropic.claude-haiku-4-5-20251001-v1:0",
};
const FORMS: Readonly<Record<FormatName, Parameters<typeof flattenTools>[1]>> = {
  chat_completions: { custom: false, namespaces: false },
  messages: { custom: false, namespaces: false },
  responses: { custom: true, namespaces: true },
  gemini: { custom: false, namespaces: false, letterFirst: true },
  converse: { custom: false, namespaces: false },
};

const unseal = () => undefined;
const seal = (proof: { data: string }) => proof.data;
const LIMITS = { maxTextChars: Infinity, maxFileBytes: Infinity, maxMessages: Infinity };

function promptOf(caller: CallerFormatName, body: unknown): Prompt {
  return CALLER_FORMATS[caller].decodeRequest(body, {
    unseal: unseal as never,
    headers: () => ({}),
  });
}

/** A caller's request on its way to a provider of each format. */
export function request(name: string, caller: CallerFormatName, body: (n: number) => unknown): Dimension[] {
  return TARGETS.map((target) => ({
    name: `${caller} to ${target}: ${name}`,
    prepare: (n, watch) => {
      // As JSON gives it: no value stands in two places.
      const sent = watch(JSON.parse(JSON.stringify(body(n))));
      return () => {
        const reading = readLeaves(sent, LEAVES[caller]);
        const prompt = promptOf(caller, sent);
        measure(prompt, reading, LIMITS);
        const flat = flattenTools(prompt, FORMS[target]);
        return PROVIDER_FORMATS[target].encodeRequest(flat.prompt, {
          model: MODELS[target],
          stream: false,
          maxOutput: null,
          features: null,
          efforts: null,
        }).body;
      };
    },
  }));
}

const HELLO: Readonly<Record<CallerFormatName, unknown>> = {
  chat_completions: { model: "a/b", messages: [{ role: "user", content: "Hi" }] },
  messages: { model: "a/b", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
  responses: { model: "a/b", input: "Hi" },
};

function context(caller: CallerFormatName) {
  return {
    id: "gen_1",
    created: 1_700_000_000,
    model: () => "a/b",
    prompt: promptOf(caller, HELLO[caller]),
    seal: seal as never,
  };
}

/** A provider's whole answer on its way to a caller of each format. */
export function answer(
  name: string,
  from: FormatName,
  body: (n: number) => unknown,
  more: Partial<Dimension> = {},
): Dimension[] {
  return CALLERS.map((caller) => ({
    ...more,
    name: `answer of ${from} to ${caller}: ${name}`,
    prepare: (n, watch) => {
      const sent = watch(JSON.parse(JSON.stringify(body(n))));
      const told = context(caller);
      return () =>
        CALLER_FORMATS[caller].encodeAnswer(collect(PROVIDER_FORMATS[from].decodeAnswer(sent)), told);
    },
  }));
}

/** A provider's stream on its way to a caller of each format, one frame at a time. */
export function stream(
  name: string,
  from: FormatName,
  frames: (n: number) => readonly unknown[],
): Dimension[] {
  return CALLERS.map((caller) => ({
    name: `stream of ${from} to ${caller}: ${name}`,
    prepare: (n) => {
      const sent = frames(n).map((data) => ({
        event: isObject(data) && typeof data.type === "string" ? data.type : "",
        data: typeof data === "string" ? data : JSON.stringify(data),
      }));
      const told = context(caller);
      return () => {
        const decoder = PROVIDER_FORMATS[from].decodeStream();
        const encoder = CALLER_FORMATS[caller].encodeStream(told);
        const restore = restoreTools(new Map([["patch", { name: "patch", kind: "custom" }]]));
        const written: string[] = [];
        let parts: Part[] = [];
        for (const frame of sent) {
          decoder.push(frame, parts);
          written.push(encoder.encode(restore(parts)));
          parts = [];
        }
        decoder.end(parts);
        written.push(encoder.encode(restore(parts)), encoder.end());
        return written.join("");
      };
    },
  }));
}

export function times<T>(n: number, make: (i: number) => T): T[] {
  return Array.from({ length: n }, (_, i) => make(i));
}

export function fieldsOf(n: number, value: (i: number) => unknown, name = "field"): Record<string, unknown> {
  return Object.fromEntries(times(n, (i) => [`${name}_${i}`, value(i)]));
}
