/**
 * A gateway between scripted models, one of each provider API, and a scripted search engine. A request carries a ticket in
 * its text; the script behind the ticket says what the model answers in each round, and what became of it is kept there.
 */
import { type CallerName, PATHS } from "../corpus/caller.ts";
import { type TestGateway, testGateway, type TestProvider } from "../support/gateway.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";
import { type Heard, heard } from "./heard.ts";
import { apiOf, APIS, type Round, type SearchedApi, streamOf, wholeOf } from "./rounds.ts";

export const CALLERS: readonly CallerName[] = ["chat_completions", "messages", "responses"];

export interface Cell {
  caller: CallerName;
  api: SearchedApi;
  stream: boolean;
}

/** All 24. */
export const CELLS: readonly Cell[] = CALLERS.flatMap((caller) =>
  APIS.flatMap((api) => [true, false].map((stream) => ({ caller, api, stream })))
);

export interface Script {
  /** What the model says in round n, counted from 0, to what it is told; a Response instead is sent as it is. */
  answer(round: number, told: Heard, ticket: string): Round | Response | Promise<Round | Response>;
  /** Fields of the wish to search: `max_uses`, domains. */
  wish?: Record<string, unknown>;
  /** The caller has a tool `weather`. */
  tool?: boolean;
  cap?: number;
  /** Fields of the caller's request beyond those. `TICKET` in them is replaced by the ticket. */
  more?: Record<string, unknown>;
}

export interface Asked {
  response: Response;
  /** What the provider received, in order. */
  seen: Seen[];
  /** Queries that reached the engine. */
  queries: string[];
  ticket: string;
}

/** What the rig needs of a gateway; one in this process has more. */
export type RigGateway = Pick<TestGateway, "post" | "close">;

export interface SearchRig<G extends RigGateway = TestGateway> {
  gateway: G;
  ask(cell: Cell, script: Script, init?: RequestInit): Promise<Asked>;
  /** The record of a generation, by the answer's id. */
  record(response: Response): Promise<Record<string, unknown>>;
  /** What the engine answers a query; default: one hit of its own for each. */
  engine(answer: (query: string) => Response | Promise<Response>): void;
  close(): Promise<void>;
}

export const PRICES = { prompt: "0.000001", completion: "0.000002" };
export const SEARCH_PRICE = "0.005";

export function hitsOf(query: string): Response {
  const url = `https://site.test/${encodeURIComponent(query)}`;
  return Response.json({ results: [{ url, title: `About ${query}`, content: `Facts on <b>${query}</b>.` }] });
}

export function openSearchRig(config: Record<string, unknown> = {}): Promise<SearchRig> {
  return openRigWith(testGateway, config);
}

/** @param start what starts the gateway: in this process or elsewhere */
export async function openRigWith<G extends RigGateway>(
  start: (providers: Record<string, TestProvider>, config: Record<string, unknown>) => Promise<G>,
  config: Record<string, unknown> = {},
): Promise<SearchRig<G>> {
  const open = new Map<string, { script: Script; asked: Omit<Asked, "response"> }>();
  let tickets = 0;
  let answerQuery: (query: string) => Response | Promise<Response> = hitsOf;

  const provider = loopbackProvider(async (seen) => {
    provider.seen.length = 0;
    const [ticket] = /ticket-\d+/.exec(JSON.stringify(seen.body)) ?? [""];
    const known = open.get(ticket);
    if (!known) return new Response("no such ticket", { status: 400 });
    const round = known.asked.seen.push(seen) - 1;
    const said = await known.script.answer(round, heard(seen), ticket);
    if (said instanceof Response) return said;
    const api = apiOf(seen.path);
    const streamed = seen.body.stream === true || seen.path.includes("streamGenerateContent");
    return streamed
      ? new Response(ReadableStream.from(streamOf(api, said)).pipeThrough(new TextEncoderStream()), {
        headers: { "content-type": "text/event-stream" },
      })
      : Response.json(wholeOf(api, said));
  });
  const engine = loopbackProvider((seen) => {
    engine.seen.length = 0;
    const query = new URL(seen.path, "http://x").searchParams.get("q") ?? "";
    const [ticket] = /ticket-\d+/.exec(query) ?? [""];
    open.get(ticket)?.asked.queries.push(query);
    return answerQuery(query);
  });
  const gateway = await start(
    Object.fromEntries(APIS.map((api) => [api, {
      api,
      url: provider.url,
      more: { breaker: { failures: 1000, window_seconds: 1, open_seconds: 1 } },
      model: { pricing: PRICES },
    }])),
    {
      search: { engine: "searxng", base_url: engine.url, price: SEARCH_PRICE, timeout_seconds: 60 },
      ...config,
    },
  );
  return {
    gateway,
    async ask(cell, script, init) {
      const ticket = `ticket-${tickets++}`;
      const asked = { seen: [], queries: [], ticket };
      open.set(ticket, { script, asked });
      const response = await gateway.post(PATHS[cell.caller], requestOf(cell, script, ticket), init);
      return { response, ...asked };
    },
    async record(response) {
      const id = response.headers.get("x-request-id");
      const found = await gateway.post(`/v1/generations/${id}`, undefined, { method: "GET" });
      return await found.json();
    },
    engine: (answer) => answerQuery = answer,
    async close() {
      await gateway.close();
      await provider.close();
      await engine.close();
    },
  };
}

const PARAMETERS = { type: "object", properties: { city: { type: "string" } } };

/** On chat-completions both ways to ask are used in turn. */
function requestOf({ caller, api, stream }: Cell, script: Script, ticket: string): Record<string, unknown> {
  const { wish = {}, cap, tool } = script;
  const more = JSON.parse(JSON.stringify(script.more ?? {}).replaceAll("TICKET", ticket));
  const model = `${api}/model`;
  const content = `Look it up, ${ticket}.`;
  const weather = { name: "weather", description: "Weather of a city", parameters: PARAMETERS };
  switch (caller) {
    case "chat_completions": {
      const asTool = Number(ticket.slice(7)) % 2 === 0;
      const tools = [
        ...(asTool ? [{ type: "web_search", ...wish }] : []),
        ...(tool ? [{ type: "function", function: weather }] : []),
      ];
      return {
        model,
        messages: [{ role: "user", content }],
        stream,
        ...(!asTool && { web_search_options: wish }),
        ...(tools.length > 0 && { tools }),
        ...(cap ? { max_tokens: cap } : { reasoning_effort: "low" }),
        ...more,
      };
    }
    case "messages":
      return {
        model,
        max_tokens: cap ?? 8000,
        messages: [{ role: "user", content }],
        stream,
        tools: [
          { type: "web_search_20250305", name: "web_search", ...wish },
          ...(tool ? [{ name: "weather", input_schema: PARAMETERS }] : []),
        ],
        ...(!cap && { thinking: { type: "enabled", budget_tokens: 1024 } }),
        ...more,
      };
    case "responses":
      return {
        model,
        input: content,
        stream,
        tools: [{ type: "web_search", ...wish }, ...(tool ? [{ type: "function", ...weather }] : [])],
        ...(cap ? { max_output_tokens: cap } : { reasoning: { effort: "low" } }),
        ...more,
      };
  }
}

/** A call of the search tool. The id repeats over rounds, as some providers' ids do. */
export function searchCall(query: string, i = 0, name = "web_search") {
  return { id: `call_${i}`, name, arguments: JSON.stringify({ query }) };
}
