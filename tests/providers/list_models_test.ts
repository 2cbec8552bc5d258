/** Asking providers for their models: pages, odd answers, and strangers who mean no good. */
import { assertEquals, assertRejects } from "@std/assert";
import { apiNamed, type ListedModel } from "../../src/providers/apis/mod.ts";
import { keyCredential } from "../../src/providers/credentials/key.ts";
import { listModels } from "../../src/providers/list_models.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";

interface Asking {
  api?: string;
  preset?: string | null;
  path?: string;
  signal?: AbortSignal;
  showMs?: number;
  key?: string;
}

/** @param over is called before the provider closes */
async function listed(
  answer: (seen: Seen, nth: number) => Response | Promise<Response>,
  {
    api = "openai-chat",
    preset = null,
    path = "/v1",
    signal = new AbortController().signal,
    showMs,
    key = "the-key",
  }: Asking = {},
  over: () => void = () => {},
): Promise<{ models: ListedModel[] | null; seen: Seen[] }> {
  const provider = loopbackProvider(answer);
  try {
    const models = await listModels({
      name: "p",
      api: apiNamed(api),
      baseUrl: provider.url + path,
      credential: keyCredential(key),
      headers: { "x-own": "1" },
      maxVersion: null,
      firstByteMs: 1,
      idleMs: 1,
      retries: 0,
      breaker: { failures: 1, windowMs: 1, openMs: 1 },
      maxConcurrent: null,
    }, { preset, signal, showMs });
    return { models, seen: provider.seen };
  } finally {
    over();
    await provider.close();
  }
}

const list = (...ids: unknown[]) => Response.json({ object: "list", data: ids.map((id) => ({ id })) });

Deno.test("listModels() asks with the provider's credential and headers", async () => {
  const { models, seen } = await listed(() => list("a", "b", "a"));
  assertEquals(models, [{ id: "a" }, { id: "b" }]);
  assertEquals(seen.map(({ path }) => path), ["/v1/models"]);
  assertEquals([seen[0].headers.get("authorization"), seen[0].headers.get("x-own")], ["Bearer the-key", "1"]);
});

Deno.test("listModels() lists no model whose id repeats the credential", async () => {
  for (const api of ["openai-chat", "anthropic-messages", "gemini"]) {
    const { models } = await listed(({ headers }) => {
      const sent = headers.get("authorization") ?? headers.get("x-api-key") ?? headers.get("x-goog-api-key")!;
      const key = sent.replace("Bearer ", "");
      const ids = ["a", key, `m-${key}`, `${key}:latest`, encodeURIComponent(key), btoa(key)];
      return Response.json({
        data: ids.map((id) => ({ id, name: key })),
        models: ids.map((id) => ({ name: `models/${id}`, supportedGenerationMethods: ["generateContent"] })),
      });
    }, { api, key: "sk-0123456789" });
    assertEquals(models?.map(({ id }) => id), ["a"], api);
  }
});

Deno.test("listModels() reads all pages, and ends where they go in a circle", async () => {
  const page = (last: string) =>
    Response.json({ data: [{ id: `m-${last}` }], has_more: true, last_id: last });
  const { models, seen } = await listed((_, nth) => page(["a", "b", "a", "b"][nth]), {
    api: "anthropic-messages",
  });
  assertEquals(models?.map(({ id }) => id), ["m-a", "m-b"]);
  assertEquals(seen.length, 3);
  let pages = 0;
  const endless = await listed(() => page(String(pages++)), { api: "anthropic-messages" });
  assertEquals([endless.models?.length, pages], [51, 51]);
});

Deno.test("listModels() leaves out ids that nobody could name, and bounds how many there are", async () => {
  const odd = [
    "a\nb",
    "*",
    "x y",
    "",
    null,
    7,
    "ü",
    "k".repeat(201),
    "\u0000",
    { a: 1 },
    "__proto__",
    "good",
  ];
  const { models } = await listed(() => list(...odd));
  assertEquals(models?.map(({ id }) => id), ["__proto__", "good"]);
  const many = await listed(() => list(...Array.from({ length: 30_000 }, (_, i) => `m${i}`)));
  assertEquals(many.models?.length, 20_000);
  const sizes = await listed(() =>
    Response.json({
      data: [-1, 0, 1.5, 2 ** 40, "9", 8192].map((context_length, i) => ({ id: `m${i}`, context_length })),
    })
  );
  assertEquals(sizes.models?.map((m) => m.contextLength ?? null), [null, null, null, null, null, 8192]);
});

