/** Answers of which each field is changed in turn: what is read and written without parsing is what the parser makes of them. */
import { assert, assertEquals } from "@std/assert";
import { collect } from "../../src/exchange/answer.ts";
import { Failure } from "../../src/exchange/failure.ts";
import { parse } from "../../src/exchange/json.ts";
import type { Part } from "../../src/exchange/part.ts";
import { chatCompletions } from "../../src/formats/chat_completions/mod.ts";
import { decodeAnswer } from "../../src/formats/chat_completions/decode_answer.ts";
import { KnownAnswers } from "../../src/formats/chat_completions/read_answer.ts";
import { messages } from "../../src/formats/messages/mod.ts";
import { context } from "./chat_completions/support.ts";
import { readRecordings } from "../support/recordings.ts";
import { sharedTest } from "../support/shared.ts";

/** JSON as text in pieces, so that a change may be one that no object has. */
type Node = string | { opening: "{" | "["; members: Member[] };
/** The name is empty in an array. */
interface Member {
  name: string;
  node: Node;
}

function nodeOf(value: unknown): Node {
  if (Array.isArray(value)) {
    return { opening: "[", members: value.map((entry) => ({ name: "", node: nodeOf(entry) })) };
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, node]) => ({
    name: JSON.stringify(name),
    node: nodeOf(node),
  }));
  return { opening: "{", members };
}

function textOf(node: Node): string {
  if (typeof node === "string") return node;
  const members = node.members.map(({ name, node }) =>
    name === "" ? textOf(node) : `${name}:${textOf(node)}`
  );
  return node.opening + members.join() + (node.opening === "{" ? "}" : "]");
}

const VALUES = [
  "null",
  "true",
  "0",
  "7",
  "-1",
  "-0",
  "1.0",
  "1e3",
  "1E400",
  "01",
  "NaN",
  "999999999999999",
  "9007199254740993",
  "12345678901234567890",
  '""',
  '"x"',
  '"\\u0061"',
  '"\\ud800"',
  '"\\u0000"',
  '"a\\\\"',
  '"\\\\\\""',
  '"\\"}]"',
  '"a"b"',
  '"\u0001"',
  '"\u2028😀"',
  '","usage":{"prompt_tokens":1}',
  '"length"',
  '"tool_calls"',
  "[]",
  "{}",
  '[{"type":"text","text":"t"}]',
  '{"__proto__":{"prompt_tokens":9}}',
  '{"cached_tokens":12345678901234567890,"reasoning_tokens":1e400}',
  '{"message":{"content":"another"}}',
  '{"content":"another"}',
];

const NAMES = [
  "error",
  "x_groq",
  "content",
  "refusal",
  "reasoning_content",
  "tool_calls",
  "audio",
  "citations",
  "service_tier",
  "prompt_filter_results",
  "stop_reason",
  "logprobs",
  "model",
  "index",
  "delta",
  "prompt_tokens",
  "reasoning_tokens",
  "cached_tokens",
  "cache_creation_input_tokens",
  "accepted_prediction_tokens",
  "prompt_tokens_details",
  "completion_tokens_details",
  "cost",
  "__proto__",
  "choices,0",
  "0,message",
].map((name) => JSON.stringify(name));

/** The same numbers with each start. */
function numbers(seed: number): (below: number) => number {
  return (below) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor(seed / 2 ** 32 * below);
  };
}

/** The text of `root` with some changes in each of its members and values. */
function* changed(root: Node, node: Node, random: (below: number) => number): Generator<string> {
  if (typeof node === "string") return;
  const { members } = node;
  const as = (other: Member[]) => {
    node.members = other;
    const text = textOf(root);
    node.members = members;
    return text;
  };
  const value = () => VALUES[random(VALUES.length)];
  for (const [i, member] of members.entries()) {
    const others = members.toSpliced(i, 1);
    yield as(others);
    yield as([member, ...others]);
    yield as([...members, member]);
    yield as([...members, { ...member, node: value() }]);
    for (let k = 0; k < 4; k++) yield as(members.with(i, { ...member, node: value() }));
    if (member.name !== "") {
      const escaped = `"\\u00${member.name.charCodeAt(1).toString(16)}${member.name.slice(2)}`;
      yield as(members.with(i, { ...member, name: escaped }));
      yield as(members.with(i, { ...member, name: `\n${member.name} ` }));
      yield as([...members, { name: NAMES[random(NAMES.length)], node: value() }]);
    }
    yield* changed(root, member.node, random);
  }
}

