/**
 * Requests of shapes that nobody thought of: a seed chooses where in a request something stands, how it is nested and repeated, what
 * its leaves are and how it is packed. Each is at most as large as a body may be.
 */
import { gzipSync } from "node:zlib";
import { ALPHABETS } from "./alphabets.ts";
import { type FormatName, FORMATS, PATHS } from "./places.ts";

export interface SeededRequest {
  name: string;
  path: string;
  body: Uint8Array<ArrayBuffer>;
  headers: Record<string, string>;
}

const MOST = 32_000_000;

/** The same numbers for the same seed, from 0 to 1. */
function chances(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

type Leaf = (size: number) => string;
const repeated = (text: string): Leaf => (size) => text.repeat(Math.max(1, Math.floor(size / text.length)));
const quoted = (leaf: Leaf): Leaf => (size) => `"${leaf(Math.max(1, size - 2))}"`;

/** Text of JSON of about a size. */
const LEAVES: Record<string, Leaf> = {
  letters: quoted(repeated("a")),
  "line breaks": quoted(repeated("\\n")),
  quotes: quoted(repeated('\\"')),
  backslashes: quoted(repeated("\\\\")),
  "escaped letters": quoted(repeated("\\u0041")),
  halves: quoted(repeated("\\ud83d")),
  pairs: quoted(repeated("\\ud83d\\ude00")),
  Han: quoted((size) => "漢".repeat(Math.max(1, size / 3))),
  emoji: quoted((size) => "😀".repeat(Math.max(1, size / 4))),
  "JSON in JSON": quoted(repeated('{\\"a\\":[1]},')),
  "exponents in text": quoted(repeated("1e999 ")),
  "data addresses": quoted((size) => `data:image/png;base64,${"A".repeat(size)}`),
  digits: () => "12345678901234567890",
  fraction: () => "0.1234567890123456789",
  exponent: () => "1e400",
  "long number": (size) => "7".repeat(Math.min(Math.max(1, size), 12_000)),
  number: () => "7",
  null: () => "null",
  "empty object": () => "{}",
  "empty list": () => "[]",
  blanks: (size) => `${" ".repeat(Math.max(0, size - 1))}1`,
  ...Object.fromEntries(
    Object.entries(ALPHABETS).map(([name, made]) => [
      `text of ${name}`,
      (size: number) => JSON.stringify(made(Math.max(1, Math.min(size, 4_200_000)))),
    ]),
  ),
};

/** What stands around leaves. */
const NESTS: Record<string, (inner: () => string, count: number, i: () => number) => string> = {
  list: (inner, count) => `[${Array.from({ length: count }, inner).join()}]`,
  object: (inner, count, i) =>
    `{${Array.from({ length: count }, (_, n) => `"k${n}_${i()}":${inner()}`).join()}}`,
  "numbered object": (inner, count) =>
    `{${Array.from({ length: count }, (_, n) => `"${(n * 7919) % 4_000_000_000}":${inner()}`).join()}}`,
  "object of one name": (inner, count) => `{${Array.from({ length: count }, () => `"a":${inner()}`).join()}}`,
  deep: (inner, count) => {
    const levels = Math.max(0, Math.min(Math.floor(count), 480));
    return `${'{"a":['.repeat(levels / 2)}${inner()}${"]}".repeat(levels / 2)}`;
  },
};

const USER = (format: FormatName, content: string) =>
  format === "responses"
    ? `"input":[{"type":"message","role":"user","content":${content}}]`
    : `"messages":[{"role":"user","content":${content}}]`;
const HI = (format: FormatName) => USER(format, '"Hi"');
const LIST = (format: FormatName) => format === "responses" ? "input" : "messages";
const part = (format: FormatName) => format === "responses" ? "input_text" : "text";

/** Where it stands. */
const PLACES: Record<string, (format: FormatName, value: string) => string> = {
  content: USER,
  "a part's text": (f, value) => USER(f, `[{"type":"${part(f)}","text":${value}}]`),
  "the list of messages": (f, value) => `"${LIST(f)}":${value}`,
  "an unknown field": (f, value) => `${HI(f)},"unheard_of":${value}`,
  "an unknown field of a message": (f, value) =>
    `"${LIST(f)}":[{"role":"user","content":"Hi","unheard_of":${value}}]`,
  tools: (f, value) => `${HI(f)},"tools":${value}`,
  "a tool's schema": (f, value) =>
    `${HI(f)},"tools":[${
      f === "messages"
        ? `{"name":"f","input_schema":{"type":"object","properties":${value}}}`
        : f === "responses"
        ? `{"type":"function","name":"f","parameters":{"type":"object","properties":${value}}}`
        : `{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":${value}}}}`
    }]`,
  "a call's arguments": (f, value) =>
    f === "messages"
      ? `"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"a":${value}}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}]`
      : f === "responses"
      ? `"input":[{"role":"user","content":"Hi"},{"type":"function_call","call_id":"t","name":"f","arguments":${value}},{"type":"function_call_output","call_id":"t","output":"x"}]`
      : `"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":${value}}}]},{"role":"tool","tool_call_id":"t","content":"x"}]`,
  metadata: (f, value) => `${HI(f)},"metadata":${value}`,
  "stop sequences": (f, value) => `${HI(f)},"${f === "messages" ? "stop_sequences" : "stop"}":${value}`,
  model: (f, value) => `${HI(f)},"model":${value}`,
  "a JSON schema": (f, value) =>
    `${HI(f)},"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":${value}}}`,
  screening: (f, value) => `${HI(f)},"plugins":{"dlp":{"mode":"mask","stop_words":${value}}}`,
  thinking: (f, value) => `${HI(f)},"thinking":${value},"reasoning":${value}`,
  system: (f, value) => `${HI(f)},"system":${value},"instructions":${value}`,
};

