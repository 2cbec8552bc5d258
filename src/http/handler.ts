/**
 * The edge: a Request in, a Response out. Finds the surface by its path, the key by its header, hands a generation to the
 * pipeline, and gives every failure the envelope of its surface.
 */
import type { Administration } from "../accounts/administration.ts";
import type { Key } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import type { CallerFormat as CallerFormatName } from "../exchange/generation.ts";
import { CALLER_FORMATS } from "../formats/mod.ts";
import type { Arrival } from "../pipeline/call.ts";
import type { Kit } from "../pipeline/kit.ts";
import { run } from "../pipeline/run.ts";
import { readJson } from "./body.ts";
import { countTokens } from "./count_tokens.ts";
import { withCors } from "./cors.ts";
import { credential, headersWith } from "./credentials.ts";
import { failureResponse, type Surface } from "./envelope.ts";
import type { LoadShedder } from "../timing/load_shedder.ts";
import { isOwnAccount, ownAccount } from "./own_account.ts";
import { nameIn } from "./path.ts";
import { rateHeaders } from "./rate_headers.ts";
import { respondStream, respondWhole } from "./respond.ts";

/** What the edge reads anew for each request, because a reload may have changed it. */
export interface Edge {
  kit: Kit;
  administration: Administration;
  maxBodyBytes: number;
  maxInFlight: number;
  /** Of the request bodies of calls under way. */
  maxInFlightBytes: number;
  keepAliveMs: number;
  /** Empty: no CORS headers at all. */
  corsOrigins: readonly string[];
  /** False while starting and while stopping. */
  ready(): boolean;
  inFlight: InFlight;
  shedder: LoadShedder;
  /** Routes beyond the API: administration, console, metrics. Null: not one of them. */
  more(request: Request, path: string, remote: string | null): Promise<Response | null> | Response | null;
}

/**
 * How late everything in this process may be, in milliseconds, before new calls are refused. A refusal is quick; a call
 * that is let in then would be slow, and would make all others slower. Less than this is what a busy neighbour on the same
 * machine causes, and nobody should be refused for that.
 */
const MOST_LAG_MS = 500;

/** Before so many milliseconds hardly a caller leaves. */
const PATIENT_MS = 30;

/** What a body is taken to have that does not say. */
const UNTOLD_BYTES = 1 << 20;

/** As how many strings and buffers a body is there, until its request has been sent. */
const FORMS_OF_A_BODY = 4;

/** Calls under way, also those whose caller has left. */
export class InFlight {
  count = 0;
  /** All that have ever come in. */
  entered = 0;
  /** What their requests' bodies took on the wire; in memory it is several times as much. */
  bytes = 0;
  #idle: (() => void)[] = [];

  enter(bytes: number): void {
    this.count++;
    this.entered++;
    this.bytes += bytes;
  }

