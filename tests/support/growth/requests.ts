/** What a caller can repeat in a request. */
import { type Dimension, fieldsOf, request, times } from "./dimension.ts";

const chat = (more: object) => ({ model: "a/b", messages: [{ role: "user", content: "Hi" }], ...more });
const messages = (more: object) => ({
  model: "a/b",
  max_tokens: 9,
  messages: [{ role: "user", content: "Hi" }],
  ...more,
});
const responses = (more: object) => ({ model: "a/b", input: "Hi", ...more });
const tool = (name: string, parameters: unknown = { type: "object", properties: {} }) => ({
  type: "function",
  function: { name, parameters },
});
const said = (content: unknown, role = "user") => ({ role, content });
const call = (id: string, name = "f", args = "{}") => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

/** A conversation with calls and their results. */
function loop(n: number, id: (i: number) => string, name: (i: number) => string = () => "f") {
  return [
    said("go"),
    { role: "assistant", content: null, tool_calls: times(n, (i) => call(id(i), name(i))) },
    ...times(n, (i) => ({ role: "tool", tool_call_id: id(i), content: "done" })),
  ];
}

const search = (domains: string[]) => ({ web_search_options: { filters: { allowed_domains: domains } } });
const MARK = { cache_control: { type: "ephemeral" } };

