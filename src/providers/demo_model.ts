/**
 * A built-in provider without network and key. It answers chat-completions requests with a real stream, so
 * that trying out the gateway uses the same code as a real call.
 *
 * It echoes the question; calls a declared tool if asked to; generates a minimal instance of a JSON schema;
 * and counts tokens with a real tokenizer (o200k), so that usage and costs are realistic.
 */
import { array, isObject, type Loose, number, object, parse, string } from "../exchange/json.ts";
import { type CountTokens, tokenCounter } from "../formats/tokens/tokenizer.ts";
import type { Reply } from "../outgoing/reply.ts";
import { pause } from "../timing/waits.ts";

/** Pause between words of a stream, in milliseconds. */
const WORD_MS = 20;

interface DemoAnswer {
  content: string;
  reasoning: string;
  calls: { id: string; name: string; arguments: string }[];
  finish: "stop" | "length" | "tool_calls";
  usage: Loose;
}

/** Answers a chat-completions request body. */
export async function demoReply(body: string, stream: boolean): Promise<Reply> {
  const count = await tokenCounter();
  const request = object(parse(body));
  const made = answer(request, count);
  const base = {
    id: `demo-${crypto.randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    model: string(request.model) ?? "demo",
  };
  const encoder = new TextEncoder();
  const frame = (delta: Loose | null, rest: Loose = {}) => {
    const choices = delta === null ? [] : [{ index: 0, delta, finish_reason: null, ...rest }];
    const chunk = { ...base, object: "chat.completion.chunk", choices, ...(delta === null && rest) };
    return encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const steps = deltas(made);
  let done = false;
  return {
    status: 200,
    header: (name) => name === "content-type" ? (stream ? "text/event-stream" : "application/json") : null,
    close() {},
    async read() {
      if (done) return null;
      if (!stream) {
        done = true;
        return encoder.encode(JSON.stringify({ ...base, object: "chat.completion", ...wholeAnswer(made) }));
      }
      await pause(WORD_MS);
      const step = steps.next();
      done = step.done === true;
      return step.done ? encoder.encode("data: [DONE]\n\n") : frame(step.value.delta, step.value.rest);
    },
  };
}

function wholeAnswer(made: DemoAnswer): Loose {
  const message: Loose = { role: "assistant", content: made.calls.length > 0 ? null : made.content };
  if (made.reasoning !== "") message.reasoning_content = made.reasoning;
  if (made.calls.length > 0) {
    message.tool_calls = made.calls.map((c) => ({
      id: c.id,
      type: "function",
      function: { name: c.name, arguments: c.arguments },
    }));
  }
  return { choices: [{ index: 0, message, finish_reason: made.finish }], usage: made.usage };
}

function* deltas(made: DemoAnswer): Generator<{ delta: Loose | null; rest?: Loose }> {
  yield { delta: { role: "assistant", content: "" } };
  for (const word of words(made.reasoning)) yield { delta: { reasoning_content: word } };
  if (made.calls.length === 0) { for (const word of words(made.content)) yield { delta: { content: word } }; }
  for (const [index, call] of made.calls.entries()) {
    yield {
      delta: {
        tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }],
      },
    };
    for (const piece of call.arguments.match(/.{1,12}/gs) ?? []) {
      yield { delta: { tool_calls: [{ index, function: { arguments: piece } }] } };
    }
  }
  yield { delta: {}, rest: { finish_reason: made.finish } };
  yield { delta: null, rest: { usage: made.usage } };
}

/** The text split before each word. */
function words(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? [];
}

function answer(request: Loose, count: CountTokens): DemoAnswer {
  const messages = array(request.messages).map(object);
  const asked = textOf(messages.findLast((m) => m.role === "user")?.content);
  const tools = array(request.tools).map((t) => object(object(t).function)).filter((f) => string(f.name));
  const afterTool = messages.at(-1)?.role === "tool";
  const called = afterTool ? [] : chooseTools(request.tool_choice, tools, asked);

  const made: DemoAnswer = { content: "", reasoning: "", calls: [], finish: "stop", usage: {} };
  const effort = string(request.reasoning_effort);
  if (effort !== undefined && effort !== "none") {
    made.reasoning = `The demo model thinks at ${effort} effort about it.`;
  }
  if (called.length > 0) {
    made.finish = "tool_calls";
    made.calls = called.map((f, i) => ({
      id: `call_demo${i}${crypto.randomUUID().slice(0, 8)}`,
      name: String(f.name),
      arguments: JSON.stringify(example(object(f.parameters), asked)),
    }));
  } else made.content = say(request, messages, asked, afterTool);

  const cap = number(request.max_completion_tokens) ?? number(request.max_tokens);
  const reasoning = count(made.reasoning);
  if (cap !== undefined && reasoning + count(made.content) > cap) {
    made.content = cut(made.content, Math.max(0, cap - reasoning), count);
    made.finish = "length";
  }
  const stop = [request.stop].flat().map(string).filter((s) => s !== undefined && s !== "") as string[];
  const met = stop.map((s) => made.content.indexOf(s)).filter((at) => at >= 0);
  if (met.length > 0) made.content = made.content.slice(0, Math.min(...met));

  const prompt = messages.reduce((sum, m) => sum + 4 + count(textOf(m.content)) + count(callsText(m)), 3) +
    (tools.length > 0 ? count(JSON.stringify(request.tools)) : 0);
  const output = reasoning + count(made.content) +
    made.calls.reduce((sum, c) => sum + count(c.name) + count(c.arguments), 0);
  made.usage = {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
  return made;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return array(content).map((p) => string(object(p).text) ?? "").join("");
}

function callsText(message: Loose): string {
  return Array.isArray(message.tool_calls) ? JSON.stringify(message.tool_calls) : "";
}

/** The tools to call: the forced one, or all that the last question mentions or asks for. */
function chooseTools(choice: unknown, tools: Loose[], asked: string): Loose[] {
  if (tools.length === 0 || choice === "none") return [];
  const forced = isObject(choice) ? string(object(choice.function).name) : undefined;
  if (forced !== undefined) return tools.filter((f) => f.name === forced);
  const said = asked.toLowerCase();
  const named = tools.filter((f) =>
    String(f.name).toLowerCase().split(/[_-]+|(?=[A-Z])/).some((word) =>
      word.length > 3 && said.includes(word)
    )
  );
  if (named.length > 0) return named;
  return choice === "required" || /\b(?:tool|function|call|use)\b/.test(said) ? tools.slice(0, 1) : [];
}

function say(request: Loose, messages: Loose[], asked: string, afterTool: boolean): string {
  const format = object(request.response_format);
  if (format.type === "json_schema") {
    return JSON.stringify(example(object(object(format.json_schema).schema), asked));
  }
  if (format.type === "json_object") {
    return JSON.stringify({ answer: "This is the demo model.", you_said: asked });
  }
  if (afterTool) {
    const results = messages.slice(messages.findLastIndex((m) => m.role !== "tool") + 1);
    return `The tool answered: ${results.map((m) => textOf(m.content)).join("; ")}`;
  }
  return `Hello from the demo model, which lives inside the gateway. You said: ${asked || "(nothing)"}`;
}

/** A minimal instance of a JSON schema, with the question as text. */
function example(schema: Loose, asked: string, depth = 0): unknown {
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const union = array(schema.anyOf ?? schema.oneOf ?? schema.allOf);
  if (union.length > 0 && depth < 16) return example(object(union[0]), asked, depth + 1);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "string":
      return asked.slice(0, 80);
    case "number":
    case "integer":
      return number(schema.minimum) ?? 1;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return depth < 16 ? [example(object(schema.items), asked, depth + 1)] : [];
    default: {
      const value: Loose = {};
      if (depth < 16) {
        for (const [key, of] of Object.entries(object(schema.properties))) {
          value[key] = example(object(of), asked, depth + 1);
        }
      }
      return value;
    }
  }
}

/** The longest run of whole words within a number of tokens. */
function cut(text: string, tokens: number, count: CountTokens): string {
  let kept = 0;
  let length = 0;
  for (const word of words(text)) {
    kept += count(word);
    if (kept > tokens) break;
    length += word.length;
  }
  return text.slice(0, length);
}
