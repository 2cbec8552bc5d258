/** What the benchmark's providers answer, as text, and how they tell what is asked for. */
import type { Buffer } from "node:buffer";

export const WORDS = "the quick brown fox jumps over a lazy dog while rain falls on quiet hills".split(" ");

const ID = '"id":"chatcmpl-benchbenchbenchbenchbench","created":1750000000,"model":"bench-model"';
const USAGE = '"usage":{"prompt_tokens":120,"completion_tokens":200,"total_tokens":320}';
/** Where in a body the model's name is looked for, from either end. */
const NAME_WITHIN = 1024;

export const WHOLE_BODY = whole();
export const FIRST_FRAME = frame('{"role":"assistant","content":""}', null);
export const TEXT_FRAMES = WORDS.map((word) => frame(`{"content":" ${word}"}`, null));
export const LAST_FRAMES = [
  frame("{}", "stop"),
  `data: {${ID},"object":"chat.completion.chunk","choices":[],${USAGE}}\n\n`,
  "data: [DONE]\n\n",
];

function whole(): string {
  const text = Array.from({ length: 60 }, (_, i) => WORDS[i % WORDS.length]).join(" ");
  return answer(`{"role":"assistant","content":"${text}"}`, "stop");
}

export function answer(message: string, finish: string): string {
  return `{${ID},"object":"chat.completion","choices":[{"index":0,"message":${message},"finish_reason":"${finish}"}],${USAGE}}`;
}

function frame(delta: string, finish: string | null): string {
  return `data: {${ID},"object":"chat.completion.chunk","choices":[{"index":0,"delta":${delta},` +
    `"finish_reason":${JSON.stringify(finish)}}]}\n\n`;
}

/** The name of the model that a body begins or ends with. */
export function modelIn(body: Buffer): string {
  for (const part of [body.subarray(0, NAME_WITHIN), body.subarray(-NAME_WITHIN)]) {
    const found = /"model":"([^"]+)"/.exec(part.toString("latin1"));
    if (found) return found[1];
  }
  return "";
}
