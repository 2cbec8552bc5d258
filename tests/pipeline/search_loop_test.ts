/** The loop alone, its provider and its engine functions of the test. Through the whole gateway: tests/websearch. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { collect } from "../../src/exchange/answer.ts";
import type { Part, SearchHit } from "../../src/exchange/part.ts";
import type { Prompt, ResultContent, Tool } from "../../src/exchange/prompt.ts";
import { normalizeUsage, type Usage } from "../../src/exchange/usage.ts";
import { type Next, searchLoop } from "../../src/pipeline/search/loop.ts";
import { searchLimit, wantsSearch } from "../../src/pipeline/shape.ts";
import type { WebSearch } from "../../src/websearch/mod.ts";
import { nextTurn } from "../support/time.ts";

const PROMPT: Prompt = {
  format: "messages",
  model: "a/b",
  stream: true,
  turns: [{ role: "user", content: [{ type: "text", text: "Look it up." }] }],
  tools: [],
  search: {},
  verbatim: {},
  unknown: {},
};
const USAGE: Part = { type: "usage", usage: normalizeUsage({ input: 10, output: 5 }) };
const START: Part = { type: "start", model: "m" };

function text(words: string, block = 0, choice = 0): Part[] {
  return [
    { type: "text-start", block, choice },
    { type: "text-delta", block, text: words },
    { type: "text-end", block },
  ];
}

function call(query: string, block = 0, more: Partial<Extract<Part, { type: "call-start" }>> = {}): Part[] {
  return [
    { type: "call-start", block, choice: 0, id: `c${block}`, name: "web_search", kind: "function", ...more },
    { type: "call-delta", block, text: JSON.stringify({ query }) },
    { type: "call-end", block },
  ];
}

const end = (reason: "stop" | "tool-calls" | "refusal" = "stop"): Part[] => [
  USAGE,
  { type: "finish", choice: 0, reason },
];

const ENGINE: WebSearch = {
  engine: "test",
  search: (query) =>
    Promise.resolve({ hits: [{ url: `https://a.test/${query}`, title: query, text: "T" }], failed: false }),
};

interface Ran {
  parts: Part[];
  asked: Prompt[];
}

async function loop(
  rounds: Part[][],
  more: Partial<Prompt> = {},
  options: {
    engine?: WebSearch;
    screen?: (query: string) => string | null;
    affords?: (spent: Usage, next: Next) => boolean;
    cut?: () => boolean;
    shown?: (hits: SearchHit[]) => Promise<SearchHit[]>;
    contextLength?: number;
    /** While the caller takes some of the parts. */
    taking?: () => Promise<void>;
  } = {},
): Promise<Ran> {
  const asked: Prompt[] = [];
  async function* ask(prompt: Prompt): AsyncGenerator<readonly Part[]> {
    const round = rounds[asked.push(prompt) - 1];
    assert(round, "asked once too often");
    for (const part of round) yield [part];
  }
  const screen = options.screen ?? ((query: string) => query);
  const parts: Part[] = [];
  const run = searchLoop(
    { ...PROMPT, ...more },
    {
      websearch: options.engine ?? ENGINE,
      ask,
      screen: (q) => Promise.resolve(screen(q)),
      chars: 11,
      mostOutput: more.maxOutput ?? null,
      contextLength: options.contextLength ?? null,
      cut: options.cut,
      shown: options.shown,
      affords: (spent, next) => Promise.resolve(options.affords?.(spent, next) ?? true),
    },
  );
  for await (const batch of run) {
    parts.push(...batch);
    await options.taking?.();
  }
  return { parts, asked };
}

function results(prompt: Prompt): ResultContent[] {
  return prompt.turns.flatMap((t) => t.content).filter((c) => c.type === "result");
}

Deno.test("searchLimit() is ten, what the caller says, and never over twenty", () => {
  assertEquals([{}, { maxUses: 3 }, { maxUses: 0 }, { maxUses: 25 }, { maxUses: 20 }].map(searchLimit), [
    10,
    3,
    0,
    20,
    20,
  ]);
  const bounded = [{ maxCalls: 2 }, { maxCalls: 15 }, { maxUses: 15, maxCalls: 12 }, {
    maxUses: 3,
    maxCalls: 0,
  }];
  assertEquals(bounded.map(searchLimit), [2, 10, 12, 0]);
});

