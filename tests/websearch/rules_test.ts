/** The rules of asking for a search, through the whole gateway: who is served with one, and what providers are told. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type CallerName, readCaller } from "../corpus/caller.ts";
import { list, wild } from "../corpus/wild.ts";
import { CALLERS, type Cell, openSearchRig, type Script, searchCall, type SearchRig } from "./rig.ts";
import type { Heard } from "./heard.ts";
import { APIS, type Round } from "./rounds.ts";

const USAGE = { input: 10, output: 5 };
const say = (text: string): Round => ({ text, usage: USAGE });

async function withRig(
  work: (rig: SearchRig) => Promise<void>,
  config?: Record<string, unknown>,
): Promise<void> {
  const rig = await openSearchRig(config);
  try {
    await work(rig);
  } finally {
    await rig.close();
  }
}

const whole = (caller: CallerName, api: Cell["api"] = "openai-chat"): Cell => ({
  caller,
  api,
  stream: false,
});

/** What the provider was told in each round. */
async function heardBy(
  rig: SearchRig,
  cell: Cell,
  script: Omit<Script, "answer">,
  rounds: Round[],
): Promise<Heard[]> {
  const told: Heard[] = [];
  const { response } = await rig.ask(cell, {
    ...script,
    answer(round, heard) {
      told.push(heard);
      return rounds[round];
    },
  });
  assertEquals(response.status, 200, await response.clone().text());
  await response.body?.cancel();
  return told;
}

Deno.test("search a caller's own function named web_search stays the caller's", () =>
  withRig(async (rig) => {
    const parameters = { type: "object" };
    const own = {
      chat_completions: { type: "function", function: { name: "web_search", parameters } },
      messages: { name: "web_search", input_schema: parameters },
      responses: { type: "function", name: "web_search", parameters },
    };
    const wish = {
      chat_completions: [],
      messages: [{ type: "web_search_20250305", name: "web_search" }],
      responses: [{ type: "web_search" }],
    };
    for (const caller of CALLERS) {
      for (const api of APIS) {
        // Alone: nothing is intercepted.
        const { response, seen, queries } = await rig.ask(whole(caller, api), {
          more: { tools: [own[caller]], web_search_options: null },
          answer: () => ({ calls: [searchCall("mine")], usage: USAGE }),
        });
        const read = await readCaller(caller, response, false);
        if (read.kind !== "answer") throw new Error(read.message);
        assertEquals(read.choices[0].calls.map((c) => c.name), ["web_search"]);
        assertEquals([seen.length, queries], [1, []]);

        // Beside the router's: that one takes another name.
        const both = { tools: [...wish[caller], own[caller]], web_search_options: {} };
        const asked = await rig.ask(whole(caller, api), {
          more: caller === "chat_completions" ? both : { tools: both.tools },
          answer: (round, told, ticket) =>
            round === 0
              ? { calls: [searchCall(`${ticket} theirs`, 0, told.tools[1])], usage: USAGE }
              : { calls: [searchCall("mine")], usage: USAGE },
        });
        const second = await readCaller(caller, asked.response, false);
        if (second.kind !== "answer") throw new Error(second.message);
        assertEquals(second.choices[0].calls.map((c) => c.name), ["web_search"]);
        assertEquals([asked.seen.length, asked.queries.length, second.searches], [2, 1, 1]);
      }
    }
  }));

Deno.test("search with several answers, with no uses, or with tools forbidden is not offered", () =>
  withRig(async (rig) => {
    const [several] = await heardBy(rig, whole("chat_completions"), { more: { n: 2 } }, [say("x"), say("y")]);
    assertEquals(several.tools, []);
    for (const caller of CALLERS) {
      const [unused] = await heardBy(rig, whole(caller), { wish: { max_uses: 0 } }, [say("x")]);
      assertEquals(unused.tools, []);
      const none = caller === "messages" ? { type: "none" } : "none";
      const [forbidden] = await heardBy(rig, whole(caller), { tool: true, more: { tool_choice: none } }, [
        say("x"),
      ]);
      assertEquals(forbidden.tools, ["weather"]);
    }
  }));