  leave(bytes: number): void {
    this.count--;
    this.bytes -= bytes;
    if (this.count === 0) { for (const resolve of this.#idle.splice(0)) resolve(); }
  }

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    return this.count === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }
}

const CHAT: Surface = { format: CALLER_FORMATS.chat_completions, shortUnauthorized: true };
const MODELS: Surface = { format: CALLER_FORMATS.chat_completions, shortUnauthorized: false };
const MESSAGES: Surface = { format: CALLER_FORMATS.messages, shortUnauthorized: true };
const RESPONSES: Surface = { format: CALLER_FORMATS.responses, shortUnauthorized: false };

function surfaceOf(path: string): Surface {
  if (path.startsWith("/v1/messages")) return MESSAGES;
  if (path.startsWith("/v1/responses")) return RESPONSES;
  return path.startsWith("/v1/chat/") ? CHAT : MODELS;
}

/** For metrics: few names, whatever callers ask for. */
function surfaceName(path: string): string {
  if (path.startsWith("/v1/messages")) return "messages";
  if (path.startsWith("/v1/responses")) return "responses";
  if (path.startsWith("/v1/chat/")) return "chat_completions";
  return path.startsWith("/v1/") ? "v1" : "other";
}

export type Handler = (request: Request, info?: { remoteAddr: Deno.Addr }) => Promise<Response>;

export function handler(edge: () => Edge): Handler {
  return async (request, info) => {
    const now = edge();
    const id = generationId(now.kit.now());
    const path = pathOf(request.url);
    let response: Response;
    try {
      response = await route(request, path, { id, edge: now, info });
    } catch (thrown) {
      const failure = Failure.from(thrown);
      if (failure.code === "internal_service_error") {
        now.kit.log(`${id} ${loggable(path)}: ${describe(failure.cause)}`);
      }
      response = failureResponse(failure, surfaceOf(path), id, now.kit.now());
      if (failure.code === "method_not_allowed") {
        response.headers.set("allow", String(failure.details?.allow));
      }
    }
    now.kit.metrics.responded(surfaceName(path), response.status);
    // Calls' answers have it from where they are made; to look into headers of every one would cost as much as to route it.
    const isCall = request.method === "POST" && path.startsWith("/v1/");
    if (!isCall && !response.headers.has("x-request-id")) {
      response.headers.set("x-request-id", id);
      response.headers.set("request-id", id);
    }
    if (request.method === "HEAD") response = new Response(null, response);
    return now.corsOrigins.length > 0 ? withCors(response, request, now.corsOrigins) : response;
  };
}

/** Begins with the time, so that the ledger's index grows at its end: anywhere else each row would touch a page of its own. */
function generationId(now: number): string {
  const random = crypto.randomUUID();
  return `gen_${now.toString(16).padStart(12, "0")}${random.slice(0, 8)}${random.slice(24)}`;
}

/** The path of an address, without the cost of parsing all of it. */
function pathOf(url: string): string {
  const from = url.indexOf("/", url.indexOf("//") + 2);
  if (from < 0) return "/";
  const query = url.search(/[?#]/);
  const path = query < 0 ? url.slice(from) : url.slice(from, query);
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** A path as the log may show it: people put keys everywhere. */
function loggable(path: string): string {
  return path.replace(/sk_live_[^/]*/g, "[withheld]").slice(0, 100);
}

function describe(cause: unknown): string {
  return cause instanceof Error
    ? `${cause.name}: ${cause.stack?.match(/^ +at .*$/gm)?.slice(0, 2).join(" ").trim()}`
    : typeof cause;
}

/** The caller's address; null when there is none to see. */
function remoteOf(info: { remoteAddr: Deno.Addr } | undefined): string | null {
  const address = info?.remoteAddr;
  return address && "hostname" in address ? address.hostname : null;
}

/** What a route needs beside the request. */
interface Asked {
  id: string;
  edge: Edge;
  info: { remoteAddr: Deno.Addr } | undefined;
}

function route(request: Request, path: string, asked: Asked): Response | Promise<Response> {
  // The server puts address and path together from the host header, which could hold a path of its own.
  if (!/^[\w.:[\]-]*$/.test(request.headers.get("host") ?? "")) {
    throw new Failure("validation_error", "Cannot read the host header: expected a host name and a port.");
  }
  const own = methodOf(path);
  if (own !== undefined) {
    const allowed = own === "GET" ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
    if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: { allow: allowed } });
    if (request.method !== own && !(own === "GET" && request.method === "HEAD")) {
      throw new Failure("method_not_allowed", `Cannot ${request.method} here: expected ${allowed}.`, {
        details: { allow: allowed },
      });
    }
  }
  switch (path) {
    case "/v1/chat/completions":
      return generation(request, CHAT, "chat_completions", asked);
    case "/v1/messages":
      return generation(request, MESSAGES, "messages", asked);
    case "/v1/responses":
      return generation(request, RESPONSES, "responses", asked);
    case "/healthz":
      return new Response("ok\n");
    case "/readyz":
      return asked.edge.ready() ? new Response("ready\n") : new Response("stopping\n", { status: 503 });
  }
  return routeOther(request, path, asked);
}

async function routeOther(request: Request, path: string, { id, edge, info }: Asked): Promise<Response> {
  switch (path) {
    case "/v1/messages/count_tokens": {
      const key = await authenticate(request, MESSAGES, edge);
      return json(
        await countTokens(
          await readJson(request, edge.maxBodyBytes, edge.kit),
          request,
          key,
          edge.kit,
        ),
        id,
      );
    }
    case "/v1/models": {
      return json(
        { object: "list", data: edge.kit.catalog.list(await authenticate(request, MODELS, edge)) },
        id,
      );
    }
  }
  if (path.startsWith("/v1/models/")) {
    return oneModel(path, await authenticate(request, MODELS, edge), id, edge);
  }
  if (isOwnAccount(path)) {
    return json(await ownAccount(path, await authenticate(request, MODELS, edge), edge.administration), id);
  }
  const other = await edge.more(request, path, remoteOf(info));
  if (other) return other;
  throw new Failure("not_found", `There is no ${request.method} ${path.slice(0, 200)} here.`);
}

/** Refused as cheaply as can be, because that is when nothing is left to spend. */
const OVERLOADED = new Failure(
  "service_unavailable",
  "The service takes no more calls just now; try again soon.",
);

function generation(
  request: Request,
  surface: Surface,
  formatName: CallerFormatName,
  { id, edge }: Asked,
): Response | Promise<Response> {
  const { kit, inFlight } = edge;
  const bytes = bodyBytes(request);
  const full = !edge.ready() || inFlight.count >= edge.maxInFlight || kit.ticker.lag > MOST_LAG_MS ||
    // One call alone is let in, whatever its size.
    (inFlight.count > 0 && inFlight.bytes + bytes > edge.maxInFlightBytes);
  if (full) return failureResponse(OVERLOADED, surface, id, kit.now());
  const key = authenticate(request, surface, edge);
  const entry = key instanceof Promise
    ? key.then(({ id }) => edge.shedder.enter(id))
    : edge.shedder.enter(key.id);
  if (entry === false) return failureResponse(OVERLOADED, surface, id, kit.now());
  return call(request, surface, formatName, { id, edge, bytes, key, entry });
}

/** A call whose key is known, or being looked up, on its way in. */
interface Entering {
  id: string;
  edge: Edge;
  bytes: number;
  key: Key | Promise<Key>;
  entry: true | Promise<boolean>;
}

async function call(
  request: Request,
  surface: Surface,
  formatName: CallerFormatName,
  { id, edge, bytes, key: keyed, entry }: Entering,
): Promise<Response> {
  const { kit, inFlight } = edge;
  inFlight.enter(bytes);
  let held = bytes;
  let left = false;
  let handedOver = false;
  let known: Record<string, string> = {};
  // Asking whether the connection still stands costs more than a quick answer is worth.
  let connection: AbortSignal | undefined;
  const deadline = kit.ticker.deadline(() => connection = request.signal);
  deadline.arm(PATIENT_MS);
  const over = () => {
    deadline.close();
    inFlight.leave(held);
    held = 0;
  };
  try {
    if (entry !== true && !await entry) throw OVERLOADED;
    const key = keyed instanceof Promise ? await keyed : keyed;
    const body = await readJson(request, edge.maxBodyBytes, kit);
    const arrival: Arrival = {
      id,
      format: surface.format,
      formatName,
      key,
      body,
      headers: (prefix) => headersWith(request, prefix),
      gone: () => left || connection?.aborted === true,
    };
    const { call: made, parts } = await run(arrival, kit);
    handedOver = true;
    known = made.headers;
    // The prompt says all of it; a stream may last for an hour.
    arrival.body = undefined;
    const rates = rateHeaders(made.reservation.rates, surface === MESSAGES, made.created);
    const respond = made.prompt.stream ? respondStream : respondWhole;
    const response = await respond({
      format: surface.format,
      parts,
      context: {
        id,
        created: Math.floor(made.created / 1000),
        now: () => Math.floor(kit.now() / 1000),
        model: made.model.id,
        prompt: made.prompt,
        seal: kit.sealer.seal,
        dlp: made.screened?.report ?? undefined,
      },
      headers: () => ({ ...made.headers, ...rates, "x-request-id": id, "request-id": id }),
      keepAliveMs: edge.keepAliveMs,
      ticker: kit.ticker,
      left: () => left = true,
      over,
    });
    // The request has been sent: of all its forms only the prompt is left.
    const rest = Math.floor(held / FORMS_OF_A_BODY);
    inFlight.bytes -= held - rest;
    held = rest;
    return response;
  } catch (thrown) {
    throw Failure.from(thrown).with(known);
  } finally {
    if (!handedOver) over();
  }
}

/** What a body will take: as its header says, or a guess where it says nothing or the body comes packed. */
function bodyBytes(request: Request): number {
  const length = request.headers.get("content-length");
  // Not `has()`, which copies all headers into a list.
  if (length === null || request.headers.get("content-encoding") !== null) return UNTOLD_BYTES;
  return Number(length) || 0;
}

function authenticate(request: Request, surface: Surface, edge: Edge): Key | Promise<Key> {
  const secret = credential((name) => request.headers.get(name), { apiKeyHeader: surface === MESSAGES });
  return edge.kit.accounts.authenticate(secret);
}

function oneModel(path: string, key: Key, id: string, edge: Edge): Response {
  const name = nameIn(path.slice("/v1/models/".length));
  const found = edge.kit.catalog.list(key).find((m) => m.id === name);
  if (!found) {
    throw new Failure("model_not_found", `Cannot find model ${JSON.stringify(name.slice(0, 200))}.`);
  }
  return json(found, id);
}

/** The method of a route of the API; HEAD goes where GET goes. Undefined: not such a route. */
function methodOf(path: string): "GET" | "POST" | undefined {
  switch (path) {
    case "/v1/chat/completions":
    case "/v1/messages":
    case "/v1/messages/count_tokens":
    case "/v1/responses":
      return "POST";
    case "/v1/models":
    case "/healthz":
    case "/readyz":
      return "GET";
  }
  return path.startsWith("/v1/models/") || isOwnAccount(path) ? "GET" : undefined;
}

function json(value: unknown, id: string): Response {
  return new Response(JSON.stringify(value), {
    headers: { "content-type": "application/json", "x-request-id": id, "request-id": id },
  });
}