const COUNTS = [0, 1, 9, 10, 57, 4096, 999_999_999_999_999];

/** Another answer of the same kind, if it is one: its text and its counts are others. */
function varied(answer: string, random: (below: number) => number): string {
  return answer
    .replace(/:\d+(?=[,}\]])/g, (count) => random(2) === 0 ? count : `:${COUNTS[random(COUNTS.length)]}`)
    .replace('"content":"', `"content":"canary ${random(2 ** 30)} `);
}

function decoded(answer: string): Part[] | string {
  try {
    return decodeAnswer(parse(answer, true));
  } catch (thrown) {
    return Failure.from(thrown).message;
  }
}

function learn(known: KnownAnswers, answer: string): void {
  const parts = decoded(answer);
  if (typeof parts !== "string") known.learn(answer, parse(answer, true), parts);
}

/** Whether it is known. Throws where it is read, or then written, as another than it is. */
function checked(known: KnownAnswers, answer: string): boolean {
  const read = known.read(answer);
  if (read === null) return false;
  assertEquals(JSON.stringify(read), JSON.stringify(decoded(answer)), answer);
  const whole = collect(read);
  for (const format of [chatCompletions, messages]) {
    const written = format.writeAnswer!(whole, context());
    if (written !== null) {
      assertEquals(written, JSON.stringify(format.encodeAnswer(whole, context())), answer);
    }
  }
  return true;
}

/**
 * Learns changes and reads others of their kind, and reads changes where the answer as it was is known.
 *
 * @param share one change in so many is tried
 */
function attack(answer: string, random: (below: number) => number, share = 1): number {
  const root = nodeOf(JSON.parse(answer));
  const before = new KnownAnswers();
  learn(before, answer);
  let read = 0;
  for (const text of changed(root, root, random)) {
    if (random(share) > 0) continue;
    if (checked(before, text)) read++;
    const known = new KnownAnswers();
    learn(known, text);
    if (!checked(known, text)) continue;
    for (let k = 0; k < 3; k++) if (checked(known, varied(text, random))) read++;
  }
  return read;
}

const RICH = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_763_700_000,
  model: "m",
  choices: [{
    index: 0,
    message: { role: "assistant", content: "one", refusal: null, annotations: [] },
    logprobs: null,
    finish_reason: "stop",
  }],
  usage: {
    prompt_tokens: 25,
    completion_tokens: 32,
    total_tokens: 57,
    prompt_tokens_details: { cached_tokens: 3, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 5, audio_tokens: 0 },
    reasoning_tokens: 9,
    cached_tokens: 4,
    cost: 0,
    more: [1, { deeper: 2 }],
  },
  service_tier: "default",
  system_fingerprint: "fp_1",
});

Deno.test("an answer with one field changed is read and written as the parser makes it", () => {
  const random = numbers(18);
  let read = 0;
  for (let round = 0; round < 20; round++) read += attack(RICH, random);
  assert(read > 1000, String(read));
});

Deno.test("callers' answers that take turns are each read as their own", () => {
  const random = numbers(7);
  const known = new KnownAnswers();
  const kinds = ["a/m", "b/m", "m", "m-2", "c/m"].map((model) => RICH.replace('"m"', JSON.stringify(model)));
  let read = 0;
  for (let i = 0; i < 2000; i++) {
    const kind = kinds[random(kinds.length)];
    const answer = varied(kind, random).replace("chatcmpl-1", `chatcmpl-${random(1e9)}`);
    if (checked(known, answer)) read++;
    else learn(known, answer);
  }
  assert(read > 200, String(read));
});

sharedTest(
  "corpus/",
  "recorded answers with one field changed are read and written as the parser makes them",
  () => {
    const random = numbers(3);
    const seen = new Set<string>();
    let read = 0;
    for (const { response } of readRecordings<{ response: unknown }>("chat")) {
      if (typeof response !== "object" || response === null) continue;
      const answer = JSON.stringify(response);
      // One of each kind.
      const kind = answer.replace(/"(?:id|content|model|system_fingerprint)":"(?:[^"\\\\]|\\\\.)*"|\d+/g, "");
      if (answer.length > 4000 || seen.has(kind)) continue;
      seen.add(kind);
      const known = new KnownAnswers();
      learn(known, answer);
      if (known.read(answer) !== null) read += attack(answer, random, 4);
    }
    assert(read > 1000, String(read));
  },
);
