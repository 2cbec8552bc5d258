/** The head of a request: its first line, its fields, and what they say of its body and its connection. */
import { BodyFraming, WireError } from "./body_framing.ts";
import { type Fields, hasWord, headLines } from "./head.ts";

export interface RequestHead {
  method: string;
  /** Address as the web's Request has it, put together from the host and the target. */
  url: string;
  fields: Fields;
  framing: BodyFraming;
  /** The connection may be used again after this request. */
  keepAlive: boolean;
  /** 0 for HTTP/1.0. */
  minor: number;
  /** The caller waits to be told before it sends its body. */
  expects: boolean;
}

/** A request that is refused before it is one. */
export class Refusal extends WireError {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

const REQUEST_LINE = /^([\w!#$%&'*+.^`|~-]{1,40}) ([!-~]{1,16000}) HTTP\/(\d)\.(\d)$/;

/**
 * Throws {@link WireError}: 400, or the status of a {@link Refusal}.
 *
 * @param text a head with its blank line
 * @param looked its bytes were looked at
 */
export function requestHead(text: string, looked = false): RequestHead {
  const { first, fields } = headLines(text, looked);
  // Most requests have the first line of the one before.
  const line = before !== null && before.first === first ? before : before = requestLine(first);
  const { method, minor } = line;
  const host = fields.get("host");
  // Repeated ones are joined by a comma, which no host has.
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
  /** The address of the last request that had this line, and the host that it named; null: it is not kept. */
  host: string | null;
  url: string;
}

/** Signs that end the host in an address, or stand before it. */
const NOT_OF_HOSTS = /[/?#@\\ \t]/;

/** Callers name the same host again and again. */
let goodHost = "";

/**
 * Whether this names a host, perhaps with a port, and nothing else: other servers put it into the address of the request without
 * a look. An empty one stands for this machine.
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
  // As a caller asks who takes this for a proxy; its authority stands in for the header.
  const absolute = /^https?:\/\/([^/?]+)([/?].*)?$/i.exec(target);
  if (absolute === null || !isHost(absolute[1])) throw new WireError("the target is no path");
  const [, authority, rest = "/"] = absolute;
  fields.set("host", authority);
  return `http://${authority}${rest.startsWith("/") ? rest : `/${rest}`}`;
}