const PACKINGS = ["plain", "plain", "gzip", "chunked"] as const;
const HEADERS: Record<string, Record<string, string>> = {
  "": {},
  "kept": { "x-svc-resume": "true", "idempotency-key": "" },
  "joined": { "x-svc-resume": "true", "x-svc-join": "true", "x-svc-session": "s" },
};

/** The request of a seed. */
export function seededRequest(seed: number): SeededRequest {
  const chance = chances(seed);
  const one = <T>(of: readonly T[]): T => of[Math.floor(chance() * of.length)];
  const format = one(FORMATS);
  const place = one(Object.keys(PLACES));
  const leaf = one(Object.keys(LEAVES));
  const packing = one(PACKINGS);
  const asked = one(["", "", "kept", "joined"]);
  const nests = Array.from({ length: Math.floor(chance() * 4) }, () => one(Object.keys(NESTS)));
  const size = Math.floor(MOST * one([0.02, 0.12, 0.5, 0.96]));
  const counts = nests.map(() => Math.floor(2 + 10 ** (chance() * 4.3)));
  const leaves = Math.max(
    1,
    counts.reduce((product, count, i) => product * (nests[i] === "deep" ? 1 : count), 1),
  );
  let left = size;
  let at = 0;
  const piece = LEAVES[leaf](Math.max(1, Math.floor(size / leaves)));
  const made = (level: number): string => {
    if (left <= 0) return "0";
    if (level === nests.length) {
      left -= piece.length + 8;
      return piece;
    }
    // Names and brackets take room too.
    left -= nests[level] === "deep" ? 4 * Math.min(counts[level], 480) : 16;
    return NESTS[nests[level]](
      () => left <= 0 ? "0" : made(level + 1),
      Math.min(counts[level], 1 + Math.max(0, left) / 2),
      () => at++,
    );
  };
  const value = made(0);
  const max = format === "messages" ? ',"max_tokens":9' : "";
  const text = `{"model":"hostile/model"${max},${PLACES[place](format, value)}}`;
  const bytes = new TextEncoder().encode(text.length > MOST ? text.slice(0, MOST) : text);
  const name =
    `${seed}: ${format}, ${place}, ${
      nests.map((nest, i) => `${nest} of ${counts[i]}`).join(", ") || "alone"
    }, ` +
    `${leaf}, ${(bytes.length / 1e6).toFixed(1)} MB ${packing} ${asked}`;
  const headers = { ...HEADERS[asked] };
  if (asked === "kept") headers["idempotency-key"] = `seed ${seed}`;
  if (packing !== "gzip") return { name, path: PATHS[format], body: bytes, headers };
  return {
    name,
    path: PATHS[format],
    body: new Uint8Array(gzipSync(bytes, { level: 1 })),
    headers: { ...headers, "content-encoding": "gzip" },
  };
}
