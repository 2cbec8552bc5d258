/**
 * What callers are promised, of an instance of Deno Deploy: every caller format by every provider API, streamed and whole, with
 * tools, search, screening and limits.
 */
import { assert, assertEquals } from "@std/assert";
import { type CallerName, readCaller } from "../corpus/caller.ts";
import { onCluster } from "../support/cluster.ts";
import { SECRET, testConfig, type TestProvider } from "../support/gateway.ts";
import { CELLS, openRigWith, type RigGateway, type Script, searchCall } from "../websearch/rig.ts";
import { readBySdk } from "../websearch/sdk.ts";
import { databases, instance, stop } from "./instance.ts";

const ROUND = { input: 100, output: 20 };
const MAIL = "jane.doe@corp.example";

interface Situation extends Script {
  name: string;
  text: string;
  searches?: number;
  calls?: string[];
  stop: Record<CallerName, string>;
}

const END = { chat_completions: "stop", messages: "end_turn", responses: "completed" };

const SITUATIONS: Situation[] = [
  { name: "an answer", answer: () => ({ text: "Found.", usage: ROUND }), text: "Found.", stop: END },
  {
    name: "a search, then a call of the caller's tool",
    tool: true,
    answer: (round, _, ticket) =>
      round === 0 ? { text: "First. ", calls: [searchCall(`${ticket} rome`)], usage: ROUND } : {
        text: "Now yours.",
        calls: [{ id: "call_w", name: "weather", arguments: '{"city":"Rome"}' }],
        usage: ROUND,
      },
    text: "First. Now yours.",
    searches: 1,
    calls: ["weather"],
    stop: { chat_completions: "tool_calls", messages: "tool_use", responses: "completed" },
  },
  {
    name: "an answer that is cut",
    cap: 60,
    answer: () => ({ text: "And th", cut: true, usage: ROUND }),
    text: "And th",
    stop: {
      chat_completions: "length",
      messages: "max_tokens",
      responses: "incomplete: max_output_tokens",
    },
  },
];

const CONFIG = {
  store: undefined,
  server: { max_body_bytes: 200_000, max_text_chars: 50_000, max_messages: 20 },
  dlp_policies: {
    mask: { mode: "mask", entity_types: ["EMAIL_ADDRESS"] },
    block: { mode: "block", entity_types: ["EMAIL_ADDRESS"] },
  },
  access_policies: { none: { allow: [], deny: ["*"] } },
  accounts: [{ name: "default", credits: null }, { name: "empty", credits: "0" }],
  keys: [
    { name: "test", secret: SECRET, account: "default" },
    { name: "mask", secret: `${SECRET}m`, account: "default", dlp_policy: "mask" },
    { name: "block", secret: `${SECRET}b`, account: "default", dlp_policy: "block" },
    { name: "denied", secret: `${SECRET}d`, account: "default", access_policy: "none" },
    { name: "poor", secret: `${SECRET}p`, account: "empty" },
  ],
};

