/** Audio that a provider of chat-completions streams: it reaches the caller while it is generated. */
import { assert, assertEquals } from "@std/assert";
import OpenAI from "openai";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { inTime } from "../support/time.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const MAIL = "jane.doe@corp.example";
const chunk = (delta: Any, finish_reason: string | null = null) =>
  `data: ${
    JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason }],
    })
  }\n\n`;
const PCM = [btoa("abcd"), btoa("efg")];

/** As OpenAI streams it, the words in these pieces. The rest of the stream follows when `on` is called. */
function spoken(words: readonly string[]) {
  let on = () => {};
  const go = new Promise<void>((resolve) => on = resolve);
  const provider = loopbackProvider(() => {
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        const say = (...frames: string[]) => controller.enqueue(encoder.encode(frames.join("")));
        say(
          chunk({ role: "assistant", content: null, refusal: null }),
          chunk({ audio: { id: "audio_1", transcript: words[0] } }),
          chunk({ audio: { data: PCM[0] } }),
        );
        await go;
        say(
          ...words.slice(1).map((transcript) => chunk({ audio: { transcript } })),
          chunk({ audio: { data: PCM[1] } }),
          chunk({ audio: { expires_at: 1795859000 } }),
          chunk({}, "stop"),
          `data: ${
            JSON.stringify({
              id: "c",
              choices: [],
              usage: {
                prompt_tokens: 5,
                completion_tokens: 9,
                total_tokens: 14,
                completion_tokens_details: { audio_tokens: 7 },
              },
            })
          }\n\n`,
          "data: [DONE]\n\n",
        );
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  return { provider, on: () => on() };
}

const BODY = {
  model: "p/model",
  stream: true,
  modalities: ["text", "audio"],
  audio: { voice: "alloy", format: "pcm16" },
} as const;

async function rig(
  words: readonly string[],
  policy?: Record<string, unknown>,
  dlp: Record<string, unknown> = {},
) {
  const { provider, on } = spoken(words);
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } }, {
    ...(policy && {
      dlp,
      dlp_policies: { own: policy },
      keys: [{ name: "test", secret: SECRET, dlp_policy: "own" }],
    }),
  });
  const client = new OpenAI({ apiKey: SECRET, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const close = async () => {
    on();
    await gateway.close();
    await provider.close();
  };
  return { client, on, close };
}

async function deltas(
  client: OpenAI,
  content: string,
  seen: (audio: Any) => void = () => {},
): Promise<Any[]> {
  const all: Any[] = [];
  const stream: Any = await client.chat.completions.create(
    { ...BODY, messages: [{ role: "user", content }] } as Any,
  );
  for await (const { choices } of stream) {
    const audio = choices[0]?.delta.audio;
    if (audio === undefined) continue;
    all.push(audio);
    seen(audio);
  }
  return all;
}

Deno.test("audio reaches callers of chat-completions while it is generated", async () => {
  const { client, on, close } = await rig(["Good ", "day."]);
  // The provider waits until the caller has the first pieces.
  const all = await inTime(deltas(client, "Hi", ({ data }) => data === PCM[0] && on()), {
    what: "the first pieces of the audio",
  });
  assertEquals(all, [
    { id: "audio_1", transcript: "Good " },
    { data: PCM[0] },
    { transcript: "day." },
    { data: PCM[1] },
    { expires_at: 1795859000 },
  ]);
  await close();
});

Deno.test("callers of other formats and of whole answers get no pieces", async () => {
  const { client, on, close } = await rig(["Good ", "day."]);
  on();
  const stream = await client.responses.create({ model: "p/model", input: "Hi", stream: true });
  const types = new Set<string>();
  for await (const { type } of stream) types.add(type);
  assert(
    types.has("response.completed") && ![...types].some((type) => type.includes("audio")),
    [...types].join(),
  );
  await close();
});

for (const mode of ["mask", "block"] as const) {
  Deno.test(`the words of audio are screened before a caller hears them, in mode ${mode}`, async () => {
    const { client, on, close } = await rig(["Ask jane.doe@", "corp.example."], {
      mode: "alert",
      answers: mode,
      entity_types: ["EMAIL_ADDRESS"],
    });
    on();
    const all = await deltas(client, "Who?").catch(() => []);
    const words = all.map(({ transcript }) => transcript ?? "").join("");
    assert(!words.includes("jane") && all.length <= 1, JSON.stringify(all));
    await close();
  });
}

Deno.test("masked values are put back into the words of audio as a whole", async () => {
  const { client, on, close } = await rig(["Wrote to <EMAIL_", "ADDRESS_1>."], {
    mode: "mask",
    entity_types: ["EMAIL_ADDRESS"],
  }, { restore: true });
  on();
  const all = await deltas(client, `Write to ${MAIL}`);
  assertEquals(all.map(({ id, transcript }) => [id, transcript]), [["audio_1", `Wrote to ${MAIL}.`]]);
  await close();
});
