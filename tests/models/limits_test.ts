import { assert, assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { CallerFormatName } from "../../src/exchange/format_name.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { CALLER_FORMATS, LEAVES } from "../../src/formats/mod.ts";
import { countAll } from "../../src/formats/tokens/tokenizer.ts";
import {
  countIfOver,
  leastTokens,
  lengthsOf,
  measure,
  mostInput,
  type PromptSize,
  refuseOversize,
} from "../../src/models/limits.ts";

const LIMITS = { maxTextChars: 1000, maxFileBytes: 300, maxMessages: 3 };
const WIDE = { maxTextChars: 1e9, maxFileBytes: 1e9, maxMessages: 1e6 };

function read(body: Record<string, unknown>, formatName: CallerFormatName = "messages") {
  const whole = { model: "a/b", ...(formatName === "messages" && { max_tokens: 1 }), ...body };
  const prompt = CALLER_FORMATS[formatName].decodeRequest(whole, { unseal: () => null, headers: () => ({}) });
  return { prompt, reading: readLeaves(whole, LEAVES[formatName]) };
}

function sizeOf(body: Record<string, unknown>, formatName?: CallerFormatName, limits = WIDE): PromptSize {
  const { prompt, reading } = read(body, formatName);
  return measure(prompt, reading, limits);
}

const text = (length: number) => ({ type: "text", text: "x".repeat(length) });
const user = (...content: unknown[]) => ({ messages: [{ role: "user", content }] });
const result = (...content: unknown[]) => ({ type: "tool_result", tool_use_id: "c", content });
const file = (bytes: number) => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data: "/".repeat(Math.ceil(bytes * 4 / 3)) },
});

Deno.test("measure() counts text wherever it stands, and what is no text", () => {
  const document = { type: "document", source: { type: "text", media_type: "text/plain", data: "12345" } };
  assertEquals(sizeOf(user(text(10), result(text(20), text(30)), document)).chars, 65);
  assertEquals(sizeOf(user(file(30), result(file(30)))).attachments, 2);
});

Deno.test("measure() refuses what is over a limit by one, also inside a result", () => {
  const code = (...content: unknown[]) =>
    assertThrows(() => sizeOf(user(...content), "messages", LIMITS), Failure).code;
  sizeOf(user(text(1000)), "messages", LIMITS);
  assertEquals(code(text(1001)), "text_content_too_large");
  assertEquals(code(text(500), result(text(501))), "text_content_too_large");
  sizeOf(user(file(300)), "messages", LIMITS);
  assertEquals(code(file(303)), "file_too_large");
  assertEquals(code(result(file(303))), "file_too_large");
});

Deno.test("measure() takes an attachment of exactly the largest size, however its base64 is padded or wrapped", () => {
  for (const size of [298, 299, 300]) {
    for (const [limit, refused] of [[size, false], [size - 1, true]] as const) {
      for (const wrapped of [false, true]) {
        const data = new Uint8Array(size).toBase64();
        const image = {
          type: "image",
          source: {
            type: "base64",
            media_type: "image/png",
            data: wrapped ? data.replaceAll(/.{76}/g, "$&\r\n") : data,
          },
        };
        const measured = () => sizeOf(user(image), "messages", { ...WIDE, maxFileBytes: limit });
        if (refused) assertEquals(assertThrows(measured, Failure).code, "file_too_large");
        else measured();
      }
    }
  }
});

Deno.test("measure() names the limit of attachments where text in one is over both limits", () => {
  const document = (text: string) => ({
    type: "document",
    source: { type: "base64", media_type: "text/plain", data: btoa(text) },
  });
  const code = (text: string, limits: typeof LIMITS) =>
    assertThrows(() => sizeOf(user(document(text)), "messages", limits), Failure).code;
  assertEquals(code("word ".repeat(300), LIMITS), "file_too_large");
  assertEquals(code("word ".repeat(300), { ...LIMITS, maxFileBytes: 1500 }), "text_content_too_large");
});

