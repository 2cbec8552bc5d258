/** Texts that a client cut in the middle of a character reach providers as JSON that every parser takes. */
import { assertEquals } from "@std/assert";
import { wellFormed } from "../../src/exchange/json.ts";
import type { Part } from "../../src/exchange/part.ts";
import { WholeCharacters } from "../../src/pipeline/generation/whole_characters.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

Deno.test("wellFormed() replaces halves of pairs, and nothing that only looks like one", () => {
  const cases: [unknown, unknown][] = [
    ["a\ud83d", "a\ufffd"],
    ["\ude00b", "\ufffdb"],
    ["\ud83d\ude00", "\ud83d\ude00"],
    ["\\ud83d", "\\ud83d"],
    ["\\\ud83d", "\\\ufffd"],
    ['"\ud83d"\n', '"\ufffd"\n'],
    [{ "\ud83d": "\ud7ff\ue000" }, { "\ufffd": "\ud7ff\ue000" }],
  ];
  for (const [given, expected] of cases) {
    assertEquals(JSON.parse(wellFormed(JSON.stringify(given))), expected);
  }
});

Deno.test("half a character of a request does not reach a provider", async () => {
  for (
    const [api, path] of [["openai-chat", "/v1/chat/completions"], [
      "anthropic-messages",
      "/v1/messages",
    ]] as const
  ) {
    const provider = loopbackProvider(() => new Response("{}", { status: 400 }));
    const gateway = await testGateway({ p: { api, url: provider.url } });
    try {
      const content = "A smile \\\\ud83d: \ud83d";
      const body = { model: "p/model", max_tokens: 9, messages: [{ role: "user", content }] };
      await (await gateway.post(path, body)).body?.cancel();
      assertEquals(
        provider.seen[0].text.includes("A smile \\\\\\\\ud83d: \\ufffd"),
        true,
        provider.seen[0].text,
      );
    } finally {
      await gateway.close();
      await provider.close();
    }
  }
});

Deno.test("WholeCharacters joins halves over deltas of a block, and replaces what stays alone", () => {
  const text = (text: string, block = 0): Part => ({ type: "text-delta", block, text });
  const end = (block = 0): Part => ({ type: "text-end", block });
  const mended = (...batches: Part[][]) => {
    const characters = new WholeCharacters();
    return batches.flatMap((parts) => {
      characters.mend(parts, 0);
      return parts;
    });
  };
  const logprobs = [{ token: "x", logprob: 0, top: [] }];
  const cases: [Part[][], Part[]][] = [
    [[[text("a"), text("😀"), end()]], [text("a"), text("😀"), end()]],
    [[[text("a\ud83d")], [text("\ude00b"), end()]], [text("a"), text("😀b"), end()]],
    [[[text("\ud83d")], [text("\ude00")], [end()]], [text("😀"), end()]],
    [[[text("\ud83d"), text("\ud83d"), text("\ude00")]], [text("\ufffd"), text("😀")]],
    [[[text("\ud83d"), end()], [text("x", 1)]], [text("\ufffd"), end(), text("x", 1)]],
    [[[text("\ude00a\ud83db")]], [text("\ufffda\ufffdb")]],
    // Each block has its own.
    [
      [[text("\ud83d", 0), text("\ud83c", 1), text("\ude00", 0), text("\udf00", 1)]],
      [text("😀", 0), text("🌀", 1)],
    ],
    [
      [[{ type: "text-delta", block: 0, text: "\ud83d", logprobs }, text("\ude00")]],
      [{ type: "text-delta", block: 0, text: "", logprobs }, text("😀")],
    ],
    [
      [[{ type: "reasoning-delta", block: 0, section: 1, text: "\ud83d" }, {
        type: "reasoning-end",
        block: 0,
      }]],
      [{ type: "reasoning-delta", block: 0, section: 1, text: "\ufffd" }, {
        type: "reasoning-end",
        block: 0,
      }],
    ],
  ];
  for (const [batches, expected] of cases) assertEquals(mended(...batches), expected);
});

Deno.test("no caller gets half a character of an answer, streamed or whole", async () => {
  const chunk = (delta: string, more = "null") =>
    `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":${more}}]}\n\n`;
  const content = (text: string) => chunk(`{"content":"${text}"}`);
  const call = (text: string) =>
    chunk(
      `{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":"${text}"}}]}`,
    );
  const stream = [
    // Events of one form, which are read without parsing.
    ...["a", "b", "c", "d", "e", "\\ud83d", "\\ude00", "f", "g", "\\ud83d", "h", "i \\ude00"].map(content),
    call('{\\"a\\":\\"\\ud83d'),
    call('\\ude00\\"}'),
    chunk("{}", '"tool_calls"'),
    'data: {"id":"c","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}\n\n',
    "data: [DONE]\n\n",
  ].join("");
  const whole =
    '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":"abcde\\ud83d\\ude00fg\\ud83dhi \\ude00","tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{\\"a\\":\\"\\ud83d\\ude00\\"}"}}]}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}';
  const provider = loopbackProvider(({ body }) =>
    body.stream === true
      ? new Response(stream, { headers: { "content-type": "text/event-stream" } })
      : new Response(whole, { headers: { "content-type": "application/json" } })
  );
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  try {
    for (const path of ["/v1/chat/completions", "/v1/messages", "/v1/responses"]) {
      for (const stream of [true, false]) {
        const said = path === "/v1/responses"
          ? { input: "Hi" }
          : { max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
        // Twice: an answer like the last one is read without parsing.
        for (let i = 0; i < 2; i++) {
          const response = await gateway.post(path, { model: "p/model", stream, ...said });
          const got = await response.text();
          assertEquals(/\\ud[89a-f]/i.test(got), false, got);
          const texts = got.match(/(?<="(?:delta|content|text)":")(?:[^"\\]|\\.)*(?=")/g) ?? [];
          const joined = texts.join("");
          assertEquals(joined.includes("abcde😀fg\ufffdhi \ufffd"), true, `${path} ${stream}: ${joined}`);
          // In the text and in the arguments.
          assertEquals(got.split("😀").length > 2, true, got);
        }
      }
    }
  } finally {
    await gateway.close();
    await provider.close();
  }
});