Deno.test("search is bounded by max_tool_calls of responses, which is told as kept and not as dropped", () =>
  withRig(async (rig) => {
    for (const api of APIS) {
      const { response, seen, queries } = await rig.ask(whole("responses", api), {
        more: { max_tool_calls: 2 },
        answer: (round, _, ticket) =>
          round < 3 ? { calls: [searchCall(`${ticket} ${round}`)], usage: USAGE } : say("Found."),
      });
      const { max_tool_calls, usage } = await response.json();
      assertEquals(
        [max_tool_calls, usage.server_tool_use.web_search_requests, queries.length],
        [2, 2, 2],
        api,
      );
      assert(!response.headers.get("x-svc-dropped")?.includes("max_tool_calls"), api);
      assertEquals(seen.filter(({ body }) => "max_tool_calls" in body), [], api);
    }
    // Tools that run at the provider count there.
    const { response, seen } = await rig.ask(whole("responses", "openai-responses"), {
      more: { max_tool_calls: 1, tools: [{ type: "web_search" }, { type: "image_generation" }] },
      answer: () => say("Made."),
    });
    await response.body?.cancel();
    assertEquals(seen[0].body.max_tool_calls, 1);
  }));

Deno.test("search that the choice among tools names comes first, and only first", () =>
  withRig(async (rig) => {
    const choices: [CallerName, unknown][] = [
      ["chat_completions", { type: "web_search" }],
      ["chat_completions", { type: "function", function: { name: "web_search" } }],
      ["messages", { type: "tool", name: "web_search" }],
      ["responses", { type: "web_search" }],
      ["responses", { type: "web_search_preview" }],
      ["responses", { type: "function", name: "web_search" }],
    ];
    for (const [caller, tool_choice] of choices) {
      const [first, second] = await heardBy(
        rig,
        whole(caller),
        { tool: true, more: { tool_choice, ...(caller === "messages" && { thinking: null }) } },
        [{ calls: [searchCall("it")], usage: USAGE }, say("x")],
      );
      assertEquals(first.choice, { type: "function", function: { name: "web_search" } });
      assertEquals(second.choice, "auto");
    }
  }));

Deno.test("a choice that the first search satisfies is not sent again to a provider of the caller's own format", () =>
  withRig(async (rig) => {
    const choices: [Cell, unknown, unknown][] = [
      [whole("responses", "openai-responses"), { type: "function", name: "web_search" }, "auto"],
      [whole("responses", "openai-responses"), { type: "web_search" }, "auto"],
      [whole("responses", "openai-responses"), "required", "auto"],
      [whole("chat_completions", "openai-chat"), "required", "auto"],
      [whole("messages", "anthropic-messages"), { type: "tool", name: "web_search" }, { type: "auto" }],
      [whole("messages", "anthropic-messages"), { type: "any" }, { type: "auto" }],
    ];
    for (const [cell, tool_choice, wanted] of choices) {
      const { response, seen } = await rig.ask(cell, {
        more: { tool_choice, ...(cell.caller === "messages" && { thinking: null }) },
        answer: (round) => round === 0 ? { calls: [searchCall("it")], usage: USAGE } : say("x"),
      });
      await response.body?.cancel();
      assertEquals([seen.length, seen[1].body.tool_choice], [2, wanted], JSON.stringify([cell, tool_choice]));
      assertEquals(response.headers.get("x-svc-dropped"), null);
    }
  }));