export const REQUESTS: readonly Dimension[] = [
  request(
    "messages",
    "chat_completions",
    (n) => chat({ messages: times(n, (i) => said("x", i % 2 ? "assistant" : "user")) }),
  ),
  request("messages of one role", "chat_completions", (n) => chat({ messages: times(n, () => said("x")) })),
  request(
    "system messages",
    "chat_completions",
    (n) => chat({ messages: [...times(n, () => said("x", "system")), said("x")] }),
  ),
  request(
    "system messages between",
    "chat_completions",
    (n) => chat({ messages: times(n, (i) => said("x", i % 2 ? "system" : "user")) }),
  ),
  request(
    "text parts",
    "chat_completions",
    (n) => chat({ messages: [said(times(n, () => ({ type: "text", text: "x" })))] }),
  ),
  request(
    "images",
    "chat_completions",
    (n) =>
      chat({
        messages: [
          said(times(n, () => ({ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }))),
        ],
      }),
  ),
  request(
    "characters of text",
    "chat_completions",
    (n) => chat({ messages: [said("word ".repeat(n * 20))] }),
  ),
  request(
    "characters of one image",
    "chat_completions",
    (n) =>
      chat({
        messages: [
          said([{ type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(n * 40)}` } }]),
        ],
      }),
  ),
  request("calls and results", "chat_completions", (n) => chat({ messages: loop(n, (i) => `call_${i}`) })),
  request(
    "calls and results of one id",
    "chat_completions",
    (n) => chat({ messages: loop(n, () => "same") }),
  ),
  request(
    "ids that become one",
    "chat_completions",
    (n) => chat({ messages: loop(n, (i) => String.fromCodePoint(0x4e00 + i)) }),
  ),
  request(
    "ids beside numbered ones",
    "chat_completions",
    (n) => chat({ messages: loop(n, (i) => i % 2 ? "a" : `a_${i}`) }),
  ),
  request(
    "names that become one",
    "chat_completions",
    (n) => chat({ messages: loop(n, (i) => `c${i}`, (i) => String.fromCodePoint(0x4e00 + i)) }),
  ),
  request(
    "long names that end apart",
    "chat_completions",
    (n) =>
      chat({ messages: loop(n, (i) => `c${i}`, (i) => `${"x".repeat(60)}${i >> 1}${i % 2 ? "é" : "è"}`) }),
  ),
  request(
    "results without calls",
    "chat_completions",
    (n) =>
      chat({
        messages: [said("x"), ...times(n, (i) => ({ role: "tool", tool_call_id: `c${i}`, content: "x" }))],
      }),
  ),
  request(
    "turns of a tool loop",
    "chat_completions",
    (n) => chat({ messages: times(n, (i) => loop(1, () => `c${i}`)).flat() }),
  ),
  request(
    "characters of arguments",
    "chat_completions",
    (n) =>
      chat({
        messages: [said("x"), {
          role: "assistant",
          tool_calls: [call("c", "f", `{"a":"${"x".repeat(n * 20)}"}`)],
        }],
      }),
  ),
  request("stop sequences", "chat_completions", (n) => chat({ stop: times(n, (i) => `s${i}`) })),
  request("metadata", "chat_completions", (n) => chat({ metadata: fieldsOf(n, () => "v") })),
  request(
    "logit_bias",
    "chat_completions",
    (n) => chat({ logit_bias: Object.fromEntries(times(n, (i) => [i, 1])) }),
  ),
  request("unknown fields", "chat_completions", (n) => chat(fieldsOf(n, () => "v"))),
  request(
    "unknown fields of a message",
    "chat_completions",
    (n) => chat({ messages: [{ ...said("x"), ...fieldsOf(n, () => "v") }] }),
  ),
  request(
    "unknown fields of a part",
    "chat_completions",
    (n) => chat({ messages: [said([{ type: "text", text: "x", ...fieldsOf(n, () => "v") }])] }),
  ),
  request(
    "cache marks",
    "chat_completions",
    (n) => chat({ messages: [said(times(n, () => ({ type: "text", text: "x", ...MARK })))] }),
  ),
  request("allowed tools", "chat_completions", (n) =>
    chat({
      tools: times(200, (i) => tool(`f${i}`)),
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: times(n, (i) => tool(`f${i % 200}`)) },
      },
    })),
  request(
    "properties of a schema",
    "chat_completions",
    (n) =>
      chat({ tools: [tool("f", { type: "object", properties: fieldsOf(n, () => ({ type: "string" })) })] }),
  ),
  request("branches of a schema", "chat_completions", (n) =>
    chat({
      tools: [tool("f", {
        type: "object",
        anyOf: times(n, (i) => ({ properties: { [`p${i}`]: {} }, required: ["all", `p${i}`] })),
      })],
    })),
  request(
    "required names of two branches",
    "chat_completions",
    (n) => chat({ tools: [tool("f", { anyOf: times(2, () => ({ required: times(n, (i) => `p${i}`) })) })] }),
  ),
  request(
    "values of an enum",
    "chat_completions",
    (n) =>
      chat({ tools: [tool("f", { type: "object", properties: { a: { enum: times(n, (i) => `v${i}`) } } })] }),
  ),
  request("references of an answer's schema", "chat_completions", (n) =>
    chat({
      response_format: {
        type: "json_schema",
        json_schema: {
          name: "s",
          schema: {
            type: "object",
            additionalProperties: false,
            properties: fieldsOf(n, (i) => ({ $ref: `#/$defs/d${i}` })),
            $defs: Object.fromEntries(times(n, (i) => [`d${i}`, { type: "string" }])),
          },
        },
      },
    })),
  request(
    "search domains",
    "chat_completions",
    (n) => chat(search(times(Math.min(n, 1000), (i) => `d${i}.example`))),
  ),
  request(
    "blocks",
    "messages",
    (n) => messages({ messages: [said(times(n, () => ({ type: "text", text: "x" })))] }),
  ),
  request(
    "system blocks",
    "messages",
    (n) => messages({ system: times(n, () => ({ type: "text", text: "x" })) }),
  ),
  request("documents", "messages", (n) =>
    messages({
      messages: [said(times(n, () => ({
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "x" },
        citations: { enabled: true },
      })))],
    })),
  request("content of one document", "messages", (n) =>
    messages({
      messages: [
        said([{
          type: "document",
          source: { type: "content", content: times(n, () => ({ type: "text", text: "x" })) },
        }]),
      ],
    })),
  request("search results", "messages", (n) =>
    messages({
      messages: [said(times(n, () => ({
        type: "search_result",
        source: "https://a.example",
        title: "t",
        content: [{ type: "text", text: "x" }],
      })))],
    })),
  request("citations", "messages", (n) =>
    messages({
      messages: [said("x"), {
        role: "assistant",
        content: [{
          type: "text",
          text: "x",
          citations: times(
            n,
            () => ({
              type: "char_location",
              cited_text: "x",
              document_index: 0,
              start_char_index: 0,
              end_char_index: 1,
            }),
          ),
        }],
      }, said("x")],
    })),
  request("thinking", "messages", (n) =>
    messages({
      messages: [said("x"), {
        role: "assistant",
        content: times(n, () => ({ type: "thinking", thinking: "x", signature: "s" })),
      }, said("x")],
    })),
  request("calls and results", "messages", (n) =>
    messages({
      messages: [
        said("x"),
        {
          role: "assistant",
          content: times(n, (i) => ({ type: "tool_use", id: `t${i}`, name: "f", input: { a: 1 } })),
        },
        said(times(n, (i) => ({ type: "tool_result", tool_use_id: `t${i}`, content: "x" }))),
      ],
    })),
  request("stop sequences", "messages", (n) => messages({ stop_sequences: times(n, (i) => `s${i}`) })),
  request(
    "unknown blocks",
    "messages",
    (n) => {
      const blocks = times(n, () => ({ type: "container_upload", file_id: "f" }));
      return messages({ messages: [said([{ type: "text", text: "x" }, ...blocks])] });
    },
  ),
  request(
    "items",
    "responses",
    (n) => responses({ input: times(n, (i) => ({ role: i % 2 ? "assistant" : "user", content: "x" })) }),
  ),
  request(
    "parts",
    "responses",
    (n) => responses({ input: [said(times(n, () => ({ type: "input_text", text: "x" })))] }),
  ),
  request("reasoning", "responses", (n) =>
    responses({
      input: [
        ...times(
          n,
          (i) => ({ type: "reasoning", id: `rs_${i}`, summary: [{ type: "summary_text", text: "x" }] }),
        ),
        said("x"),
      ],
    })),
  request("calls and results", "responses", (n) =>
    responses({
      input: times(n, (i) => [
        { type: "function_call", call_id: `c${i}`, name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: `c${i}`, output: "x" },
      ]).flat(),
    })),
  request("fields to include", "responses", (n) => responses({ include: times(n, (i) => `field.${i}`) })),
].flat();
