/**
 * Calls of every kind, each with words that nobody but its caller and its provider may read: what is asked, what the provider does,
 * and how it is told that the call truly was of its kind.
 */
import { assert, assertEquals } from "@std/assert";
import { SocketClient } from "../support/socket_client.ts";
import { type KindsProvider, SECRETS, WORDS } from "./kinds_provider.ts";

export const APIS = [
  "openai-chat",
  "openai-responses",
  "anthropic-messages",
  "gemini",
  "bedrock-converse",
] as const;
export type Api = typeof APIS[number];
/** Vendors whose own credentials callers may send. */
export const PASSING = ["openai-chat", "anthropic-messages"] as const;

const FORMATS = ["chat", "messages", "responses"] as const;
export type Format = typeof FORMATS[number];
const PATHS = { chat: "/v1/chat/completions", messages: "/v1/messages", responses: "/v1/responses" } as const;

/** A picture of one pixel, behind which its words stand. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const withWords = (base64: string, words: string) =>
  new Uint8Array([...Uint8Array.fromBase64(base64), ...new TextEncoder().encode(words)]).toBase64();
const IMAGE = withWords(PIXEL, WORDS.image);

export interface Sent {
  status: number;
  text: string;
  headers: Headers;
}

export interface Caller {
  url: string;
  provider: KindsProvider;
  engine: { tickets: ReadonlySet<string> };
  /** Answers that were errors. */
  errors: string[];
}

interface Ask {
  api: Api;
  format: Format;
  ticket: string;
  caller: Caller;
}

const EVERYWHERE = (ticket: string): Record<string, string> => ({
  "content-type": "application/json",
  traceparent: `00-${ticket.slice(7).padStart(32, "a")}-b7ad6b7169203331-01`,
  baggage: `user=${WORDS.baggage},other=1`,
  "user-agent": WORDS.agent,
  cookie: `session=${WORDS.cookie}`,
  "x-svc-nothing": WORDS.unknown,
  "x-other": WORDS.unknown,
  referer: `https://site.test/${WORDS.path}`,
});