Deno.test("lists of domains that cannot be read are refused, and do not widen the search", () =>
  withRig(async (rig) => {
    const wishes: [wish: Record<string, unknown>, place: RegExp][] = [
      [{ allowed_domains: "example.com" }, /allowed_domains: expected a list of domains, got "example.com"/],
      [{ blocked_domains: { 0: "example.com" } }, /blocked_domains: expected a list of domains/],
      [{ filters: { allowed_domains: ["a.test", 5] } }, /allowed_domains\[1\]: expected a domain, got 5/],
      [{ filters: { blocked_domains: [" "] } }, /blocked_domains\[0\]: expected a domain, got " "/],
      [{ filters: ["example.com"] }, /filters: expected an object/],
      [
        { blocked_domains: ["a.test", `b.test/${"x".repeat(2000)}`] },
        /blocked_domains\[1\]: expected a domain of at most 2000 characters, got 2007/,
      ],
    ];
    for (const caller of CALLERS) {
      for (const [wish, place] of wishes) {
        const { response, seen } = await rig.ask(whole(caller), { wish, answer: () => say("x") });
        const { error } = await response.json();
        assertEquals([response.status, error.code, seen.length], [422, "validation_error", 0]);
        assertMatch(error.message, place);
      }
      const nothing = { allowed_domains: null, blocked_domains: [], filters: null };
      const { response } = await rig.ask(whole(caller), { wish: nothing, answer: () => say("x") });
      await response.body?.cancel();
      assertEquals(response.status, 200);
    }
  }));

Deno.test("search tools that fetch pages or run code at a provider are refused by name", () =>
  withRig(async (rig) => {
    const refused: [CallerName, string[]][] = [
      ["chat_completions", ["web_fetch_20250910", "code_execution_20250825", "code_interpreter"]],
      ["messages", ["web_fetch_20250910", "code_execution_20250825", "code_execution"]],
      ["responses", ["code_interpreter", "web_fetch", "code_execution_20250825"]],
    ];
    for (const [caller, types] of refused) {
      for (const type of types) {
        const { response, seen } = await rig.ask(whole(caller), {
          more: { tools: [{ type: "web_search_20250305", name: "web_search" }, { type, name: "x" }] },
          answer: () => say("never"),
        });
        const body = await response.json();
        assertEquals(
          [response.status, body.error.code],
          [400, "feature_not_supported"],
          JSON.stringify(body),
        );
        assertEquals(seen.length, 0);
      }
    }
  }));

Deno.test("search parts of an answer that come back are left out", () =>
  withRig(async (rig) => {
    const marks = /svc:web_search|server_tool_use|web_search_tool_result|url_citation|site\.test/;
    for (const caller of CALLERS) {
      const searched = await rig.ask(whole(caller, "anthropic-messages"), {
        answer: (round, _, ticket) =>
          round === 0 ? { calls: [searchCall(`${ticket} it`)], usage: USAGE } : say("It is so."),
      });
      const body = await searched.response.json();
      assert(marks.test(JSON.stringify(body)));
      const first = { role: "user", content: "Look it up." };
      const last = { role: "user", content: "And TICKET?" };
      for (const api of APIS) {
        const { response, seen } = await rig.ask(whole(caller, api), {
          more: caller === "responses"
            ? { input: [first, ...body.output, last] }
            : caller === "messages"
            ? { messages: [first, { role: "assistant", content: body.content }, last] }
            : { messages: [first, body.choices[0].message, last] },
          answer: () => say("x"),
        });
        assertEquals(response.status, 200, await response.text());
        const told = JSON.stringify(seen[0].body);
        assert(told.includes("It is so.") && !marks.test(told), `${caller} to ${api}: ${told}`);
      }
    }
  }));

Deno.test("search without an engine finds nothing, and the answer is made all the same", () =>
  withRig(async (rig) => {
    const told = await heardBy(rig, whole("messages"), {}, [
      { calls: [searchCall("it")], usage: USAGE },
      say("x"),
    ]);
    assertEquals(told[1].results, ["The search found nothing."]);
  }, { search: { engine: "none" } }));

Deno.test("search is silently left out for a model without tools", () =>
  withRig(async (rig) => {
    const [told] = await heardBy(rig, whole("responses"), {}, [say("x")]);
    assertEquals(told.tools, []);
  }, {
    models: [{
      id: "openai-chat/model",
      routes: [{ provider: "openai-chat", model: "model" }],
      capabilities: { modality_input: ["text"], modality_output: ["text"], features: [] },
    }],
  }));

