/** The callers: three formats, streams and whole answers, some who leave, and what each of them got to see. */
import { APIS, KEYS, type Node, TIGHT } from "./nodes.ts";
import { pause } from "../support/time.ts";

/** How a request looked from outside. */
export interface Sent {
  number: number;
  node: number;
  /** Where it was sent, if to several. */
  nodes?: number[];
  key: string;
  plan: Plan;
  stream: boolean;
  at: number;
  until: number;
  /** Of the answer, where its headers came. */
  id: string | null;
  /**
   * `ended`: the whole answer, to its last word. `told`: an error, to its last word. `left`: the caller went. `lost`: the
   * connection broke. `unreachable`: there was nobody to talk to. `interrupted`: its stream ended with its gateway.
   */
  saw: "ended" | "told" | "left" | "lost" | "unreachable" | "interrupted";
  status: number | null;
  /** It was to be kept, and could not be. */
  unkept?: boolean;
}

export type Plan = "ok" | "slow" | "error" | "break" | "nousage" | "empty" | "search" | "searcherror";

/** Shares of each in a hundred; `slow` is what callers leave in the middle of. */
const PLANS: readonly (readonly [Plan, number])[] = [
  ["ok", 54],
  ["slow", 18],
  ["error", 8],
  ["break", 6],
  ["search", 6],
  ["searcherror", 3],
  ["nousage", 3],
  ["empty", 2],
];
const FORMATS = ["chat_completions", "messages", "responses"] as const;
export type Format = typeof FORMATS[number];
export const PATHS = {
  chat_completions: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
};
export const ENDS = {
  chat_completions: "data: [DONE]",
  messages: '"message_stop"',
  responses: "data: [DONE]",
};
const OUTPUT = 64;
/** So that no prompt's estimate is below what the provider reports. */
const PADDING = "It is a fine day for all that. ".repeat(12);

const any = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)];
export interface Load {
  sent: Sent[];
  /** From now on the next answer of this node is told of by the provider as soon as it is out. */
  armed: Node | null;
  /** Numbers that the provider will tell of, and where they run. */
  told: Map<number, Node>;
  stop(): Promise<void>;
}

export type Send = (node: Node, order: Omit<Order, "node">) => Promise<Sent>;

/** @param sends how; absent: once, whatever comes of it */
export function startLoad(nodes: readonly Node[], callers: number, sends: Send = send): Load {
  let running = true;
  let next = 1;
  const load: Load = {
    sent: [],
    armed: null,
    told: new Map(),
    async stop() {
      running = false;
      await Promise.all(all);
    },
  };

  async function caller(index: number): Promise<void> {
    for (let turn = 0; running; turn++) {
      const up = nodes.filter((node) => node.up);
      if (up.length === 0) {
        await pause(20);
        continue;
      }
      const node = any(up);
      const tell = load.armed === node;
      if (tell) load.armed = null;
      const own = KEYS.length / callers | 0;
      const tight = !tell && Math.random() < 0.02;
      const key = tight ? TIGHT : KEYS[index * own + turn % own];
      const plan = tell || tight ? "ok" : planned();
      const number = next++;
      if (tell) load.told.set(number, node);
      const sent = await sends(node, { number, key, plan, tell });
      load.sent.push(sent);
      if (sent.saw === "unreachable") await pause(20);
      // Refused because of a full disk or a database that is away: no use in hurrying.
      else if (sent.status === 503) await pause(10);
    }
  }

  const all = Array.from({ length: callers }, (_, i) => caller(i));
  return load;
}

function planned(): Plan {
  let left = Math.random() * 100;
  for (const [plan, share] of PLANS) if ((left -= share) < 0) return plan;
  return "ok";
}

export interface Order {
  node: Node;
  number: number;
  key: { name: string; secret: string };
  plan: Plan;
  tell: boolean;
}

/** A request that was drawn by lot. */
export interface Drawn {
  format: Format;
  stream: boolean;
  model: string;
  text: string;
  searches: number;
}

export function draw({ number, plan, tell }: Omit<Order, "node" | "key">): Drawn {
  const format = any(FORMATS);
  const stream = Math.random() < 0.6;
  const api = plan === "empty" ? "openai-chat" : any(APIS);
  const searches = plan === "search" || plan === "searcherror" ? 1 + number % 2 : 0;
  const text = `chaos m=${number} p=${plan} s=${searches} t=${tell ? 1 : 0} ${PADDING}`;
  return { format, stream, model: `chaos/${api}`, text, searches };
}

/** What a call is for: a few sessions and values of tags, so that their budgets and sums are drawn on from all sides. */
export function labelsOf(number: number): Record<string, string> {
  return {
    "x-svc-session": `session${number % 40}`,
    "x-svc-tags": `customer=customer${number % 30}, env=${number % 3 === 0 ? "prod" : "test"}`,
  };
}

export async function send(node: Node, { number, key, plan, tell }: Omit<Order, "node">): Promise<Sent> {
  const drawn = draw({ number, plan, tell });
  const { format, stream } = drawn;
  const abort = new AbortController();
  // Half of those who get a slow answer leave in the middle; a few leave any answer.
  const leaves = !tell && (plan === "slow" ? Math.random() < 0.5 : Math.random() < 0.04);
  let left = false;
  const leaving = leaves
    ? setTimeout(() => {
      left = true;
      abort.abort();
    }, Math.random() * 40)
    : undefined;
  const sent: Sent = {
    number,
    node: node.index,
    key: key.name,
    plan,
    stream,
    at: Date.now(),
    until: 0,
    id: null,
    saw: "lost",
    status: null,
  };
  try {
    const response = await fetch(node.url + PATHS[format], {
      method: "POST",
      headers: {
        authorization: `Bearer ${key.secret}`,
        "content-type": "application/json",
        ...labelsOf(number),
      },
      body: JSON.stringify(bodyOf(format, drawn)),
      signal: abort.signal,
    });
    sent.id = response.headers.get("x-request-id");
    sent.status = response.status;
    const answer = await response.text();
    if (response.status !== 200) sent.saw = "told";
    else if (stream) {
      const failed = /"error":\s*\{|"type":"error"/.test(answer);
      sent.saw = failed ? "told" : answer.includes(ENDS[format]) ? "ended" : "lost";
    } else {
      JSON.parse(answer);
      sent.saw = "ended";
    }
  } catch (error) {
    if (left) sent.saw = "left";
    else sent.saw = /refused/.test(String((error as Error).message)) ? "unreachable" : "lost";
  } finally {
    clearTimeout(leaving);
    sent.until = Date.now();
  }
  return sent;
}

export function bodyOf(
  format: Format,
  { model, stream, text, searches }: Omit<Drawn, "format">,
): Record<string, unknown> {
  const search = searches > 0;
  const messages = [{ role: "user", content: text }];
  if (format === "chat_completions") {
    return { model, stream, messages, max_tokens: OUTPUT * 8, ...(search && { web_search_options: {} }) };
  }
  if (format === "messages") {
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    return { model, stream, messages, max_tokens: OUTPUT * 8, ...(search && { tools }) };
  }
  const tools = [{ type: "web_search" }];
  return { model, stream, input: text, max_output_tokens: OUTPUT * 8, ...(search && { tools }) };
}
