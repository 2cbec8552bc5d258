/**
 * The responses format over a WebSocket: `GET /v1/responses` with `Upgrade`. Each message `response.create`
 * is a request with the fields of the HTTP body; each event of the answer is sent as one message, one answer
 * after the other.
 *
 * A turn is handled like an HTTP request, including limits, screening and billing. In addition the connection
 * stores its conversations: `previous_response_id` refers to an earlier answer on the same connection.
 * Protocol: OpenAI, "WebSocket mode" of the Responses API.
 */
import { Failure } from "../exchange/failure.ts";
import { NO_USAGE } from "../exchange/usage.ts";
import { isObject, type Loose, string } from "../exchange/json.ts";
import type { Part } from "../exchange/part.ts";
import { IncomingHeaders } from "../transport/incoming.ts";
import { WebSocketUpgrade } from "../transport/websocket/upgrade.ts";
import { asksForWebSocket } from "../transport/websocket/upgrade_request.ts";
import type { CallerSocket, SocketUser } from "../transport/websocket/socket.ts";
import { CLOSE } from "../transport/websocket/frames.ts";
import { refuseModel } from "../pipeline/admission/admit.ts";
import { LARGE } from "../timing/slices.ts";
import type { Deadline } from "../timing/ticker.ts";
import { authenticate } from "./credentials.ts";
import type { IncomingRequest, RequestContext, ServerState } from "./endpoint.ts";
import { generationId } from "../exchange/request_ids.ts";
import { KeptTurns, type KeyMemory } from "./kept_turns.ts";
import { BRIEF, parseBody, parseLargeBody } from "./parse_body.ts";
import { failureEvent, type SocketEvent, socketEvents, SocketRefusal } from "./socket_events.ts";
import { RESPONSES } from "./surfaces.ts";

/** How long a connection accepts turns, in milliseconds, as at OpenAI; clients then open a new one. */
const CONNECTION_MS = 3_600_000;
/** Fields of the message that are not part of the request body. */
const OF_THE_MESSAGE = ["type", "stream_id", "generate", "stream", "previous_response_id"];
const LONGEST_STREAM_ID = 256;
/** Handshake headers that are not part of a request. */
const OF_THE_HANDSHAKE = /^(?:sec-websocket-|upgrade$|connection$|content-)/;

/** Answers the WebSocket handshake and handles the messages of the connection. Throws on a plain GET. */
export async function responsesSocket(context: RequestContext): Promise<Response> {
  const { request, state } = context;
  if (!asksForWebSocket(request)) {
    throw new Failure("method_not_allowed", "Cannot GET here: expected POST, or a WebSocket's handshake.", {
      details: { allow: "POST" },
      headers: { allow: "POST" },
    });
  }
  const key = await authenticate(context);
  state.requestRates.take("read", key.id, state.kit.accounts.requestsPerMinute(key));
  const session = new Session(context, key.id);
  const upgrade = WebSocketUpgrade.of(request, session);
  if (upgrade === null) {
    session.over();
    throw new Failure("validation_error", "Cannot open a WebSocket: expected a handshake of version 13.", {
      headers: { "sec-websocket-version": "13" },
    });
  }
  return upgrade;
}

const CONNECTION_OVER = new SocketRefusal(
  "websocket_connection_limit_reached",
  "The connection has lasted for an hour: open another one, and send the whole conversation.",
);

const encoder = new TextEncoder();

async function sayOver(socket: CallerSocket): Promise<void> {
  await socket.send([failureEvent(CONNECTION_OVER)]).catch(() => {});
  await socket.close(CLOSE.normal, "the connection's time is over");
}

/** A parsed message. */
interface Turn {
  body: Loose;
  /** The new items in this message. */
  input: readonly unknown[];
  previous: string | null;
  streamId: string | undefined;
  generates: boolean;
  /** Size of the message. */
  bytes: number;
  /** Size of the message and the preceding conversation. */
  wholeBytes: number;
}

/**
 * The parts of the handshake request that a turn needs. Thousands of sockets may be idle, and the whole
 * request would dominate their memory.
 */
type Handshake = Pick<IncomingRequest, "url" | "headers">;