onCluster((cluster) => {
  async function open(): Promise<ReturnType<typeof openRigWith<RigGateway>>> {
    const [database] = databases(cluster().url);
    const start = async (providers: Record<string, TestProvider>, more: Record<string, unknown>) => {
      const at = await instance(testConfig(providers, more), database);
      const post = (path: string, body: unknown, init: RequestInit = {}) =>
        fetch(at.url + path, {
          method: "POST",
          ...(body !== undefined && { body: JSON.stringify(body) }),
          ...init,
          headers: {
            authorization: `Bearer ${SECRET}`,
            "content-type": "application/json",
            ...init.headers,
          },
        });
      return { post, close: () => stop(at) };
    };
    return await openRigWith<RigGateway>(start, CONFIG);
  }

  Deno.test("an instance of Deno Deploy answers in every cell, with search and tools", async () => {
    const rig = await open();
    try {
      for (const situation of SITUATIONS) {
        for (const cell of CELLS) {
          const name = `${situation.name}: ${cell.caller} by ${cell.api}, ${
            cell.stream ? "stream" : "whole"
          }`;
          const { response, seen } = await rig.ask(cell, situation);
          const body = await response.text();
          const headers = { "content-type": response.headers.get("content-type")! };
          const again = new Response(body, { status: response.status, headers });
          const read = await readCaller(cell.caller, again, cell.stream);
          if (read.kind !== "answer") throw new Error(`${name}: ${body}`);
          const [choice] = read.choices;
          const rounds = 1 + (situation.searches ?? 0);
          assertEquals([choice.text, choice.stop, choice.calls.map((call) => call.name)], [
            situation.text,
            situation.stop[cell.caller],
            situation.calls ?? [],
          ], name);
          assertEquals([read.searches, seen.length], [situation.searches, rounds], name);
          assertEquals([read.usage?.input, read.usage?.output], [100 * rounds, 20 * rounds], name);
          const record = await rig.record(response);
          assertEquals(
            [record.searches, Math.round(Number(record.cost) * 1e6)],
            [rounds - 1, 140 * rounds + 5000 * (rounds - 1)],
            name,
          );
          if (!cell.stream) continue;
          const final = await readBySdk(cell.caller, body);
          assertEquals([final.text, final.stop], [situation.text, situation.stop[cell.caller]], name);
        }
      }
    } finally {
      await rig.close();
    }
  });

  Deno.test("an instance of Deno Deploy masks and blocks in every cell", async () => {
    const rig = await open();
    try {
      for (const cell of CELLS) {
        const name = `${cell.caller} by ${cell.api}, ${cell.stream ? "stream" : "whole"}`;
        const script: Script = {
          answer: () => ({ text: "Found.", usage: ROUND }),
          more: cell.caller === "responses"
            ? { input: `TICKET, ask ${MAIL}` }
            : { messages: [{ role: "user", content: `TICKET, ask ${MAIL}` }] },
        };
        const init = (letter: string) => ({ headers: { authorization: `Bearer ${SECRET}${letter}` } });
        const masked = await rig.ask(cell, script, init("m"));
        const text = await masked.response.text();
        assertEquals(masked.response.status, 200, `${name}: ${text}`);
        assertEquals(masked.seen.length, 1, name);
        assert(!masked.seen[0].text.includes(MAIL), name);
        assert(masked.seen[0].text.includes("<EMAIL_ADDRESS_1>"), name);
        const blocked = await rig.ask(cell, script, init("b"));
        const refusal = await blocked.response.text();
        assertEquals([blocked.response.status, blocked.seen.length], [403, 0], name);
        assert(refusal.includes("dlp_violation") && !refusal.includes(MAIL), refusal);
      }
    } finally {
      await rig.close();
    }
  });

  Deno.test("an instance of Deno Deploy refuses with the status and the code of each limit, in every format", async () => {
    const rig = await open();
    try {
      const turns = (count: number) => Array.from({ length: count }, () => ({ role: "user", content: "hi" }));
      const long = (caller: CallerName, text: string) =>
        caller === "responses" ? { input: text } : { messages: [{ role: "user", content: text }] };
      const many = (caller: CallerName) =>
        caller === "responses" ? { input: turns(30) } : { messages: turns(30) };
      const wanted: [string, string, number, (caller: CallerName) => object][] = [
        ["d", "policy_violation", 403, () => ({})],
        ["p", "insufficient_funds", 402, () => ({})],
        // Chat-completions names no code with this status.
        ["x", "", 401, () => ({})],
        ["", "model_not_found", 404, () => ({ model: "no/such" })],
        ["", "text_content_too_large", 413, (caller) => long(caller, "word ".repeat(12_000))],
        ["", "payload_too_large", 413, (caller) => long(caller, "word ".repeat(50_000))],
        ["", "validation_error", 422, many],
      ];
      for (const cell of CELLS.filter(({ api }) => api === CELLS[0].api)) {
        for (const [letter, code, status, more] of wanted) {
          const { response, seen } = await rig.ask(
            cell,
            { answer: () => ({ text: "never", usage: ROUND }), more: more(cell.caller) as never },
            { headers: { authorization: `Bearer ${SECRET}${letter}` } },
          );
          const text = await response.text();
          assertEquals([response.status, seen.length], [status, 0], `${cell.caller} ${code}: ${text}`);
          assert(text.includes(code), `${cell.caller} ${code}: ${text}`);
        }
      }
    } finally {
      await rig.close();
    }
  });
});
