/** The head of a request: request line, fields, body framing and persistence of the connection. */
import { BodyFraming, WireError } from "./body_framing.ts";
import { type Fields, hasWord, headLines } from "./head.ts";

export interface RequestHead {
  method: string;
  /** The URL as in the standard `Request`, built from host and target. */
  url: string;
  fields: Fields;
  framing: BodyFraming;
  /** The connection can be reused after this request. */
  keepAlive: boolean;
  /** Minor HTTP version: 0 or 1. */
  minor: number;
  /** The client waits for 100 Continue before it sends its body. */
  expects: boolean;
}

/** A request rejected during parsing, with a specific status. */
export class Refusal extends WireError {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

const REQUEST_LINE = /^([\w!#$%&'*+.^`|~-]{1,40}) ([!-~]{1,16000}) HTTP\/(\d)\.(\d)$/;

/**
 * Parses a head. Throws {@link WireError} for status 400, or a {@link Refusal}.
 *
 * @param text a head including the empty line
 * @param looked true: its characters have been checked
 */
export function requestHead(text: string, looked = false): RequestHead {
  const { first, fields } = headLines(text, looked);
  // Cached, since most requests have the same request line as the previous one.
  const line = before !== null && before.first === first ? before : before = requestLine(first);
  const { method, minor } = line;
  const host = fields.get("host");
  // Repeated Host fields were joined by a comma, which is not valid in a host.
  if (host === undefined ? minor === 1 : host.includes(",")) throw new WireError("expected one host");
  const expectation = fields.get("expect");
  if (expectation !== undefined && expectation.toLowerCase() !== "100-continue") {
    throw new Refusal(417, "expected no expectation but 100-continue");
  }
  const connection = fields.get("connection");
  return {
    method,
    url: line.host === host && host !== undefined ? line.url : addressOf(line, host, fields),
    fields,
    framing: BodyFraming.ofRequest((name) => fields.get(name), minor),
    keepAlive: minor === 1 ? !hasWord(connection, "close") : hasWord(connection, "keep-alive"),
    minor,
    expects: minor === 1 && expectation !== undefined,
  };
}

interface RequestLine {
  first: string;
  method: string;
  target: string;
  minor: number;
  /** The Host value for which the URL of the last request with this line is cached; null: not cached. */
  host: string | null;
  url: string;
}

/** Characters that end the host in a URL or may precede it. */
const NOT_OF_HOSTS = /[/?#@\\ \t]/;

/** Cache: clients repeat the same Host. */
let goodHost = "";

/**
 * Whether the text is a host with an optional port, and nothing else: other servers put it unchecked into the
 * request URL. An empty host stands for this machine.
 */
export function isHost(text: string): boolean {
  if (text === goodHost) return true;
  if (text !== "" && (NOT_OF_HOSTS.test(text) || !URL.canParse(`http://${text}/`))) return false;
  goodHost = text;
  return true;
}

let before: RequestLine | null = null;

function requestLine(first: string): RequestLine {
  const line = REQUEST_LINE.exec(first);
  if (line === null) throw new WireError("the first line is no method, target and version");
  const [, method, target, major, minor] = line;
  if (major !== "1" || Number(minor) > 1) throw new Refusal(505, "expected version 1.1");
  return { first, method, target, minor: Number(minor), host: null, url: "" };
}

function addressOf(line: RequestLine, host: string | undefined, fields: Map<string, string>): string {
  const { method, target } = line;
  if (host !== undefined && !isHost(host)) throw new WireError("the host is not one");
  if (target.startsWith("/")) {
    const url = `http://${host || "localhost"}${target}`;
    if (host !== undefined) {
      line.host = host;
      line.url = url;
    }
    return url;
  }
  if (target === "*" && method === "OPTIONS") return `http://${host || "localhost"}/`;
  // Absolute form, as sent to a proxy; its authority replaces the Host field.
  const absolute = /^https?:\/\/([^/?]+)([/?].*)?$/i.exec(target);
  if (absolute === null || !isHost(absolute[1])) throw new WireError("the target is no path");
  const [, authority, rest = "/"] = absolute;
  fields.set("host", authority);
  return `http://${authority}${rest.startsWith("/") ? rest : `/${rest}`}`;
}