async function send(
  { caller, ticket }: Ask,
  path: string,
  body: unknown,
  { key = SECRETS.open, headers = {}, leaves = false, method = "POST" }: {
    key?: string;
    headers?: Record<string, string>;
    leaves?: boolean;
    method?: string;
  } = {},
): Promise<Sent> {
  const response = await fetch(`${caller.url}${path}?from=${WORDS.path}`, {
    method,
    headers: { ...EVERYWHERE(ticket), authorization: `Bearer ${key}`, ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  let text = "";
  if (leaves) {
    const reader = response.body!.getReader();
    text = new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
  } else text = await response.text();
  if (response.status >= 400) caller.errors.push(text);
  return { status: response.status, text, headers: response.headers };
}

const model = (api: Api | "passing") => `${api}/m`;

/** A request whose last turn is this, as each format has it. */
function requestOf(
  ask: Ask,
  wish: string,
  parts: { image?: true; file?: true; tool?: true; search?: true } = {},
) {
  const said = `${WORDS.prompt} ${ask.ticket} wish-${wish}.`;
  const schema = { type: "object", properties: { city: { type: "string" } } };
  const file = new TextEncoder().encode(WORDS.file).toBase64();
  if (ask.format === "messages") {
    return {
      model: model(ask.api),
      max_tokens: 100,
      system: WORDS.system,
      messages: [{
        role: "user",
        content: [
          { type: "text", text: said },
          ...(parts.image
            ? [{ type: "image", source: { type: "base64", media_type: "image/png", data: IMAGE } }]
            : []),
          ...(parts.file
            ? [{ type: "document", source: { type: "text", media_type: "text/plain", data: WORDS.file } }]
            : []),
        ],
      }],
      tools: [
        ...(parts.tool ? [{ name: "weather", input_schema: schema }] : []),
        ...(parts.search ? [{ type: "web_search_20250305", name: "web_search" }] : []),
      ],
    };
  }
  if (ask.format === "chat") {
    return {
      model: model(ask.api),
      messages: [{ role: "system", content: WORDS.system }, {
        role: "user",
        content: [
          { type: "text", text: said },
          ...(parts.image
            ? [{ type: "image_url", image_url: { url: `data:image/png;base64,${IMAGE}` } }]
            : []),
          ...(parts.file
            ? [{ type: "file", file: { filename: "a.txt", file_data: `data:text/plain;base64,${file}` } }]
            : []),
        ],
      }],
      ...(parts.tool && { tools: [{ type: "function", function: { name: "weather", parameters: schema } }] }),
      ...(parts.search && { web_search_options: {} }),
    };
  }
  return {
    model: model(ask.api),
    instructions: WORDS.system,
    input: [{
      role: "user",
      content: [
        { type: "input_text", text: said },
        ...(parts.image ? [{ type: "input_image", image_url: `data:image/png;base64,${IMAGE}` }] : []),
        ...(parts.file
          ? [{ type: "input_file", filename: "a.txt", file_data: `data:text/plain;base64,${file}` }]
          : []),
      ],
    }],
    tools: [
      ...(parts.tool ? [{ type: "function", name: "weather", parameters: schema }] : []),
      ...(parts.search ? [{ type: "web_search" }] : []),
    ],
  };
}

const asked = ({ caller, ticket }: Ask) => caller.provider.seen.get(ticket) ?? [];
const ENDS = { chat: "[DONE]", messages: "message_stop", responses: "response.completed" } as const;

function assertAnswered({ format }: Ask, { status, text }: Sent, stream: boolean, words: string): void {
  assertEquals(status, 200, text);
  assert(text.includes(words), text);
  if (stream) assert(text.includes(ENDS[format]), text);
}

const answered =
  (wish: string, words: string, parts: Parameters<typeof requestOf>[2] = {}, key?: string) =>
  (stream: boolean) =>
  async (ask: Ask): Promise<void> => {
    const sent = await send(ask, PATHS[ask.format], { ...requestOf(ask, wish, parts), stream }, { key });
    assertAnswered(ask, sent, stream, words);
    assert(asked(ask).length > 0);
  };

const failed = (wish: string, status: number, key?: string) => async (ask: Ask): Promise<void> => {
  const sent = await send(ask, PATHS[ask.format], requestOf(ask, wish), { key });
  assertEquals(sent.status, status, sent.text);
};

const plain = answered("say", WORDS.answer);
const tool = answered("tool", WORDS.argument, { tool: true });

/** Each fails where a call was not of its kind. */
export const KINDS: Readonly<Record<string, (ask: Ask) => Promise<void>>> = {
  whole: plain(false),
  streamed: plain(true),
  "kept as payload": answered("say", WORDS.answer, {}, SECRETS.kept)(false),
  "kept as payload, streamed": answered("say", WORDS.answer, {}, SECRETS.kept)(true),
  "with a tool call": tool(false),
  "with a tool call, streamed": tool(true),
  ...Object.fromEntries(
    [false, true].map((stream) => [stream ? "searched, streamed" : "searched", async (ask: Ask) => {
      await answered("search", WORDS.answer, { search: true })(stream)(ask);
      assert(ask.caller.engine.tickets.has(ask.ticket));
    }]),
  ),
  async retried(ask) {
    await plain(false)({ ...ask, ticket: ask.ticket });
    const again = { ...ask, ticket: `${ask.ticket}1` };
    await answered("retry", WORDS.answer)(false)(again);
    assertEquals(asked(again).length, 2);
  },
  "refused by its provider": failed("refuse", 400),
  "whose credential is refused": async (ask) => {
    const sent = await send(ask, PATHS[ask.format], requestOf(ask, "deny"));
    assert(sent.status >= 500, `${sent.status}`);
  },
  async "that its provider fails"(ask) {
    const sent = await send(ask, PATHS[ask.format], requestOf(ask, "fail"));
    assert(sent.status >= 500, sent.text);
    assertEquals(asked(ask).length, 2);
  },
  async "broken off"(ask) {
    const sent = await send(ask, PATHS[ask.format], { ...requestOf(ask, "break"), stream: true });
    assertEquals(sent.status, 200);
    assert(sent.text.includes(WORDS.answer), sent.text);
    assert(sent.text.includes("error"), sent.text);
    ask.caller.errors.push(sent.text.replaceAll(WORDS.answer, ""));
  },
  async abandoned(ask) {
    const body = { ...requestOf(ask, "say"), stream: true };
    assertEquals((await send(ask, PATHS[ask.format], body, { leaves: true })).status, 200);
  },
  async "blocked by screening"(ask) {
    await failed(`mail ${WORDS.mailbox}`, 403, SECRETS.strict)(ask);
    assertEquals(asked(ask).length, 0);
  },
  async "masked by screening"(ask) {
    await answered(`mail ${WORDS.mailbox}`, WORDS.answer, {}, SECRETS.masked)(false)(ask);
    assert(asked(ask).every(({ text }) => !text.includes(WORDS.mailbox)));
  },
  async "with an image"(ask) {
    await answered("say", WORDS.answer, { image: true })(false)(ask);
    assert(asked(ask)[0].text.includes(IMAGE));
  },
  "with a file": answered("say", WORDS.answer, { file: true })(false),
  async "over a WebSocket"({ api, ticket, caller }) {
    const client = await SocketClient.open(caller.url, {
      ...EVERYWHERE(ticket),
      authorization: `Bearer ${SECRETS.open}`,
    });
    const turn = await client.turn({ model: model(api), input: `${WORDS.prompt} ${ticket}` });
    assertEquals(turn.at(-1).type, "response.completed");
    await client.close();
  },
  async resumed(ask) {
    const headers = { "x-svc-resume": "true" };
    const body = { ...requestOf(ask, "say"), stream: true };
    const first = await send(ask, PATHS[ask.format], body, { headers, leaves: true });
    const id = first.headers.get("x-request-id");
    const rest = await send(ask, `/v1/generations/${id}/stream`, undefined, { method: "GET" });
    assertAnswered(ask, rest, true, WORDS.answer);
  },
  async "repeated and joined"(ask) {
    const headers = { "x-svc-resume": "true", "idempotency-key": `${WORDS.repeat}-${ask.ticket}` };
    const body = requestOf(ask, "say");
    await send(ask, PATHS[ask.format], body, { headers });
    const again = await send(ask, PATHS[ask.format], body, { headers });
    assertAnswered(ask, again, false, WORDS.answer);
    assertEquals([again.headers.get("x-svc-joined"), asked(ask).length], ["true", 1]);
  },
  async estimated(ask) {
    const { status, text } = await send(ask, "/v1/estimate", requestOf(ask, "say"));
    assertEquals([status, JSON.parse(text).candidates.length], [200, 1], text);
  },
  async "whose tokens are counted"(ask) {
    for (
      const [format, path] of [["messages", "/v1/messages/count_tokens"], [
        "responses",
        "/v1/responses/input_tokens",
      ]] as const
    ) {
      const { max_tokens: _, ...body } = requestOf({ ...ask, format }, "say") as Record<string, unknown>;
      const { status, text } = await send(ask, path, body);
      assert(status === 200 && JSON.parse(text).input_tokens > 0, text);
    }
  },
  async compacted(ask) {
    const { status, text } = await send(ask, "/v1/responses/compact", {
      model: model(ask.api),
      input: `${WORDS.prompt} ${ask.ticket}`,
    });
    assertEquals(status, 200, text);
  },
  "with a key that is none": failed("say", 401, SECRETS.wrong),
  async "for a model that is none"(ask) {
    const body = { ...requestOf(ask, "say"), model: `${WORDS.model}/${ask.ticket}` };
    assertEquals((await send(ask, PATHS[ask.format], body)).status, 404);
  },
  async "that is no JSON"(ask) {
    const { status } = await send(ask, PATHS[ask.format], `{"${WORDS.prompt}": "${WORDS.prompt}`);
    assert(status === 400 || status === 422, `${status}`);
  },
  async "for a path that is none"(ask) {
    assertEquals((await send(ask, `/v1/${WORDS.path}`, requestOf(ask, "say"))).status, 404);
  },
  async "paid by its caller"(ask) {
    const api = PASSING.find((one) => one === ask.api);
    if (api === undefined) return;
    const headers = { authorization: "", "x-api-key": "", "x-svc-key": SECRETS.open };
    headers[api === "openai-chat" ? "authorization" : "x-api-key"] = api === "openai-chat"
      ? `Bearer ${SECRETS.vendor}`
      : SECRETS.vendor;
    for (const [wish, expected] of [["say", 200], ["refuse", 400]] as const) {
      const body = { ...requestOf(ask, wish), model: `passing-${api}/m` };
      const { status, text } = await send(ask, PATHS[ask.format], body, { headers });
      assertEquals(status, expected, text);
    }
    assert(asked(ask).some(({ headers }) => JSON.stringify([...headers]).includes(SECRETS.vendor)));
  },
};

export const formatOf = (nth: number): Format => FORMATS[nth % FORMATS.length];
