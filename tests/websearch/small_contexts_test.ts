/** Results of searches for models whose context holds little text. */
import { assert, assertEquals } from "@std/assert";
import { fitted } from "../../src/pipeline/search/prompts.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";
import { CALLERS, searchCall } from "./rig.ts";
import { heard } from "./heard.ts";
import { wholeOf } from "./rounds.ts";

const CONTEXT = 4000;
/** A page has more text than the context. */
const PAGE = "many words ".repeat(5000);
const PATHS = {
  chat_completions: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
} as const;

function requestOf(caller: keyof typeof PATHS, text: string): Record<string, unknown> {
  const messages = [{ role: "user", content: text }];
  switch (caller) {
    case "chat_completions":
      return { messages, web_search_options: {} };
    case "messages":
      return { messages, max_tokens: 500, tools: [{ type: "web_search_20250305", name: "web_search" }] };
    case "responses":
      return { input: text, tools: [{ type: "web_search" }] };
  }
}

/** A model that counts four characters as a token, refuses what is over its context, and calls searches until it is told to answer. */
async function withModel(
  calls: number,
  test: (at: {
    ask(caller: keyof typeof PATHS, text?: string): Promise<Response>;
    /** Tokens of the rounds' requests. */
    rounds: number[];
    told: string[];
    queries(): number;
  }) => Promise<void>,
): Promise<void> {
  const rounds: number[] = [];
  const told: string[] = [];
  const tokensOf = ({ body }: Seen) => Math.ceil(JSON.stringify(body.messages).length / 4);
  await using provider = loopbackProvider((seen) => {
    const input = tokensOf(seen);
    rounds.push(input);
    if (input > CONTEXT) return new Response("too long", { status: 400 });
    const { results } = heard(seen);
    told.push(...results.slice(told.length));
    const usage = { input, output: 20 };
    const stops = results.some((result) => result.includes("Answer now"));
    return Response.json(wholeOf(
      "openai-chat",
      stops ? { text: "Found.", usage } : {
        calls: Array.from({ length: calls }, (_, i) => searchCall(`query ${rounds.length}.${i}`, i)),
        usage,
      },
    ));
  });
  await using engine = loopbackProvider(() =>
    Response.json({
      results: Array.from({ length: 5 }, (_, i) => ({
        url: `https://site-${i}.test/page`,
        title: `Page ${i}`,
        content: PAGE,
      })),
    })
  );
  await using gateway = await testGateway(
    { local: { api: "openai-chat", url: provider.url, model: { context_length: CONTEXT } } },
    { search: { engine: "searxng", base_url: engine.url } },
  );
  await test({
    rounds,
    told,
    queries: () => engine.seen.length,
    ask: (caller, text = "Look it up.") =>
      gateway.post(PATHS[caller], { model: "local/model", ...requestOf(caller, text) }),
  });
}

for (const caller of CALLERS) {
  for (const calls of [1, 3]) {
    Deno.test(`results of searches fit into a small context: ${caller}, ${calls} at a time`, () =>
      withModel(calls, async ({ ask, rounds, told, queries }) => {
        const response = await ask(caller);
        const text = await response.text();
        assertEquals(response.status, 200, text);
        assert(text.includes("Found."));
        // Some searches ran, and those that would not have fitted did not.
        assert(rounds.length > 2, `${rounds}`);
        assert(queries() >= calls && queries() < told.length, `${queries()} of ${told.length}`);
        assert(told[0].includes("https://site-4.test/page") && told[0].includes("many words"));
        assert(told.at(-1)!.includes("has no room for more results"), told.at(-1));
        const searches = /"web_search_requests":(\d+)/.exec(text)?.[1];
        assertEquals(Number(searches), queries());
      }));
  }
}

Deno.test("a prompt that leaves no room for results is answered without searches", () =>
  withModel(1, async ({ ask, queries }) => {
    const response = await ask("chat_completions", "word ".repeat(2600));
    const text = await response.text();
    assertEquals([response.status, queries(), text.includes("Found.")], [200, 0, true], text);
  }));

Deno.test("fitted() leaves short results as they are, shortens texts, and leaves out what has no room", () => {
  const hit = (length: number) => {
    const seen = { url: "https://a.test/", title: "Title", text: "x".repeat(length) };
    return { hit: seen, seen };
  };
  const read = [hit(10), hit(1000), hit(1000)];
  assertEquals(fitted(read, 5000), read);
  const lengths = (chars: number) => fitted(read, chars).map(({ seen }) => seen.text.length);
  // Of 690 characters, 3 times 30 are for titles and URLs; the mark of a cut is one more.
  assertEquals(lengths(690), [10, 201, 201]);
  assertEquals(lengths(60), [1, 1]);
  assertEquals(lengths(20), []);
  assertEquals(fitted(read, 690)[1].hit.text.length, 1000);
  const half = [{ ...hit(0), seen: { url: "", title: "", text: "😀".repeat(100) } }];
  assert(fitted(half, 31)[0].seen.text.isWellFormed());
});