Deno.test("wantsSearch() needs a wish, one answer, a use, and a choice that leaves room", () => {
  const cases: [Partial<Prompt>, boolean][] = [
    [{}, true],
    [{ search: undefined }, false],
    [{ n: 2 }, false],
    [{ search: { maxUses: 0 } }, false],
    [{ toolChoice: { type: "none" } }, false],
    [{ toolChoice: { type: "tool", kind: "function", name: "f" } }, false],
    [{ toolChoice: { type: "required" } }, true],
  ];
  for (const [more, wanted] of cases) assertEquals(wantsSearch({ ...PROMPT, ...more }), wanted);
});

Deno.test("searchLoop() makes one answer of its rounds", async () => {
  const { parts } = await loop([
    [START, ...text("One. "), ...call("q", 1), ...end("tool-calls")],
    [START, ...text("Two."), ...end()],
  ]);
  assertEquals(parts.filter((p) => p.type === "start" || p.type === "finish").map((p) => p.type), [
    "start",
    "finish",
  ]);
  const blocks = parts.flatMap((p) => "choice" in p && "block" in p ? [p.block] : []);
  assertEquals(blocks, blocks.toSorted((a, b) => a - b));
  assertEquals(new Set(blocks).size, blocks.length);
  const answer = collect(parts);
  assertEquals(answer.choices[0].blocks.map((b) => b.type), ["text", "search", "text"]);
  assertEquals([answer.usage?.input, answer.usage?.output, answer.searches], [20, 10, 1]);
});

Deno.test("searchLoop() tells which tier of service the provider gave", async () => {
  const given: Part = { ...USAGE, service: "flex" };
  const finish = (reason: "stop" | "tool-calls"): Part => ({ type: "finish", choice: 0, reason });
  const { parts } = await loop([
    [START, ...call("q"), given, finish("tool-calls")],
    [START, ...text("Two."), given, finish("stop")],
  ]);
  const { service, usage, searches } = collect(parts);
  assertEquals([service, usage?.input, searches], ["flex", 20, 1]);
});

Deno.test("searchLoop() gives calls ids of their own where a provider repeats or forgets them", async () => {
  const proof = { api: "gemini", kind: "thought", data: "P", call: "" } as const;
  const { asked } = await loop([
    [...call("a", 0, { id: "", proof }), ...call("b", 1, { id: "" }), ...end("tool-calls")],
    [...call("c", 0, { id: "x" }), ...call("d", 1, { id: "x" }), ...end("tool-calls")],
    [...text("Done."), ...end()],
  ]);
  const calls = asked[2].turns.flatMap((t) => t.content).filter((c) => c.type === "call");
  assertEquals(new Set(calls.map((c) => c.id)).size, 4);
  assertEquals(calls[0].proof?.call, calls[0].id);
  const found = results(asked[2]);
  assertEquals(found.map((r) => r.callId), calls.map((c) => c.id));
  for (const [i, query] of ["a", "b", "c", "d"].entries()) {
    assert(JSON.stringify(found[i].content).includes(`https://a.test/${query}`));
  }
});

Deno.test("searchLoop() takes a call by a name near to the search's for a search, but for tools of the caller", async () => {
  const names = [
    "functions.web_search",
    "default_api:web_search",
    "tools/Web-Search",
    "WEB_SEARCH",
    " web_search<|channel|>commentary",
  ];
  for (const name of names) {
    const { parts, asked } = await loop([
      [START, ...call("q", 0, { name }), ...end("tool-calls")],
      [START, ...text("Found."), ...end()],
    ]);
    assertEquals(parts.filter(({ type }) => type === "call-start"), [], name);
    assertEquals(parts.filter(({ type }) => type === "search-end").length, 1, name);
    // The history has the name that the provider knows.
    const told = asked[1].turns.flatMap(({ content }) => content).filter(({ type }) => type === "call");
    assertEquals(told.map((c) => c.type === "call" && c.name), ["web_search"], name);
    const results = asked[1].turns.flatMap(({ content }) => content).filter(({ type }) => type === "result");
    assertEquals(results.map((c) => c.type === "result" && c.name), ["web_search"], name);
  }
  const tool = (name: string): Tool => ({ kind: "function", name, parameters: {} });
  const others: [name: string, tools: Tool[]][] = [
    ["Web_Search", [tool("Web_Search")]],
    ["research", [tool("research")]],
    ["my_web_search", []],
    ["functions.web_searches", []],
    ["web_search.x", []],
  ];
  for (const [name, tools] of others) {
    const { parts } = await loop([[START, ...call("q", 0, { name }), ...end("tool-calls")]], { tools });
    assertEquals(parts.flatMap((part) => part.type === "call-start" ? [part.name] : []), [name]);
  }
});

