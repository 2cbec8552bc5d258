/**
 * Callers who come back: their streams are kept, their connections break, in the middle by themselves and whenever a gateway
 * dies, and they go on at any other until they have the end. A request of which nothing came back is repeated under its key.
 */
import { bodyOf, type Drawn, ENDS, labelsOf, type Order, PATHS, type Sent } from "./load.ts";
import type { Node } from "./nodes.ts";
import { pause } from "../support/time.ts";

/** Longer than it takes a fleet to miss a node, which on a busy machine is a minute, and to serve what it left. */
const PATIENCE_MS = 120_000;
const INTERRUPTED = "The generation was interrupted";

export interface CameBack extends Sent {
  connections: number;
  /** What is wrong with what it put together; null: nothing. */
  wrong: string | null;
}

interface Heard {
  text: string;
  last: string | null;
  id: string | null;
}

export async function sendResuming(nodes: readonly Node[], order: Order, drawn: Drawn): Promise<CameBack> {
  const { number, key, plan } = order;
  const { format, stream } = drawn;
  const headers = {
    authorization: `Bearer ${key.secret}`,
    "content-type": "application/json",
    "x-svc-resume": "true",
    ...labelsOf(number),
    "idempotency-key": `chaos ${number}`,
  };
  const sent: CameBack = {
    number,
    node: order.node.index,
    nodes: [],
    key: key.name,
    plan,
    stream,
    at: Date.now(),
    until: 0,
    id: null,
    saw: "lost",
    status: null,
    connections: 0,
    wrong: null,
  };
  const heard: Heard = { text: "", last: null, id: null };
  const until = performance.now() + PATIENCE_MS;
  let node = order.node;
  let broke = false;
  while (sent.saw === "lost" && performance.now() < until) {
    sent.connections++;
    const known = stream && heard.id !== null;
    if (!known) sent.nodes!.push(node.index);
    try {
      const response = known
        ? await fetch(`${node.url}/v1/generations/${heard.id}/stream`, {
          headers: { ...headers, ...(heard.last !== null && { "last-event-id": heard.last }) },
        })
        : await fetch(node.url + PATHS[format], {
          method: "POST",
          headers,
          body: JSON.stringify(bodyOf(format, drawn)),
        });
      sent.status = response.status;
      const joined = response.headers.has("x-svc-joined");
      if (known && response.status === 204) sent.saw = endOf(heard.text, format);
      else if (response.status !== 200) {
        const text = await response.text();
        // Where not all of an answer could be kept, asking again under the same key never helps.
        const mayAgain = response.status === 503 && response.headers.get("x-should-retry") !== "false" &&
          performance.now() < until - 10_000 && !plan.startsWith("search");
        if (text.includes(INTERRUPTED)) sent.saw = "interrupted";
        // The store is away, or the gateway stops: it may be tried again, unless it has searched, which is billed. One that is
        // known must be found.
        else if (mayAgain || (known && response.status === 503)) await pause(50);
        else {
          // A gateway that cannot ask the store tells nothing of a call that began at another one and broke off.
          sent.saw = response.status === 503 && broke ? "interrupted" : "told";
          // What the gateway refuses before it runs has an id that is no generation's: an attempt before it may have run.
          if (response.status !== 503 && (!known || joined)) sent.id = response.headers.get("x-request-id");
          if (known && response.status !== 503) sent.wrong = `a kept stream is ${response.status}: ${text}`;
        }
      } else {
        sent.id = heard.id = response.headers.get("x-request-id");
        if (response.headers.get("x-svc-resume") === "unavailable") sent.unkept = true;
        if (stream) {
          await readSome(response, heard);
          sent.saw = endOf(heard.text, format);
        } else {
          JSON.parse(await response.text());
          sent.saw = "ended";
        }
      }
    } catch {
      // The connection broke.
      broke = true;
      if (heard.text !== "" && endOf(heard.text, format) !== "lost") sent.saw = endOf(heard.text, format);
    }
    if (heard.text.includes(": resumption ended")) sent.unkept = true;
    if (sent.unkept && sent.saw === "lost") break;
    const up = nodes.filter((one) => one.up);
    if (sent.saw === "lost" && up.length === 0) await pause(20);
    else if (up.length > 0) node = up[Math.floor(Math.random() * up.length)];
  }
  if (stream && heard.id !== null && sent.wrong === null) {
    // Who gave up has only what had come by then.
    const part = sent.unkept === true || sent.saw === "lost";
    sent.wrong = await compare(nodes, heard, { headers, part });
  }
  sent.until = Date.now();
  return sent;
}

function endOf(text: string, format: Drawn["format"]): "ended" | "told" | "interrupted" | "lost" {
  if (/"error":\s*\{|"type":"error"/.test(text)) {
    // Behind the error the terminator is still to come.
    if (format !== "messages" && !text.includes(ENDS[format])) return "lost";
    return text.includes(INTERRUPTED) ? "interrupted" : "told";
  }
  return text.includes(ENDS[format]) ? "ended" : "lost";
}

/** Reads a random part of a stream, in half of all connections, and keeps the events that came whole. */
async function readSome(response: Response, heard: Heard): Promise<void> {
  let left = Math.random() < 0.5 ? Math.random() * 3000 : Infinity;
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    left -= value.length;
    rest += left < 0 ? value.slice(0, Math.max(0, value.length + left)) : value;
    const end = rest.lastIndexOf("\n\n") + 2;
    for (const event of end < 2 ? [] : rest.slice(0, end).split(/(?<=\n\n)/)) {
      if (event.startsWith(": resumption")) heard.text += event;
      if (event.startsWith(":")) continue;
      heard.text += event;
      heard.last = /^id: (.*)$/m.exec(event)?.[1] ?? heard.last;
    }
    if (end >= 2) rest = rest.slice(end);
    if (left < 0) return await reader.cancel();
  }
}

/** Whether what was put together is what the stream is from its start; of a part: what had ids is. */
async function compare(
  nodes: readonly Node[],
  { id, text }: Heard,
  { headers, part }: { headers: Record<string, string>; part: boolean },
): Promise<string | null> {
  const promised = text.split(/(?<=\n\n)/).filter((event) => event.startsWith("id: ")).join("");
  if (part && promised === "") return null;
  for (let attempt = 0; attempt < 400; attempt++) {
    const up = nodes.filter((one) => one.up);
    try {
      const response = await fetch(`${up[attempt % up.length].url}/v1/generations/${id}/stream`, { headers });
      const whole = await response.text();
      if (response.status === 503) throw new Error("not now");
      if (response.status !== 200) return `the whole stream is ${response.status}: ${whole.slice(0, 200)}`;
      const events = whole.split(/(?<=\n\n)/).filter((event) => !event.startsWith(":"));
      const isRight = part ? events.join("").startsWith(promised) : events.join("") === text;
      return isRight ? null : `it has ${text.length} characters, and the stream ${whole.length}`;
    } catch {
      await pause(50);
    }
  }
  return "the whole stream cannot be read";
}
