/**
 * Reaching a provider: routes in order, retries before the first byte, never after it.
 *
 * What is retried are failures that say nothing about the request: no connection, 408, 429, 5xx. A provider that refuses
 * the request, or refuses this gateway's key, is not asked again.
 */
import { Failure } from "../exchange/failure.ts";
import { decodeFailure } from "../formats/provider_failure.ts";
import { demoReply } from "./demo.ts";
import { address, type Provider, type Route, standingHeaders } from "./provider.ts";
import { type Reply, send } from "./send.ts";
import type { Ticker } from "./ticker.ts";

export interface Outgoing {
  body: string;
  headers?: Record<string, string>;
}

/** A provider's good answer, begun. */
export interface Opened {
  provider: Provider;
  route: Route;
  reply: Reply;
}

export interface Providers {
  get(name: string): Provider | undefined;
  /**
   * Opens an answer on the first route that gives one. `prepare` makes the request for a route's provider.
   * Throws the last route's Failure.
   */
  open(
    routes: readonly Route[],
    prepare: (provider: Provider, route: Route) => Outgoing,
    options: { stream: boolean },
  ): Promise<Opened>;
}

/** Longest pause before another try, in milliseconds; a provider that asks for more gets no other try. */
const LONGEST_PAUSE_MS = 2000;

const TRANSIENT: ReadonlySet<string> = new Set([
  "provider_timeout",
  "provider_rate_limited",
  "provider_unavailable",
  "provider_model_down",
]);

export function openProviders(list: readonly Provider[], ticker: Ticker): Providers {
  const byName = new Map(list.map((p) => [p.name, { provider: p, headers: standingHeaders(p) }]));

  async function once(
    route: Route,
    prepare: (provider: Provider, route: Route) => Outgoing,
    stream: boolean,
  ): Promise<Opened> {
    const found = byName.get(route.provider);
    if (!found) throw new Failure("provider_unavailable", "The provider of this model is not configured.");
    const { provider, headers } = found;
    const outgoing = prepare(provider, route);
    if (provider.api === "demo") return { provider, route, reply: await demoReply(outgoing.body, stream) };
    const reply = await send({
      url: address(provider, route.model, stream),
      headers: outgoing.headers ? { ...headers, ...outgoing.headers } : headers,
      body: outgoing.body,
      firstByteMs: provider.firstByteMs,
      idleMs: provider.idleMs,
    }, ticker);
    if (reply.status >= 200 && reply.status < 300) return { provider, route, reply };
    const text = await reply.text();
    throw decodeFailure({ status: reply.status, header: (name) => reply.header(name), text });
  }

  return {
    get: (name) => byName.get(name)?.provider,
    async open(routes, prepare, { stream }) {
      let last: Failure | undefined;
      for (const route of routes) {
        const retries = byName.get(route.provider)?.provider.retries ?? 0;
        for (let attempt = 0; attempt <= retries; attempt++) {
          try {
            return await once(route, prepare, stream);
          } catch (thrown) {
            last = Failure.from(thrown);
            if (!TRANSIENT.has(last.code)) throw last;
            const pause = pauseMs(last, attempt);
            if (last.operator?.includes("refuses") || attempt === retries || pause === null) break;
            await new Promise((resolve) => setTimeout(resolve, pause));
          }
        }
      }
      throw last ?? new Failure("provider_unavailable", "This model has no route.");
    },
  };
}

/** Milliseconds before the next try: what the provider asked for, else doubling with full jitter; null: too long. */
function pauseMs(failure: Failure, attempt: number): number | null {
  if (failure.code === "provider_timeout") return null;
  if (failure.retryAfter !== undefined) {
    return failure.retryAfter * 1000 <= LONGEST_PAUSE_MS ? failure.retryAfter * 1000 : null;
  }
  return Math.random() * Math.min(LONGEST_PAUSE_MS, 100 * 2 ** attempt);
}
