/** The section `server` of the configuration: listening address and limits. */
import {
  choice,
  fields,
  flag,
  isHost,
  listOf,
  nonBlank,
  says,
  seconds,
  stringField,
  urlOrNone,
  type Value,
  whole,
} from "../schema/fields.ts";
import { type Network, networkOf } from "../exchange/networks.ts";

const NETWORK_WORDS = 'an address or a network like "10.0.0.0/8"';
const HOST_WORDS = "a host name or an IP address, without port and brackets";
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

export const SERVER = fields({
  hostname: stringField(HOST_WORDS).refine(
    (text) => !text.startsWith("[") && isHost(text),
    says(HOST_WORDS),
  )
    .prefault("127.0.0.1")
    .describe("Address or host name to listen on. `0.0.0.0` and `::` are every address of the machine."),
  port: whole(0, 65_535).prefault(8787)
    .describe("TCP port to listen on. 0 takes a free one, which the line `sluice listening on` names."),
  max_body_bytes: whole(1024, 2 ** 30).prefault(33_554_432)
    .describe("Largest request body, in bytes. Beyond it: 413 `payload_too_large`."),
  max_file_bytes: whole(1024, 2 ** 30).prefault(20_971_520)
    .describe("Largest attachment after decoding, in bytes. Beyond it: 413 `file_too_large`."),
  max_text_chars: whole(1, 2 ** 30).prefault(4_000_000)
    .describe("Most characters of all text of a request together. Beyond it: 413 `text_content_too_large`."),
  max_messages: whole(1, 1_000_000).prefault(2000)
    .describe("Most messages of a request. Beyond it: 422 `validation_error`."),
  max_in_flight: whole(1, 1_000_000).prefault(4096)
    .describe("Most generations under way at once. Beyond it: 503 `service_unavailable`. Workers divide it."),
  max_in_flight_bytes: whole(1024, 2 ** 40).prefault(536_870_912)
    .describe(
      "Most bytes of request bodies of generations under way; of one that is being answered a quarter counts. Beyond it: " +
        "503 `service_unavailable`. Workers divide it.",
    ),
  max_connections: whole(1, 1_000_000).nullable().prefault(null)
    .describe(
      "Most connections of callers at once. Beyond it the one that has waited longest for a request is closed, else the " +
        "WebSocket that has waited longest for a message; if all are busy, the new connection gets 503 and is closed. Null: half of the files that the process may open, 8192 at most, and beside them WebSockets that wait for a message, for a quarter of the files, 16384 at most. " +
        "A change takes a restart. Workers divide it.",
    ),
  max_sockets_per_key: whole(1, 1_000_000).nullable().prefault(16_384)
    .describe(
      "Most WebSockets that one key may have open at once; idle, as many take 256 MiB. Beyond it the handshake is refused with " +
        "429. Null: no bound but `max_connections`, at which WebSockets without a turn under way give way to new connections. Workers divide it.",
    ),
  header_seconds: seconds(0.01).prefault(30)
    .describe(
      "Longest time for the head of a request, and longest silence within a request's body, in seconds. Beyond it: 408, and " +
        "the connection is closed. A change takes a restart.",
    ),
  idle_seconds: seconds(0.01).prefault(300)
    .describe(
      "How long, in seconds, a connection may wait for its next request, or an answer for a caller who takes nothing of it, " +
        "before the connection is closed. A change takes a restart.",
    ),
  keepalive_seconds: seconds(0.01).prefault(15)
    .describe("Silence on an open stream, in seconds, after which a keep-alive is sent."),
  shutdown_grace_seconds: seconds(0).prefault(60)
    .describe("Longest time in seconds that generations under way may take to end after SIGTERM or SIGINT."),
  workers: whole(1, 64).prefault(1)
    .describe("Processes that share the port and the work. A change takes a restart."),
  cors_origins: listOf(origin(), "origins").prefault([])
    .describe("Origins whose web pages may call the gateway; `*` is any. Empty: no CORS headers at all."),
  tls: fields({
    cert: nonBlank(4096, "the path of a file").describe(
      "Path of the certificate in PEM, and behind it those that vouch for it.",
    ),
    key: nonBlank(4096, "the path of a file").describe("Path of its private key in PEM."),
  })
    .nullable().prefault(null)
    .describe(
      "Serves HTTPS (HTTP/2 and HTTP/1.1) with this certificate. SIGHUP reads both files anew. Null: HTTP in the open, as behind a proxy.",
    ),
  metrics: choice("key", "open").prefault("key")
    .describe(
      "Who may read `/metrics`: `key` with the admin key, or where there is none only callers on the own machine; `open` " +
        "everybody.",
    ),
  public_url: urlOrNone().nullable().prefault(null).transform((url) => url === "" ? null : url)
    .describe(
      "Address at which browsers find the gateway, as behind a proxy: `https://gateway.example`. It is where an identity provider sends them back to, and cookies are for HTTPS alone where it has that. Null: the address of each request.",
    ),
  trusted_proxies: listOf(
    stringField(NETWORK_WORDS).refine((text) => networkOf(text) !== null, says(NETWORK_WORDS))
      .transform((text): Network => networkOf(text)!),
    "addresses and networks",
  ).prefault([])
    .describe(
      "Addresses of proxies whose `x-forwarded-proto` and `x-forwarded-for` are believed. Others' are not.",
    ),
  docs: flag().prefault(true)
    .describe("Whether the manual (`/docs`), `/openapi.json` and `/config.schema.json` are served."),
}).transform(({ keepaliveMs, ...rest }) => ({ ...rest, keepAliveMs: keepaliveMs }));

export type ServerConfig = Value<typeof SERVER>;
