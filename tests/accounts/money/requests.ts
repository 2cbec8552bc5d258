/** Random requests of all formats. */
import type { Driver } from "./driver.ts";
import { accountOf, atMost, budgetsOf, type Call, costOf, type Key } from "./model.ts";
import { ROUTES } from "./config.ts";
import { askOverSocket } from "./socket.ts";
import { billOf, MOST_OUTPUT, type Order } from "./world.ts";

const FORMATS = ["chat", "messages", "responses"] as const;
const FORMAT_NAMES = { chat: "chat-completions", messages: "messages", responses: "responses" };

export interface Answer {
  status: number;
  text: string;
  id: string;
  joined: boolean;
}

export function prepare(driver: Driver, key: Key, held: boolean) {
  const { secret, until } = driver.pick(key.secrets);
  const searches = key.model !== "callers" && driver.chance(0.2);
  const order: Order = {
    nonce: `n${++driver.nonces}`,
    share: driver.pick([0.2, 0.6, 0.95]),
    cached: driver.pick([0, 0.3]),
    written: driver.pick([0, 0.4]),
    hour: 0,
    n: 1,
    own: driver.pick([0, 0, 0, 0, 2, 25]),
    elsewhere: ROUTES[key.model].length > 1 && driver.chance(0.25)
      ? driver.pick(["refused", "started"])
      : null,
    output: driver.random(200) + 1,
    rounds: searches ? driver.random(4) : 0,
    searchFails: driver.pick([9, 9, 1]),
    fails: driver.chance(0.08) ? driver.random(3) : -1,
    held,
    slow: false,
    served: null,
    breaks: false,
    silent: false,
    form: driver.pick(["plain", "plain", "quoted", "late"]),
    ...kindsOf(driver, key.model),
  };
  if (driver.chance(0.06)) [order.fails, order.breaks] = [order.rounds, true];
  else order.silent = order.rounds === 0 && order.fails < 0 && !key.hedge && driver.chance(0.08);
  const labels = {
    session: driver.chance(0.5) ? `s${driver.random(3)}/%:=",` : null,
    customer: driver.chance(0.5) ? `c${driver.random(2)} =:%"` : null,
  };
  const format = driver.pick(FORMATS);
  // Where a format has no word for it, it is not asked for.
  if (format === "messages" || order.silent) [order.tier, order.serves] = [undefined, undefined];
  // Whoever does not mark it pays no more than for five minutes.
  if (format === "messages" && key.model === "claude") order.hour = driver.pick([0, 0.5, 1]);
  const severalAnswers = format === "chat" && !searches && order.fails < 0 && !order.silent && !held;
  if (severalAnswers && driver.chance(0.2)) order.n = 2;
  // Others of the providers answer with a model of which the request has a list.
  const list = format === "chat" && key.model === "big" && order.n === 1 && !searches && order.fails < 0 &&
    !order.silent && driver.chance(0.3);
  if (list) [order.served, order.own] = ["small", 0];
  order.slow = key.hedge && !held && !order.silent && order.elsewhere === null && order.fails < 0 &&
    driver.chance(0.3);
  const content = `${JSON.stringify(order)}\n${"word ".repeat(20 + driver.random(300))}`;
  const uncapped = format !== "messages" && driver.chance(0.2);
  const cap = uncapped ? MOST_OUTPUT : order.output + driver.random(100);
  const stream = driver.chance(0.4);
  const socket = format === "responses" && driver.chance(0.3);
  const repeatable = !searches && !socket && !order.slow && !driver.outage.isOn && driver.chance(0.15);
  const asked = requestOf(format, {
    content,
    cap: uncapped ? undefined : cap,
    searches,
    stream,
    model: key.model,
    tier: order.tier,
    n: order.n,
    hour: order.hour > 0,
    list: list ? ["small"] : undefined,
  });
  const isCallers = key.model === "callers";
  const abort = new AbortController();
  const send = async (
    secret: string,
    url = driver.pick(driver.nodes).url,
    path = asked.path,
  ): Promise<Answer> => {
    const headers = {
      authorization: `Bearer ${isCallers ? "the-caller-s-own" : secret}`,
      ...(isCallers && { "x-svc-key": secret }),
      "x-svc-tags": `n=${order.nonce}${labels.customer ? `,customer=${labels.customer}` : ""}`,
      ...(labels.session && { "x-svc-session": labels.session }),
      ...(repeatable && { "x-svc-resume": "true", "idempotency-key": order.nonce }),
    };
    if (socket && path === asked.path) {
      const got = await askOverSocket(url, headers, { body: asked.body, signal: abort.signal });
      if (got !== null) return got;
    }
    const response = await fetch(url + path, {
      method: "POST",
      signal: abort.signal,
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(asked.body),
    });
    const text = await response.text();
    return {
      status: response.status,
      text,
      id: response.headers.get("x-request-id") ?? "",
      joined: response.headers.get("x-svc-joined") === "true",
    };
  };

  /** What would come of it. */
  const estimate = (url: string) => send(secret, url, `/v1/estimate?format=${FORMAT_NAMES[format]}`);

  const priced = driver.priced();
  const chars = content.length + 200;
  const most = isCallers
    ? 0n
    : (key.hedge ? 2n : 1n) * atMost({ chars, cap, searches, answers: order.n }, key.model, priced);
  const call: Call = {
    nonce: order.nonce,
    key,
    name: key.name,
    account: accountOf(key, driver),
    team: key.team,
    ...labels,
    model: key.model,
    priced,
    tier: order.tier,
    isLimited: budgetsOf(key, labels, driver).length > 0,
    provider: order.elsewhere !== null ? "q" : ROUTES[key.model][0],
    isCallers,
    isHedged: key.hedge && order.n === 1 && !searches,
    created: driver.now,
    most: searches ? most * 3n : most,
    cost: null,
    tokens: 0,
    least: 0n,
  };
  if (!searches && order.fails !== 0 && !order.silent && !isCallers) {
    call.least = costOf([billOf(order, content.length, { cap, n: 1 })], 0, key.model, priced);
  }
  const tokens = (chars + cap + 2000) * order.n;
  return { estimate, order, labels, call, most, send, secret, until, tokens, repeatable, abort, stream };
}