const REFUSED: [situation: string, answer: () => Response, message: string][] = [
  ["a refusal", () => new Response("no", { status: 401 }), "status 401"],
  [
    "a page of HTML",
    () => new Response("<html>", { headers: { "content-type": "text/html" } }),
    "the answer is not JSON",
  ],
  [
    "an answer to something else",
    () => Response.json({ id: "chatcmpl-1", choices: [] }),
    "the answer is no list of models",
  ],
  ["null", () => Response.json(null), "the answer is no list of models"],
  [
    "a redirect",
    () => new Response(null, { status: 302, headers: { location: "http://127.0.0.1:1/" } }),
    "status 302",
  ],
];
for (const [situation, answer, message] of REFUSED) {
  Deno.test(`listModels() refuses ${situation}`, async () => {
    await assertRejects(() => listed(answer), Error, message);
  });
}

Deno.test("listModels() gives up on an answer without end, in time and in bytes", async () => {
  const block = new TextEncoder().encode(" ".repeat(1 << 20));
  const endless = () => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(block) }));
  await assertRejects(() => listed(endless), Error, "longer than");
  const ending = new AbortController();
  const late = Promise.withResolvers<Response>();
  ending.signal.addEventListener("abort", () => late.resolve(list("late")));
  const asked = listed(() => {
    queueMicrotask(() => ending.abort());
    return late.promise;
  }, { signal: ending.signal });
  await assertRejects(() => asked, DOMException);
});

Deno.test("listModels() asks Ollama's own API for the context of each model", async () => {
  const { models, seen } = await listed(({ path, body }) => {
    if (path === "/v1/models") return list("qwen3:8b", "nomic-embed-text", "odd");
    assertEquals(path, "/api/show");
    if (body.model === "odd") return new Response("broken", { status: 500 });
    return body.model === "qwen3:8b"
      ? Response.json({
        model_info: { "qwen3.context_length": 40_960 },
        capabilities: ["completion", "tools"],
      })
      : Response.json({ model_info: {}, capabilities: ["embedding"] });
  }, { preset: "ollama" });
  assertEquals(models, [{ id: "qwen3:8b", contextLength: 40_960 }, { id: "odd" }]);
  assertEquals(seen.length, 4);
});

Deno.test("listModels() lists the models of Ollama without their sizes if it does not tell them in time", async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { models } = await listed(
    async ({ path, body }) => {
      if (path === "/v1/models") return list("quick", "hangs", "last");
      if (body.model === "hangs") await held;
      return Response.json({ model_info: { "x.context_length": 8192 }, capabilities: ["completion"] });
    },
    { preset: "ollama", showMs: 3000 },
    release,
  );
  assertEquals(models, [{ id: "quick", contextLength: 8192 }, { id: "hangs" }, {
    id: "last",
    contextLength: 8192,
  }]);
});

Deno.test("listModels() is null where the API has no list", async () => {
  const { models, seen } = await listed(() => list("a"), { api: "demo" });
  assertEquals([models, seen.length], [null, 0]);
});

Deno.test("listModels() refuses a list with more in it than an answer may have, before it is parsed", async () => {
  const native = JSON.parse;
  let longest = 0;
  JSON.parse = (text: string, ...more: []) => {
    longest = Math.max(longest, text.length);
    return native(text, ...more);
  };
  try {
    const flood = `{"data":[${"{},".repeat(600_000)}{}]}`;
    await assertRejects(() => listed(() => new Response(flood)), Error, "has more than 500000 values");
    await assertRejects(
      () => listed(() => new Response("[".repeat(2_000_000))),
      Error,
      "has more than 512 levels",
    );
  } finally {
    JSON.parse = native;
  }
  assertEquals(longest < 100_000, true, `${longest}`);
  await assertRejects(() => listed(() => new Response("no JSON")), Error, "is not JSON");
});
