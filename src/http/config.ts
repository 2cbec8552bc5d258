/** The section `server` of the configuration: listening address and limits. */
import {
  choice,
  fields,
  flag,
  host,
  listOf,
  nonBlank,
  says,
  seconds,
  siteOrNone,
  stringField,
  type Value,
  whole,
} from "../schema/fields.ts";
import { type Network, networkOf } from "../exchange/networks.ts";

const NETWORK_WORDS = 'an address or a network like "10.0.0.0/8"';
const ORIGIN_WORDS = 'an origin like "https://app.example" or "*"';

/** An origin as browsers serialize it: lower case, without the default port. Null: not an origin. */
function originOf(text: string): string | null {
  const match = /^([a-z][a-z\d+.-]*):\/\/((?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?)$/i.exec(text);
  if (match === null || !URL.canParse(text)) return null;
  return /^https?$/i.test(match[1]) ? new URL(text).origin : text.toLowerCase();
}

const origin = () =>
  stringField(ORIGIN_WORDS)
    .refine((text) => text === "*" || originOf(text) !== null, says(ORIGIN_WORDS))
    .transform((text) => originOf(text) ?? text);

/** Maximum number of processes on one port. */
export const MOST_WORKERS = 64;

export const SERVER = fields({
  hostname: host().prefault("127.0.0.1")
    .describe(
      "IP address or host name to listen on. `0.0.0.0` and `::` listen on all addresses of the machine. A change needs a restart.",
    ),
  port: whole(0, 65_535).prefault(8787)
    .describe(
      "TCP port to listen on. With 0 the system chooses a free port; the line `sluice listening on` shows it. A change needs a restart.",
    ),
  max_body_bytes: whole(1, 2 ** 30).prefault(33_554_432)
    .describe("Maximum size of a request body, in bytes. Larger: 413 `payload_too_large`."),
  max_file_bytes: whole(1, 2 ** 30).prefault(20_971_520)
    .describe("Maximum size of one decoded attachment, in bytes. Larger: 413 `file_too_large`."),
  max_text_chars: whole(1, 2 ** 30).prefault(4_000_000)
    .describe(
      "Maximum total length of all text in a request, in characters. Longer: 413 `text_content_too_large`.",
    ),
  max_messages: whole(1, 1_000_000).prefault(2000)
    .describe("Maximum number of messages in a request. More: 422 `validation_error`."),
  max_in_flight: whole(1, 1_000_000).prefault(4096)
    .describe(
      "Maximum number of generations in progress at the same time. More: 503 `service_unavailable`. Divided among the workers.",
    ),
  max_in_flight_bytes: whole(1024, 2 ** 40).prefault(536_870_912)
    .describe(
      "Maximum total size of the request bodies of generations in progress, in bytes. Once the answer of a generation has begun, a quarter of its body counts. More: 503 `service_unavailable`. Divided among the workers.",
    ),
  max_connections: whole(1, 1_000_000).nullable().prefault(null)
    .describe(
      "Maximum number of open client connections. At the maximum, a new connection replaces the connection that has been idle the longest, or else one whose client has stopped sending its request or receiving its answer, or else the WebSocket that has been idle the longest. If there is none, the new connection gets 503 and is closed. Null: half of the file descriptors that the process may open, at most 8192. In addition, idle WebSockets may use a quarter of the descriptors, at most 16384. A change needs a restart. Divided among the workers.",
    ),
  max_sockets_per_key: whole(1, 1_000_000).nullable().prefault(16_384)
    .describe(
      "Maximum number of open WebSockets of one key. More: the handshake is refused with 429. The default number of idle WebSockets uses 256 MiB of memory. Null: no limit except `max_connections`, at which idle WebSockets are closed to accept new connections. Divided among the workers.",
    ),
  header_seconds: seconds(0.01).prefault(30)
    .describe(
      "Timeout for receiving the headers of a request, and for each pause within its body, in seconds. Then the answer is 408 and the connection is closed. A change needs a restart.",
    ),
  idle_seconds: seconds(0.01).prefault(300)
    .describe(
      "Idle timeout of a connection, in seconds: it is closed when no new request arrives, or when the caller reads nothing of an answer, for this time. A change needs a restart.",
    ),
  keepalive_seconds: seconds(0.01).prefault(15)
    .describe("Time without output on a stream, in seconds, after which a keep-alive is sent."),
  shutdown_grace_seconds: seconds(0).prefault(60)
    .describe(
      "Time in seconds that running generations have to finish after SIGTERM or SIGINT. A change needs a restart.",
    ),
  workers: whole(1, MOST_WORKERS).prefault(1)
    .describe("Number of processes that share the port and the work. A change needs a restart."),
  cors_origins: listOf(origin(), "origins").prefault([])
    .describe(
      "Origins whose web pages may call the gateway (CORS); `*` allows every origin. Empty: no CORS headers are sent.",
    ),
  tls: fields({
    cert: nonBlank(4096, "the path of a file").describe(
      "Path of a PEM file with the certificate, followed by its intermediate certificates.",
    ),
    key: nonBlank(4096, "the path of a file").describe(
      "Path of a PEM file with the private key of the certificate.",
    ),
  })
    .nullable().prefault(null)
    .describe(
      "Serves HTTPS (HTTP/2 and HTTP/1.1) with this certificate. A reload (SIGHUP) reads both files again. Null: plain HTTP, for example behind a proxy that terminates TLS. Adding or removing this section needs a restart.",
    ),
  metrics: choice("key", "open").prefault("key")
    .describe(
      "Who may read `/metrics`. `key`: requests with the admin key or an administration token; if there is no admin key, requests from the same machine. `open`: everybody.",
    ),
  public_url: siteOrNone().nullable().prefault(null).transform((url) => url === "" ? null : url)
    .describe(
      "URL at which browsers reach the gateway, for example behind a proxy: `https://gateway.example`. It has no path, since the pages of the console are at `/console` of their host. The identity provider redirects browsers to it. If it begins with `https:`, the session cookie is sent over HTTPS only. Null: the address of each request.",
    ),
  trusted_proxies: listOf(
    stringField(NETWORK_WORDS).refine((text) => networkOf(text) !== null, says(NETWORK_WORDS))
      .transform((text): Network => networkOf(text)!),
    "addresses and networks",
  ).prefault([])
    .describe(
      "IP addresses and networks (CIDR) of proxies whose `x-forwarded-proto` and `x-forwarded-for` headers are trusted. The headers of other clients are ignored.",
    ),
  docs: flag().prefault(true)
    .describe("Whether the manual (`/docs`), `/openapi.json` and `/config.schema.json` are served."),
}).transform(({ keepaliveMs, ...rest }) => ({ ...rest, keepAliveMs: keepaliveMs }));

export type ServerConfig = Value<typeof SERVER>;