/** One connection. */
class Session implements SocketUser {
  readonly mostMessageBytes: number;
  readonly pingMs: number;
  readonly #key: string;
  readonly #handshake: Handshake;
  readonly #connection: RequestContext["connection"];
  readonly #again: RequestContext["again"];
  readonly #current: ServerState["current"];
  readonly #memory: KeyMemory;
  readonly #leaveKey: () => void;
  /** Null: no answer has been stored yet. */
  #kept: KeptTurns | null = null;
  /** Bytes of queued messages. */
  #held = 0;
  #hour: Deadline | null = null;
  #isLate = false;
  /** Aborts the current turn. */
  #leaving: AbortController | null = null;

  /** Takes a socket place of the key; throws if there is none. */
  constructor({ request, connection, again, state }: RequestContext, key: string) {
    this.mostMessageBytes = state.maxBodyBytes;
    this.pingMs = state.keepAliveMs;
    this.#key = key;
    this.#handshake = {
      url: request.url,
      headers: new IncomingHeaders(
        new Map([...request.headers].filter(([name]) => !OF_THE_HANDSHAKE.test(name))),
      ),
    };
    this.#connection = connection;
    this.#again = again;
    this.#current = state.current;
    this.#leaveKey = state.socketsOfKeys.enter(key, state.maxSocketsPerKey);
    this.#memory = state.socketMemory.enter(key);
  }

  opened(socket: CallerSocket): void {
    this.#hour = this.#current().kit.ticker.coarse(() => {
      this.#isLate = true;
      if (this.#leaving === null) void sayOver(socket);
    });
    this.#hour.arm(CONNECTION_MS);
  }

  hold(bytes: number): boolean {
    if (!this.#memory.takeMessages(bytes - this.#held)) return false;
    this.#held = bytes;
    return true;
  }

  disconnected(): void {
    this.#leaving?.abort();
  }

  over(): void {
    this.#hour?.close();
    this.#kept?.clear();
    this.#leaveKey();
    this.#memory.leave();
  }

  async take(text: string, socket: CallerSocket): Promise<void> {
    const leaving = this.#leaving = new AbortController();
    await this.#turn(text, socket, leaving.signal);
    this.#leaving = null;
    if (this.#isLate) await sayOver(socket);
  }

  async #turn(text: string, socket: CallerSocket, leaving: AbortSignal): Promise<void> {
    let turn: Turn | null = null;
    let failed = true;
    try {
      turn = readTurn(await this.#parse(text), text.length);
      if (turn === null) return;
      if (turn.previous !== null) {
        const before = this.#kept?.upTo(turn.previous) ?? null;
        if (before === null) {
          throw new SocketRefusal(
            "previous_response_not_found",
            `Cannot find response ${
              turn.previous.slice(0, 100)
            }: expected one of this connection; send the whole conversation.`,
            "previous_response_id",
          );
        }
        turn.body.input = [...before.items, ...turn.input];
        turn.wholeBytes += before.bytes;
        refuseLoneResults(turn);
      }
      failed = !await this.#answer(turn, socket, leaving);
    } catch (thrown) {
      if (thrown instanceof Deno.errors.BadResource) throw thrown;
      await socket.send([failureEvent(thrown, turn?.streamId)]);
    } finally {
      // As at OpenAI, a failed turn removes the answer that it continued from; clients then send the whole
      // conversation.
      if (failed && turn !== null && turn.previous !== null) this.#kept?.forget(turn.previous);
    }
  }

  /** In slices, if it is long. Throws `validation_error`. */
  #parse(text: string): unknown {
    if (text.length <= BRIEF) return parseBody(text);
    return this.#current().kit.slices.run(this.#key, parseLargeBody(text), "parse");
  }

  /** Handles the turn like an HTTP request, and sends the events of the answer. False: it failed. */
  async #answer(turn: Turn, socket: CallerSocket, leaving: AbortSignal): Promise<boolean> {
    const asked = new TurnRequest(this.#handshake, turn, leaving);
    const response = turn.generates
      ? await this.#again(asked, this.#connection)
      : await this.#begin(asked, turn.wholeBytes);
    let ended = false;
    for await (const batch of socketEvents(response, turn, leaving)) {
      for (const event of batch) {
        if (!event.ended) continue;
        this.#keep(turn, event);
        ended = true;
      }
      await socket.send(batch.map(({ text }) => text));
    }
    return ended;
  }

  /**
   * `generate: false`: an answer without output that a later turn can continue from. No provider request is
   * sent, nothing is billed.
   */
  async #begin(request: TurnRequest, bytes: number): Promise<Response> {
    const format = await RESPONSES.format.open();
    const state = this.#current();
    const { kit } = state;
    const key = await authenticate({ request, state, surface: RESPONSES });
    state.requestRates.take("read", key.id, kit.accounts.requestsPerMinute(key));
    const { seal, unseal } = kit.sealer.of(key.account);
    const prompt = format.decodeRequest(request.parsed, { unseal, headers: () => ({}) });
    const id = generationId(kit.now());
    const seconds = Math.floor(kit.now() / 1000);
    refuseModel(prompt.model, key, { kit, short: false });
    const model = kit.catalog.find(prompt.model)?.id ?? prompt.model;
    const context = { id, created: seconds, now: () => seconds, model: () => model, prompt, seal };
    const frames = format.encodeStream(context);
    const parts: Part[] = [
      { type: "start" },
      { type: "usage", usage: NO_USAGE },
      { type: "finish", choice: 0, reason: "stop" },
    ];
    // Each event contains the instructions, which may be long.
    const body = async function* () {
      for (const part of parts) {
        if (bytes > LARGE) await kit.slices.pause(key.id);
        yield encoder.encode(frames.encode([part]));
      }
      yield encoder.encode(frames.end());
    };
    return new Response(ReadableStream.from(body()));
  }

  #keep({ input, previous, bytes }: Turn, { text, ended }: SocketEvent): void {
    const { id, output } = ended!;
    this.#kept ??= new KeptTurns(this.#memory);
    this.#kept.keep(id, previous, { items: [...input, ...output], bytes: bytes + text.length });
  }
}

