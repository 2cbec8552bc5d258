/** Sources that chat-completions providers cite in their own ways, as the official clients read them in all formats. */
import { assertEquals } from "@std/assert";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";

type Fields = Record<string, unknown>;

/** The messages of a whole answer and the deltas of a stream. */
interface Answer {
  whole: Fields;
  deltas: Fields[];
}

interface Cited {
  url: string;
  title: string | null;
  /** Of the text; absent in messages. */
  range?: [number, number];
  quote?: string;
}

const SOURCES = {
  0: { url: "https://a.org/nobel", title: "Nobel", snippets: [["Prize"]], source: "wikipedia" },
  1: { url: "https://b.org", title: "B" },
  2: { title: "without a page" },
};

/** What the caller's client reads, streamed or whole: the text, the sources, and fields of the vendor. */
async function asked(
  url: string,
  format: "chat" | "responses" | "messages",
  stream: boolean,
): Promise<{ text: string; cited: Cited[]; vendor?: unknown }> {
  const openai = new OpenAI({ apiKey: SECRET, baseURL: `${url}/v1`, maxRetries: 0 });
  const result = JSON.stringify(SOURCES);
  const model = "p/model";
  if (format === "chat") {
    const call = { id: "c1", type: "function" as const, function: { name: "look", arguments: "{}" } };
    const body = {
      model,
      messages: [
        { role: "user" as const, content: "Who?" },
        { role: "assistant" as const, content: null, tool_calls: [call] },
        { role: "tool" as const, tool_call_id: "c1", content: result },
      ],
    };
    const answer = stream
      ? await openai.chat.completions.stream(body).finalChatCompletion()
      : await openai.chat.completions.create(body);
    const { content, annotations, ...message } = answer.choices[0].message;
    return {
      text: content!,
      cited: (annotations ?? []).map(({ url_citation: c }) => ({
        url: c.url,
        title: c.title,
        range: [c.start_index, c.end_index],
      })),
      vendor: (message as Fields).citations,
    };
  }
  if (format === "responses") {
    const body = {
      model,
      input: [
        { role: "user" as const, content: "Who?" },
        { type: "function_call" as const, call_id: "c1", name: "look", arguments: "{}" },
        { type: "function_call_output" as const, call_id: "c1", output: result },
      ],
    };
    const answer = stream
      ? await openai.responses.stream(body).finalResponse()
      : await openai.responses.create(body);
    const [item] = answer.output;
    const [part] = item.type === "message" ? item.content : [];
    return {
      text: answer.output_text,
      cited: (part.type === "output_text" ? part.annotations : []).map((a) =>
        a.type === "url_citation"
          ? { url: a.url, title: a.title, range: [a.start_index, a.end_index] }
          : { url: a.type, title: null }
      ),
    };
  }
  const anthropic = new Anthropic({ apiKey: SECRET, baseURL: url, maxRetries: 0 });
  const body = {
    model,
    max_tokens: 100,
    messages: [
      { role: "user" as const, content: "Who?" },
      {
        role: "assistant" as const,
        content: [{ type: "tool_use" as const, id: "c1", name: "look", input: {} }],
      },
      {
        role: "user" as const,
        content: [{ type: "tool_result" as const, tool_use_id: "c1", content: result }],
      },
    ],
  };
  const answer = stream
    ? await anthropic.messages.stream(body).finalMessage()
    : await anthropic.messages.create(body);
  const [block] = answer.content;
  const text = block.type === "text" ? block : { text: "", citations: [] };
  return {
    text: text.text,
    cited: (text.citations ?? []).map((c) =>
      c.type === "web_search_result_location"
        ? { url: c.url, title: c.title, ...(c.cited_text && { quote: c.cited_text }) }
        : { url: c.type, title: null }
    ),
  };
}