/** Tiers of service, and kinds of tokens. */
function kindsOf(driver: Driver, model: string) {
  if (model === "claude") {
    const serves = driver.pick([undefined, "standard", "priority"]);
    return { tier: undefined, serves, audio: 0, reasoning: driver.pick([0, 0.3]), spoken: 0 };
  }
  const tier = driver.pick([undefined, undefined, "flex", "priority"]);
  return {
    tier,
    // One that asks for none may have what its account has.
    serves: driver.pick([undefined, "default", tier ?? "priority"]),
    audio: driver.pick([0, 0, 0.2]),
    reasoning: driver.pick([0, 0.3]),
    spoken: driver.pick([0, 0, 0.2]),
  };
}

function requestOf(
  format: (typeof FORMATS)[number],
  { content, cap, searches, stream, model, tier, n, hour, list }: {
    content: string;
    cap: number | undefined;
    searches: boolean;
    stream: boolean;
    model: string;
    tier: string | undefined;
    n: number;
    /** Marks the prompt for a cache that keeps it for an hour. */
    hour: boolean;
    /** Models that may answer too. */
    list: string[] | undefined;
  },
): { path: string; body: Record<string, unknown> } {
  const all = { model: `p/${model}`, stream, service_tier: tier, models: list };
  const messages = [{ role: "user", content }];
  if (format === "chat") {
    return {
      path: "/v1/chat/completions",
      body: {
        ...all,
        messages,
        max_tokens: cap,
        ...(n > 1 && { n }),
        ...(searches && { web_search_options: {} }),
      },
    };
  }
  if (format === "messages") {
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    const marked = [{ type: "text", text: content, cache_control: { type: "ephemeral", ttl: "1h" } }];
    return {
      path: "/v1/messages",
      body: {
        ...all,
        messages: hour ? [{ role: "user", content: marked }] : messages,
        max_tokens: cap,
        ...(searches && { tools }),
      },
    };
  }
  return {
    path: "/v1/responses",
    body: {
      ...all,
      input: content,
      max_output_tokens: cap,
      ...(searches && { tools: [{ type: "web_search" }] }),
    },
  };
}