/** Places of a request at which a provider is told a text. */
const LONG = "word ".repeat(2000);
const SCHEMA = { type: "object", description: LONG, properties: {} };
const PLACES: [string, CallerFormatName, Record<string, unknown>][] = [
  ["an output schema", "chat_completions", {
    response_format: { type: "json_schema", json_schema: { name: "s", schema: SCHEMA } },
  }],
  ["an output schema", "messages", { output_config: { format: { type: "json_schema", schema: SCHEMA } } }],
  ["an output schema", "responses", {
    text: { format: { type: "json_schema", name: "s", schema: SCHEMA } },
  }],
  ["a document's title", "messages", {
    ...user({ type: "document", title: LONG, source: { type: "text", media_type: "text/plain", data: "d" } }),
  }],
  ["a document's context", "messages", {
    ...user({
      type: "document",
      context: LONG,
      source: { type: "text", media_type: "text/plain", data: "d" },
    }),
  }],
  ["a search result's title", "messages", {
    ...user({ type: "search_result", source: "https://a.test", title: LONG, content: [text(1)] }),
  }],
  ["a grammar", "chat_completions", {
    tools: [{
      type: "custom",
      custom: { name: "t", format: { type: "grammar", grammar: { syntax: "lark", definition: LONG } } },
    }],
  }],
  ["a grammar", "responses", {
    tools: [{ type: "custom", name: "t", format: { type: "grammar", syntax: "lark", definition: LONG } }],
  }],
  ["the description of a server of tools", "responses", {
    tools: [{ type: "mcp", server_label: "s", server_url: "https://a.test", server_description: LONG }],
  }],
  ["examples of input", "messages", {
    tools: [{ name: "t", input_schema: { type: "object" }, input_examples: [{ a: LONG }] }],
  }],
  ["stop sequences", "chat_completions", { stop: [LONG] }],
  ["stop sequences", "messages", { stop_sequences: [LONG] }],
  ["a prediction", "chat_completions", { prediction: { type: "content", content: LONG } }],
  ["a field that nobody knows", "chat_completions", { novel: { deep: [LONG] } }],
  ["a tool's schema", "messages", { tools: [{ name: "t", input_schema: SCHEMA }] }],
  ["the name of a field", "chat_completions", {
    tools: [{ type: "function", function: { name: "t", parameters: { properties: { [LONG]: {} } } } }],
  }],
];

for (const [what, formatName, more] of PLACES) {
  Deno.test(`${formatName}: ${what} counts for the limit of text, the context and the reservation`, async () => {
    const body = formatName === "responses"
      ? { input: "hi", ...more }
      : { messages: [{ role: "user", content: "hi" }], ...more };
    const { prompt, reading } = read(body, formatName);
    const code = (work: () => unknown) => assertThrows(work, Failure).code;
    const tight = { ...WIDE, maxTextChars: LONG.length };
    assertEquals(code(() => measure(prompt, reading, tight)), "text_content_too_large");
    const size = measure(prompt, reading, WIDE);
    assert(mostInput(size, null).text >= LONG.length);
    await countIfOver(reading, size, [1000], { tokens: { countAll }, key: "k" });
    assertEquals(code(() => refuseOversize(size, 1000)), "provider_payload_too_large");
  });
}

/** A sentence of the Universal Declaration of Human Rights, and its tokens when it is repeated 20 times, by the model that needs the fewest. */
const FEWEST: readonly (readonly [language: string, model: string, tokens: number, said: string])[] = [
  [
    "Bengali",
    "Gemini",
    660,
    "যেহেতু মানব পরিবারের সকল সদস্যের সমান ও অবিচ্ছেদ্য অধিকারসমূহ এবং সহজাত মর্যাদার স্বীকৃতি\u200cই হচ্ছে বিশ্বে শান্তি, স্বাধীনতা এবং ন্যায়বিচারের ভিত্তি;",
  ],
  [
    "Tamil",
    "Gemini",
    1300,
    "மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; அவர்கள் மதிப்பிலும், உரிமைகளிலும் சமமானவர்கள், அவர்கள் நியாயத்தையும் மனச்சாட்சியையும் இயற்பண்பாகப் பெற்றவர்கள். அவர்கள் ஒருவருடனொருவர் சகோதர உணர்வுப் பாங்கில் நடந்துகொள்ளல் வேண்டும்.",
  ],
  [
    "Khmer",
    "Gemini",
    1960,
    "ដោយយល់ឃើញថា ការទទួលស្គាល់សេចក្ដីថ្លៃថ្នូរជាប់ពីកំណើត និងសិទ្ធិស្មើភាពគ្នា និងសិទ្ធិមិនអាច លក់ ដូរ ផ្ទេរ ឬដកហូតបានរបស់សមាជិកទាំងអស់នៃគ្រួសារមនុស្ស គឺជាគ្រឹះនៃសេរីភាព យុត្ដិធម៌ និងសន្ដិភាពក្នុងពិភពលោក។",
  ],
  [
    "Japanese",
    "Gemini",
    760,
    "人類社会のすべての構成員の固有の尊厳と平等で譲ることのできない権利とを承認することは、世界における自由、正義及び平和の基礎であるので、",
  ],
  [
    "Chinese",
    "DeepSeek",
    480,
    "鉴于对人类家庭所有成员的固有尊严及其平等的和不移的权利的承认,乃是世界自由、正义与和平的基础,",
  ],
  [
    "Amharic",
    "Gemini",
    1680,
    "የሰው፡ልጅ፡ሁሉ፡ሲወለድ፡ነጻና፡በክብርና፡በመብትም፡እኩልነት፡ያለው፡ነው።፡የተፈጥሮ፡ማስተዋልና፡ሕሊና፡ስላለው፡አንዱ፡ሌላውን፡በወንድማማችነት፡መንፈስ፡መመልከት፡ይገባዋል።",
  ],
];