async function check(
  route: string,
  answer: Answer,
  text: string,
  cited: Cited[],
  vendor?: unknown,
): Promise<void> {
  const provider = loopbackProvider(({ text }) => {
    const head = { id: "x", model: route };
    const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 };
    if (!JSON.parse(text).stream) {
      const message = { role: "assistant", ...answer.whole };
      const choices = [{ index: 0, finish_reason: "stop", message }];
      return Response.json({ ...head, object: "chat.completion", created: 1, choices, usage });
    }
    const chunks = [
      ...answer.deltas.map((delta) => ({ ...head, choices: [{ index: 0, delta }] })),
      { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage },
    ];
    return sseResponse([...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n"]);
  });
  const model = { routes: [{ provider: "p", model: route }] };
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url, model } });
  try {
    for (const stream of [false, true]) {
      for (const format of ["chat", "responses", "messages"] as const) {
        const read = await asked(gateway.url, format, stream);
        const name = `${format} ${stream}`;
        assertEquals(read.text, text, name);
        const expected = cited.map(({ range = [0, 0], quote, ...source }) =>
          format === "messages" ? { ...source, ...(quote && { quote }) } : { ...source, range }
        );
        assertEquals(read.cited, expected as Cited[], name);
        if (format === "chat") assertEquals(read.vendor, vendor, name);
      }
    }
  } finally {
    await gateway.close();
    await provider.close();
  }
}

const said = (text: string) => ({ type: "text", text });
const reference = (...reference_ids: unknown[]) => ({ type: "reference", reference_ids });

Deno.test("numbers by which Mistral cites the results of a tool become their pages", async () => {
  const parts = [
    said("Nihon Hidankyo"),
    reference(0, "1"),
    said(" has won"),
    reference(2, 7, 0, null),
    said("."),
  ];
  const answer = {
    whole: { content: parts },
    deltas: [
      { content: "Nihon " },
      { content: "Hidankyo" },
      ...parts.slice(1).map((part) => ({ content: [part] })),
    ],
  };
  const cited = [{ url: "https://a.org/nobel", title: "Nobel" }, { url: "https://b.org", title: "B" }];
  await check("mistral-large-latest", answer, "Nihon Hidankyo has won.", cited);
  // Another model's numbers are not taken for those of sources.
  await check("gpt-x", answer, "Nihon Hidankyo has won.", []);
});

Deno.test("a page that Mistral found itself is a source", async () => {
  const parts = [
    said("It rains"),
    { type: "tool_reference", tool: "web_search", title: "Rain", url: "https://rain.org", favicon: null },
    { type: "tool_reference", tool: "web_search", title: "Rain", url: "https://rain.org" },
    { type: "tool_reference", tool: "web_search", title: "nowhere" },
    { type: "reference" },
    said("."),
  ];
  const answer = { whole: { content: parts }, deltas: parts.map((part) => ({ content: [part] })) };
  await check("mistral-medium", answer, "It rains.", [{ url: "https://rain.org", title: "Rain" }]);
});

Deno.test("Cohere's citations name the pages of their sources, with the cited text", async () => {
  const document = { id: "doc:0", url: "https://a.org", title: "A", snippet: "Utrecht, 19 August." };
  const citations = [
    {
      start: 3,
      end: 10,
      text: "Utrecht",
      type: "TEXT_CONTENT",
      sources: [{ type: "document", id: "doc:0", document }, {
        type: "document",
        id: "doc:1",
        document: { id: "doc:1" },
      }],
    },
    {
      start: 11,
      end: 13,
      text: "is",
      sources: [{ type: "tool", id: "t", tool_output: { url: "https://t.org" } }],
    },
    { start: 0, end: 2, sources: null },
    "https://string.org",
  ];
  const answer = {
    whole: { content: "In Utrecht is snow", citations },
    deltas: [{ content: "In Utrecht" }, { content: " is snow" }, { citations: citations.slice(0, 1) }, {
      citations: citations.slice(1),
    }],
  };
  const cited: Cited[] = [
    { url: "https://a.org", title: "A", range: [3, 10], quote: "Utrecht, 19 August." },
    { url: "https://t.org", title: "", range: [11, 13] },
  ];
  await check("command-a", answer, "In Utrecht is snow", cited, citations);
});

Deno.test("Cohere counts characters, and clients count UTF-16 units", async () => {
  const sources = [{ type: "document", id: "d", document: { url: "https://a.org", title: "A" } }];
  const citations = [{ start: 2, end: 4, text: "go", sources }];
  const answer = {
    whole: { content: "🎉 go 🎉", citations },
    deltas: [{ content: "🎉 go 🎉", citations }],
  };
  await check(
    "command-a",
    answer,
    "🎉 go 🎉",
    [{ url: "https://a.org", title: "A", range: [3, 5] }],
    citations,
  );
});