Deno.test("autorouting asks for a model with tools only where a search is offered", () =>
  withRig(async (rig) => {
    const asked = async (more: Record<string, unknown>) => {
      const cell = whole("chat_completions");
      const { response } = await rig.ask(cell, {
        answer: () => say("x"),
        more: { model: "svc/auto", ...more },
      });
      const { error } = await response.json();
      return [response.status, error?.code];
    };
    assertEquals(await asked({ n: 2 }), [200, undefined]);
    assertEquals(await asked({ tool_choice: "none" }), [200, undefined]);
    assertEquals(await asked({}), [422, "auto_routing_no_match"]);
  }, {
    models: [{
      id: "openai-chat/model",
      routes: [{ provider: "openai-chat", model: "model" }],
      capabilities: { modality_input: ["text"], modality_output: ["text"], features: [] },
    }],
    auto: { models: ["openai-chat/model"] },
  }));

Deno.test("search names what of the wish is not read, also where it searches", () =>
  withRig(async (rig) => {
    for (const searches of [0, 1]) {
      const { response } = await rig.ask(whole("messages"), {
        wish: { user_location: { type: "approximate", city: "Bern" }, response_inclusion: "excluded" },
        answer: (n) => n < searches ? { calls: [searchCall("it")], usage: USAGE } : say("x"),
      });
      await response.body?.cancel();
      const dropped = response.headers.get("x-svc-dropped") ?? "";
      assert(dropped.split(", ").includes("tools.response_inclusion"), `${searches}: ${dropped}`);
    }
  }));

Deno.test("search sends reasoning, text, call and result in each API's own order", () =>
  withRig(async (rig) => {
    const said: Round = { proof: "PROOF", text: "Let me see.", calls: [searchCall("it")], usage: USAGE };
    for (const caller of CALLERS) {
      for (const api of APIS) {
        const { seen, response } = await rig.ask(whole(caller, api), {
          answer: (n) => n === 0 ? said : say("x"),
        });
        await response.body?.cancel();
        const { body } = seen[1];
        const order = api === "openai-chat"
          ? list(body.messages).slice(-2).map((m) => [
            m.role,
            m.content === "Let me see." ? m.content : "",
            list(m.reasoning_details).map((d) => d.data).join(),
            list(m.tool_calls).length,
          ])
          : api === "openai-responses"
          ? list(body.input).slice(-4).map((i) => [i.type ?? "message", i.encrypted_content ?? ""])
          : api === "anthropic-messages"
          ? list(body.messages).slice(-2).map((
            m,
          ) => [m.role, ...list(m.content).map((b) => [b.type, b.signature ?? ""])])
          : list(body.contents).slice(-2).map((c) => [
            c.role,
            ...list(c.parts).map((p) => [Object.keys(p)[0], wild(p).thoughtSignature ?? ""]),
          ]);
        assertEquals(order, ORDERS[api], `${caller} by ${api}`);
      }
    }
  }));

const ORDERS: Record<Cell["api"], unknown> = {
  "openai-chat": [["assistant", "Let me see.", "PROOF", 1], ["tool", "", "", 0]],
  "openai-responses": [["reasoning", "PROOF"], ["message", ""], ["function_call", ""], [
    "function_call_output",
    "",
  ]],
  "anthropic-messages": [
    ["assistant", ["thinking", "PROOF"], ["text", ""], ["tool_use", ""]],
    ["user", ["tool_result", ""]],
  ],
  gemini: [["model", ["text", ""], ["functionCall", "PROOF"]], ["user", ["functionResponse", ""]]],
};

Deno.test("search query and results are never logged", () =>
  withRig(async (rig) => {
    rig.engine(() => new Response("no", { status: 403 }));
    await heardBy(rig, whole("messages"), {}, [
      { calls: [searchCall("secret words")], usage: USAGE },
      say("x"),
    ]);
    assertEquals(rig.gateway.logged, ["web search: searxng: it answered with status 403"]);
  }));
