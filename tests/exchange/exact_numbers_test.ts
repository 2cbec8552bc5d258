/** Numbers with more digits than a number holds, on their way through requests, answers, streams and masks. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { argumentsObject, mayRound, parse, parseExact, rounded } from "../../src/exchange/json.ts";
import { PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { decode, encode } from "../formats/conversions.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";

const LONG = "12345678901234567890";
const ARGUMENTS =
  `{"id":${LONG},"deep":[{"n":-98765432109876543210,"price":1.234567890123456789,"near":0.1}],"most":1e400,"least":-2.5E-400}`;

Deno.test("parseExact() keeps what would be rounded, and reads everything else as JSON.parse does", () => {
  const same = [
    ARGUMENTS,
    `[${LONG}]`,
    LONG,
    "[9007199254740993,9007199254740992,1234567890123456]",
    '{"text":"1234567890123456789","__proto__":1}',
  ];
  for (const text of same) assertEquals(JSON.stringify(parseExact(text)), text);
  // What another computer writes for a number that both hold alike stays a number.
  assertEquals(parseExact('{"temperature":0.69999999999999996,"n":9007199254740992}'), {
    temperature: 0.7,
    n: 9007199254740992,
  });
  assertEquals(rounded(parseExact(LONG)), 12345678901234567000);
  assertEquals(typeof parse(`[${LONG}]`), "object");
  const deep = `${"[".repeat(200_000)}${LONG}${"]".repeat(200_000)}`;
  parseExact(deep);
});

Deno.test("argumentsObject() keeps long numbers", () => {
  assertEquals(JSON.stringify(argumentsObject(ARGUMENTS)), ARGUMENTS);
});

Deno.test("parseExact() walks no text whose long digits stand in ids", () => {
  const native = JSON.parse;
  let walked = 0;
  JSON.parse = (text: string, ...more: []) => {
    walked += more.length;
    return native(text, ...more);
  };
  try {
    parseExact('{"id":"chatcmpl-mock00000000000000001","trace":"20251122103000123456","n":1}');
    assertEquals(walked, 0);
    parseExact('{"id":"chatcmpl-mock00000000000000001","n":[ 12345678901234567890 ]}');
    assertEquals(walked, 1);
    parseExact("12345678901234567890");
    assertEquals(walked, 2);
  } finally {
    JSON.parse = native;
  }
});

Deno.test("parseExact() reads what is only written like a large exponent as JSON.parse does", () => {
  for (const text of ['["1e400","\\"1e400"]', "[1e100,1e-300,0e999,0.0e-400]", '{"a1e400":12,"b":1e+2}']) {
    assertEquals(parseExact(text), JSON.parse(text));
  }
  assertEquals(JSON.stringify(parseExact('["\\"1e400",1e999]')), '["\\"1e400",1e999]');
});

Deno.test("a provider of the caller's format gets long numbers of options and unknown fields as they were written", async () => {
  const cases = [
    [
      "openai-chat",
      "/v1/chat/completions",
      `"messages":[{"role":"user","content":"Hi"}],"seed":${LONG}`,
      "seed",
    ],
    [
      "openai-chat",
      "/v1/chat/completions",
      `"messages":[{"role":"user","content":"Hi"}],"random_seed":${LONG}`,
      "random_seed",
    ],
    ["openai-responses", "/v1/responses", `"input":"Hi","vendor_id":${LONG}`, "vendor_id"],
    [
      "anthropic-messages",
      "/v1/messages",
      `"max_tokens":99,"messages":[{"role":"user","content":"Hi"}],"vendor_id":${LONG}`,
      "vendor_id",
    ],
  ] as const;
  for (const [api, path, fields, name] of cases) {
    const bodies: string[] = [];
    const provider = loopbackProvider((seen) => {
      bodies.push(seen.text);
      return new Response("{}", { status: 400 });
    });
    const gateway = await testGateway({ p: { api, url: provider.url } });
    try {
      const response = await post(gateway.url + path, fields);
      await response.body?.cancel();
      assertStringIncludes(bodies.join(), `"${name}":${LONG}`);
    } finally {
      await gateway.close();
      await provider.close();
    }
  }
});

Deno.test("options that no number holds are refused by name, and so are those that are not whole", async () => {
  const provider = loopbackProvider(() => new Response("{}", { status: 500 }));
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  const chat = '"messages":[{"role":"user","content":"Hi"}]';
  const messages = chat + ',"max_tokens":99';
  const cases: [string, string, string, string][] = [
    ["/v1/chat/completions", `${chat},"temperature":1e400`, "temperature", "got a number that is too large"],
    ["/v1/chat/completions", `${chat},"seed":1e400`, "seed", "got a number that is too large"],
    ["/v1/chat/completions", `${chat},"max_tokens":${LONG}`, "max_tokens", "got 12345678901234567000"],
    ["/v1/chat/completions", `${chat},"max_tokens":1.5`, "max_tokens", "got 1.5"],
    ["/v1/chat/completions", `${chat},"n":-1e400`, "n", "got a number that is too large"],
    [
      "/v1/responses",
      `"input":"Hi","max_output_tokens":1e400`,
      "max_output_tokens",
      "got a number that is too large",
    ],
    ["/v1/messages", `${messages},"top_k":1.5`, "top_k", "got 1.5"],
    [
      "/v1/messages",
      `${messages},"thinking":{"type":"enabled","budget_tokens":${LONG}}`,
      "thinking.budget_tokens",
      `got ${LONG}`,
    ],
    [
      "/v1/messages",
      `${messages},"thinking":{"type":"enabled","budget_tokens":1e400}`,
      "thinking.budget_tokens",
      "got 1e400",
    ],
  ];
  try {
    for (const [path, fields, param, words] of cases) {
      const response = await post(gateway.url + path, fields);
      const text = await response.text();
      assertEquals(response.status, 422, text);
      assertStringIncludes(text, `Cannot read ${param}: `);
      assertStringIncludes(text, words);
    }
    for (const text of ["NaN", "Infinity", "-Infinity", "0x10", "+1", "01", "1."]) {
      const response = await post(gateway.url + "/v1/chat/completions", `${chat},"temperature":${text}`);
      assertEquals(response.status, 422);
      assertStringIncludes(await response.text(), "expected JSON");
    }
  } finally {
    await gateway.close();
    await provider.close();
  }
});

function post(url: string, fields: string): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
    body: `{"model":"p/model",${fields}}`,
  });
}

Deno.test("requests keep long numbers of arguments between all formats", () => {
  const call = { id: "c1", type: "function", function: { name: "f", arguments: ARGUMENTS } };
  const chat = {
    model: "acme/one",
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "ok" },
    ],
  };
  const messages = parseExact(`{"model":"acme/one","max_tokens":9,"messages":[{"role":"user","content":"Hi"},
    {"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":${ARGUMENTS}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}]}`);
  const prompts = [decode("chat_completions", chat), decode("messages", messages as Record<string, unknown>)];
  for (const prompt of prompts) {
    for (const target of ["chat_completions", "responses", "messages", "gemini"] as const) {
      const written = encodeText(prompt, target);
      assertStringIncludes(written, LONG);
      assertStringIncludes(written, "1.234567890123456789");
    }
  }
});

function encodeText(prompt: Parameters<typeof encode>[0], target: Parameters<typeof encode>[1]): string {
  const { body } = PROVIDER_FORMATS[target].encodeRequest(prompt, {
    model: "m",
    stream: false,
    maxOutput: null,
    features: null,
    efforts: null,
  });
  return JSON.stringify(body);
}

const ANSWERS: Record<string, string> = {
  "anthropic-messages":
    `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t","name":"f","input":${ARGUMENTS}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`,
  "gemini":
    `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${ARGUMENTS}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`,
  "openai-chat":
    `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":${
      JSON.stringify(ARGUMENTS)
    }}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
};

for (const api of ["anthropic-messages", "gemini", "openai-chat"] as const) {
  Deno.test(`answers of ${api} keep long numbers, whole and streamed, under a mask too`, async () => {
    const provider = loopbackProvider((seen) =>
      api === "gemini" && seen.path.includes("alt=sse")
        ? sseResponse([`data: ${ANSWERS.gemini}\n\n`])
        : new Response(ANSWERS[api], { headers: { "content-type": "application/json" } })
    );
    const gateway = await testGateway({ p: { api, url: provider.url } });
    try {
      const ask = "Write to jane.roe@example.com";
      const plugins = { dlp: { mode: "mask", entity_types: ["EMAIL_ADDRESS"] } };
      const bodies: [string, string][] = [
        ["/v1/chat/completions", `"messages":[{"role":"user","content":"${ask}"}]`],
        [
          "/v1/messages",
          `"max_tokens":99,"messages":[{"role":"user","content":"${ask}"},
          {"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{"to":"jane.roe@example.com","n":${LONG}}}]},
          {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"ok"}]}]`,
        ],
        ["/v1/responses", `"input":"${ask}"`],
      ];
      for (const [path, fields] of bodies) {
        for (const stream of api === "gemini" ? [false, true] : [false]) {
          const response = await fetch(gateway.url + path, {
            method: "POST",
            headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
            body: `{"model":"p/model","stream":${stream},"plugins":${JSON.stringify(plugins)},${fields}}`,
          });
          const text = await response.text();
          assertEquals(response.status, 200, text);
          assertStringIncludes(text, LONG);
          assertStringIncludes(text, "98765432109876543210");
        }
      }
    } finally {
      await gateway.close();
      await provider.close();
    }
  });
}

Deno.test("mayRound() looks at each character of a text about once, however many digits stand together", () => {
  for (
    const text of [
      "7".repeat(200_000),
      `${"7".repeat(15)}x`.repeat(12_500),
      `${"7".repeat(50)}x`.repeat(4000),
    ]
  ) {
    let looks = 0;
    const counted = {
      length: text.length,
      charCodeAt(at: number) {
        looks++;
        return text.charCodeAt(at);
      },
      // No pattern finds anything in it.
      toString: () => "",
    };
    mayRound(counted as unknown as string);
    assert(looks <= 3 * text.length, `${looks} looks at ${text.length} characters`);
  }
  // A number behind digits that are none is found all the same.
  assertEquals(mayRound(`"${"7".repeat(100)}", ${LONG}`), true);
  assertEquals(mayRound(`"x${"7".repeat(1000)}x"`), false);
});