for (const [language, model, tokens, said] of FEWEST) {
  Deno.test(`a prompt in ${language} that fills the context of ${model} is not refused, and one twice as long is`, async () => {
    const { prompt, reading } = read(user({ type: "text", text: `${said}\n`.repeat(20) }));
    const size = measure(prompt, reading, WIDE);
    const half = tokens / 2;
    // As for `svc/auto`, with other models whose context is smaller or larger.
    await countIfOver(reading, size, [tokens / 4, half, tokens, 10 * tokens], {
      tokens: { countAll },
      key: "k",
    });
    refuseOversize(size, tokens);
    assertEquals(assertThrows(() => refuseOversize(size, half), Failure).code, "provider_payload_too_large");
  });
}

Deno.test("a prompt of numbers is above the contexts of all models that its tokens exceed", async () => {
  const { prompt, reading } = read(user({ type: "text", text: "1 22 333 ".repeat(1000) }));
  const size = measure(prompt, reading, WIDE);
  await countIfOver(reading, size, [1000, 4000], { tokens: { countAll }, key: "k" });
  assert(leastTokens(size) > 4000, String(leastTokens(size)));
});

Deno.test("mostInput() is at least a token for each byte, and never more than the context", () => {
  for (const [said, bytes] of [["中文字", 9], ["🙂", 4], ["a b c", 5]] as const) {
    const { text } = mostInput(sizeOf(user({ type: "text", text: said })), null);
    assert(text >= bytes && text < bytes + 60, `${said}: ${text}`);
  }
  const size = sizeOf(user(text(5000), { type: "document", source: { type: "url", url: "https://a.test" } }));
  assertEquals(mostInput(size, 2000), { media: 2000, text: 0 });
  assertEquals(mostInput(size, null).media, 400_000);
});

Deno.test("mostInput() of ordinary English and code is a small multiple of what a tokenizer counts", async () => {
  const english = Deno.readTextFileSync(new URL("../../src/manual/pages/start.md", import.meta.url));
  const code = Deno.readTextFileSync(new URL("../../src/models/limits.ts", import.meta.url));
  for (const [written, most] of [[english, 4.6], [code, 4.8]] as const) {
    const { prompt, reading } = read(user({ type: "text", text: written }));
    const size = measure(prompt, reading, WIDE);
    await countIfOver(reading, size, [1], { tokens: { countAll }, key: "k" });
    const counted = leastTokens(size) * 1.25;
    const ratio = mostInput(size, null).text / counted;
    assert(ratio > 1 && ratio < most, String(ratio));
  }
});

Deno.test("a provider's own tool that finds text by itself may fill the context, one that the client runs does not", () => {
  const media = (tool: Record<string, unknown>) => sizeOf({ input: "hi", tools: [tool] }, "responses").media;
  assertEquals(media({ type: "mcp", server_label: "s", server_url: "https://a.test" }), Infinity);
  assertEquals(media({ type: "local_shell" }), 0);
});

Deno.test("lengthsOf() counts what the gateway adds, in units and in bytes", () => {
  const added = lengthsOf([
    { type: "text", text: "é" },
    { type: "call", id: "c", name: "ab", kind: "function", arguments: "{}" },
    {
      type: "result",
      callId: "c",
      kind: "function",
      content: [{ type: "text", text: "xyz" }],
      isError: false,
    },
    { type: "reasoning", sections: ["中"], kind: "text" },
  ]);
  assertEquals(added, { chars: 9, bytes: 12 });
});

Deno.test("a prompt is refused only where every tokenizer would find it too long", async () => {
  // About one token a word: 4,000.
  const { prompt, reading } = read(user({ type: "text", text: "word ".repeat(4000) }));
  const size = measure(prompt, reading, WIDE);
  await countIfOver(reading, size, [3500], { tokens: { countAll }, key: "k" });
  assert(leastTokens(size) > 3000 && leastTokens(size) < 3500, String(leastTokens(size)));
  refuseOversize(size, 3500);
  assertEquals(assertThrows(() => refuseOversize(size, 3000), Failure).code, "provider_payload_too_large");
  refuseOversize(size, null);
});