Deno.test("searchLoop() tells the model in the order of its calls what became of each", async () => {
  const wrong = (block: number, text: string): Part[] => {
    const [start, , last] = call("", block);
    return [start, { type: "call-delta", block, text }, last];
  };
  const queries: string[] = [];
  const engine: WebSearch = {
    engine: "test",
    search: (query, options) => (queries.push(query), ENGINE.search(query, options)),
  };
  const round = [...wrong(0, "{}"), ...call("q", 1), ...wrong(2, '{"query": 5}'), ...call("r", 3)];
  const { asked, parts } = await loop(
    [[START, ...round, ...end("tool-calls")], [...text("Done."), ...end()]],
    { search: { maxUses: 1 } },
    { engine },
  );
  const told = results(asked[1]).map(({ content: [first] }) => first.type === "text" ? first.text : "");
  const expected = [
    /must be a JSON object like \{"query"/,
    /https:\/\/a\.test\/q\nT[^]*limit of searches for this request is now used up/,
    /must be a JSON object like \{"query"/,
    /^The search was not run: the limit of searches/,
  ];
  told.forEach((text, i) => assertMatch(text, expected[i]));
  assertEquals([told.length, queries, collect(parts).searches], [4, ["q"], 1]);
});

Deno.test("searchLoop() counts rounds of which the provider reports nothing by estimate", async () => {
  const { parts } = await loop([
    [...text("12345678"), ...call("q", 1), { type: "finish", choice: 0, reason: "tool-calls" }],
    [...text("Done."), ...end()],
  ]);
  const usage = parts.findLast((p) => p.type === "usage");
  assertEquals(usage?.estimated, true);
  assert(usage!.usage.output > 5 && usage!.usage.input > 10);
});

Deno.test("searchLoop() ends with a refusal, whatever was called beside it", async () => {
  const { parts, asked } = await loop([[...call("q"), ...end("refusal")]]);
  assertEquals([asked.length, parts.at(-1)], [1, { type: "finish", choice: 0, reason: "refusal" }]);
});

Deno.test("searchLoop() uses the first answer of a provider that gives several", async () => {
  const { parts } = await loop([
    [...text("One."), ...text("Other.", 1, 1), ...call("q", 2, { choice: 1 }), ...end(), {
      type: "finish",
      choice: 1,
      reason: "tool-calls",
    }],
  ]);
  assertEquals(collect(parts).choices.map((c) => [c.index, c.reason, c.blocks.length]), [[0, "stop", 1]]);
});

Deno.test("searchLoop() asks for what the screen lets out, and not at all when it lets nothing", async () => {
  const asked: string[] = [];
  const engine: WebSearch = {
    engine: "test",
    search(query) {
      asked.push(query);
      return Promise.resolve({ hits: [], failed: false });
    },
  };
  const rounds = () => [[...call("secret"), ...end("tool-calls")], [...text("Done."), ...end()]];
  const masked = await loop(rounds(), {}, { engine, screen: () => "<NAME_1>" });
  assertEquals([asked, collect(masked.parts).searches], [["<NAME_1>"], 1]);
  const blocked = await loop(rounds(), {}, { engine, screen: () => null });
  assertEquals([asked.length, collect(blocked.parts).searches], [1, undefined]);
  const broken = await loop(rounds(), {}, {
    engine,
    screen: () => {
      throw new Error("no");
    },
  });
  assertEquals([asked.length, collect(broken.parts).searches], [1, undefined]);
});

Deno.test("searchLoop() hands a text's and a call's proof to the next round", async () => {
  const proof = (
    on?: "text",
  ) => ({ api: "gemini", kind: "thought", data: on ?? "call", ...(on && { on }) } as const);
  const { asked } = await loop([
    [
      { type: "text-start", block: 0, choice: 0 },
      { type: "text-delta", block: 0, text: "Hm." },
      { type: "text-end", block: 0, proof: proof("text") },
      ...call("q", 1, { proof: proof() }),
      ...end("tool-calls"),
    ],
    [...text("Done."), ...end()],
  ]);
  const [said] = asked[1].turns.slice(1);
  assertEquals(
    said.content.map((c) => [c.type, c.type === "text" ? c.text : "proof" in c ? c.proof?.data : ""]),
    [
      ["text", "Hm."],
      ["reasoning", "text"],
      ["call", "call"],
    ],
  );
});

Deno.test("searchLoop() forces tools as far as the caller's choice goes", async () => {
  const own = [{ kind: "function", name: "f" }] as const;
  const rounds = [[...call("q"), ...end("tool-calls")], [...text("x"), ...end()]];
  const choices = async (more: Partial<Prompt>) => (await loop(rounds, more)).asked.map((p) => p.toolChoice);
  const required = { type: "required" } as const;
  assertEquals(await choices({}), [undefined, undefined]);
  assertEquals(await choices({ toolChoice: required }), [required, { type: "auto" }]);
  assertEquals(await choices({ toolChoice: required, tools: [...own] }), [required, required]);
  assertEquals(await choices({ toolChoice: { type: "allowed", required: true, names: [] } }), [
    { type: "allowed", required: true, names: ["web_search"] },
    { type: "allowed", required: false, names: ["web_search"] },
  ]);
  assertEquals(await choices({ search: { first: true }, tools: [...own] }), [
    { type: "tool", kind: "function", name: "web_search" },
    { type: "auto" },
  ]);
});

Deno.test("searchLoop() takes the tools from a model that searches on, and ends when that does not help", async () => {
  const stubborn = Array.from({ length: 30 }, () => [...call("q"), ...end("tool-calls")]);
  const { parts, asked } = await loop(stubborn, { search: { maxUses: 1 } });
  const free = asked.findIndex((p) => p.toolChoice?.type === "none");
  const bare = asked.findIndex((p) => p.tools.length === 0);
  assertEquals([free, bare, asked.length], [4, 8, 18]);
  assertEquals([asked[bare].toolChoice, asked[bare].searchWithdrawn], [undefined, true]);
  assertEquals(parts.at(-1), { type: "finish", choice: 0, reason: "stop" });
  assertEquals(collect(parts).searches, 1);
});

Deno.test("searchLoop() asks for the money of each round and its searches, and ends where there is none", async () => {
  const asked: Next[] = [];
  const affords = (_: Usage, next: Next) => asked.push(next) < 4;
  const { parts } = await loop(
    [
      [START, ...call("q0"), ...call("q1", 1), ...end("tool-calls")],
      [START, ...call("q2"), ...end("tool-calls")],
    ],
    { maxOutput: 100 },
    { affords },
  );
  assertEquals(asked.map(({ searches, output }) => [searches, output]), [[2, 95], [2, 95], [3, 90], [3, 90]]);
  // What was said and found goes into the next round.
  assert(asked[0].added === 0 && asked[1].added > 100 && asked[3].added > asked[2].added);
  assertEquals(parts.at(-1), { type: "finish", choice: 0, reason: "length" });

  const refused = await loop([[START, ...call("q"), ...end("tool-calls")]], {}, { affords: () => false });
  assertEquals(refused.parts.some((part) => part.type === "search-start"), false);
  assertEquals(refused.parts.at(-1), { type: "finish", choice: 0, reason: "length" });
});

Deno.test("searchLoop() asks no provider again for a call that was ended while it searched", async () => {
  let cut = false;
  const engine: WebSearch = {
    engine: "test",
    search(query, options) {
      cut = true;
      return ENGINE.search(query, options);
    },
  };
  const { parts, asked } = await loop([[START, ...call("q"), ...end("tool-calls")]], {}, {
    engine,
    cut: () => cut,
  });
  assertEquals(asked.length, 1);
  const counts = parts.findLast((part) => part.type === "usage");
  assertEquals([counts?.usage.input, counts?.searches], [10, 1]);
});

Deno.test("searchLoop() searches nothing for a call that was ended in the middle of its answer", async () => {
  const { parts } = await loop([[START, ...call("q"), USAGE]], {}, { cut: () => true });
  assertEquals(parts.map(({ type }) => type), ["start", "usage"]);
});

Deno.test("searchLoop() may fail at a search while a slow caller takes what came before, and the process goes on", async () => {
  const run = loop([[START, ...call("q"), ...end("tool-calls")]], {}, {
    shown: () => Promise.reject(new Error("it cannot be told")),
    // A failure that nobody waits for ends the process when the event loop turns.
    taking: nextTurn,
  });
  await assertRejects(() => run, Error, "it cannot be told");
});
