/** Random requests of all formats. */
import type { Driver } from "./driver.ts";
import { accountOf, atMost, type Call, costOf, type Key } from "./model.ts";
import { billOf, type Order } from "./world.ts";

const FORMATS = ["chat", "messages", "responses"] as const;

export interface Answer {
  status: number;
  text: string;
  id: string;
  joined: boolean;
}

export function prepare(driver: Driver, key: Key, held: boolean) {
  const { secret, until } = driver.pick(key.secrets);
  const searches = driver.chance(0.2);
  const order: Order = {
    nonce: `n${++driver.nonces}`,
    share: driver.pick([0.2, 0.6, 0.95]),
    cached: driver.pick([0, 0.3]),
    written: driver.pick([0, 0.4]),
    output: driver.random(200) + 1,
    rounds: searches ? driver.random(4) : 0,
    searchFails: driver.pick([9, 9, 1]),
    fails: driver.chance(0.08) ? driver.random(3) : -1,
    held,
    breaks: false,
    silent: false,
    ...kindsOf(driver),
  };
  if (driver.chance(0.06)) [order.fails, order.breaks] = [order.rounds, true];
  else order.silent = order.rounds === 0 && order.fails < 0 && driver.chance(0.08);
  const labels = {
    session: driver.chance(0.5) ? `s${driver.random(3)}` : null,
    customer: driver.chance(0.5) ? `c${driver.random(2)}` : null,
  };
  const format = driver.pick(FORMATS);
  // Where a format has no word for it, it is not asked for.
  if (format === "messages" || order.silent) [order.tier, order.serves] = [undefined, undefined];
  const content = `${JSON.stringify(order)}\n${"word ".repeat(20 + driver.random(300))}`;
  const cap = order.output + driver.random(100);
  const stream = driver.chance(0.4);
  const repeatable = !searches && driver.chance(0.15);
  const asked = requestOf(format, { content, cap, searches, stream, model: key.model, tier: order.tier });
  const abort = new AbortController();
  const send = async (secret: string, url = driver.pick(driver.nodes).url): Promise<Answer> => {
    const response = await fetch(url + asked.path, {
      method: "POST",
      signal: abort.signal,
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        "x-svc-tags": `n=${order.nonce}${labels.customer ? `,customer=${labels.customer}` : ""}`,
        ...(labels.session && { "x-svc-session": labels.session }),
        ...(repeatable && { "x-svc-resume": "true", "idempotency-key": order.nonce }),
      },
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

  const { version } = driver;
  const chars = content.length + 200;
  const most = atMost({ chars, cap, searches }, key.model, version);
  const call: Call = {
    nonce: order.nonce,
    key,
    name: key.name,
    account: accountOf(key, driver),
    team: key.team,
    ...labels,
    model: key.model,
    version,
    created: driver.now,
    most: searches ? most * 3n : most,
    cost: null,
    tokens: 0,
    least: 0n,
  };
  if (!searches && order.fails !== 0 && !order.silent) {
    call.least = costOf([billOf(order, content.length, cap)], 0, key.model, version);
  }
  const tokens = chars + cap + 2000;
  return { order, labels, call, most, send, secret, until, tokens, repeatable, abort };
}

/** Tiers of service, and kinds of tokens. */
function kindsOf(driver: Driver) {
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
  { content, cap, searches, stream, model, tier }: {
    content: string;
    cap: number;
    searches: boolean;
    stream: boolean;
    model: string;
    tier: string | undefined;
  },
) {
  const all = { model: `p/${model}`, stream, service_tier: tier };
  const messages = [{ role: "user", content }];
  if (format === "chat") {
    return {
      path: "/v1/chat/completions",
      body: { ...all, messages, max_tokens: cap, ...(searches && { web_search_options: {} }) },
    };
  }
  if (format === "messages") {
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    return { path: "/v1/messages", body: { ...all, messages, max_tokens: cap, ...(searches && { tools }) } };
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