/** Null: the message needs no answer. Throws `validation_error`. */
function readTurn(message: unknown, bytes: number): Turn | null {
  if (!isObject(message)) throw mistake("the message", "an object");
  // An acknowledgement sent by Codex.
  if (message.type === "response.processed") return null;
  if (message.type !== "response.create") throw mistake("type", "response.create");
  const fields = isObject(message.response) ? message.response : message;
  const { input = [], previous_response_id: previous = null } = fields;
  const { stream_id: streamId, generate = true } = message;
  if (previous !== null && typeof previous !== "string") {
    throw mistake("previous_response_id", "a string or null");
  }
  if (streamId !== undefined && (typeof streamId !== "string" || streamId.length > LONGEST_STREAM_ID)) {
    throw mistake("stream_id", `a string of at most ${LONGEST_STREAM_ID} characters`);
  }
  if (typeof generate !== "boolean") throw mistake("generate", "true or false");
  const items = typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
  if (!Array.isArray(items)) throw mistake("input", "a string or a list");
  const body = Object.fromEntries(Object.entries(fields).filter(([name]) => !OF_THE_MESSAGE.includes(name)));
  return {
    body: { ...body, input, stream: true },
    input: items,
    previous,
    streamId,
    generates: generate,
    bytes,
    wholeBytes: bytes,
  };
}

/**
 * Throws `validation_error` for a tool result whose call is not part of the conversation, and therefore
 * belongs to another one.
 */
function refuseLoneResults({ body, input }: Turn): void {
  const isResult = ({ type }: Loose) => string(type)?.endsWith("_call_output") === true;
  const results = input.filter(isObject).filter(isResult);
  if (results.length === 0) return;
  const items = (body.input as unknown[]).filter(isObject);
  const calls = new Set(items.filter((item) => !isResult(item)).map(({ call_id }) => call_id));
  const lone = results.find(({ call_id }) => !calls.has(call_id));
  if (lone === undefined) return;
  throw mistake(
    "input",
    `a call for the result of ${JSON.stringify(string(lone.call_id)?.slice(0, 100) ?? null)}`,
  );
}

/** A turn as an HTTP request. */
class TurnRequest implements IncomingRequest {
  readonly method = "POST";
  readonly url: string;
  readonly headers: IncomingRequest["headers"];
  readonly body = null;
  readonly signal: AbortSignal;
  readonly parsed: unknown;

  constructor(handshake: Handshake, { body, wholeBytes }: Turn, signal: AbortSignal) {
    this.url = handshake.url;
    this.signal = signal;
    this.parsed = body;
    this.headers = new IncomingHeaders(
      new Map([...handshake.headers, ["content-type", "application/json"], [
        "content-length",
        String(wholeBytes),
      ]]),
    );
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return Promise.resolve(new ArrayBuffer(0));
  }
}

function mistake(param: string, expected: string): Failure {
  const message = `Cannot read ${param}: expected ${expected}.`;
  return new Failure("validation_error", message, {
    ...(param !== "the message" && { param }),
    errors: [{ type: "value_error", loc: [param], msg: message }],
  });
}
