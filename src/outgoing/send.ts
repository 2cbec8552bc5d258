/** Which client makes an HTTP exchange with a provider. */
import { sendByFetch } from "./fetch_reply.ts";
import { sendHttp1 } from "./http1.ts";
import { addressOf } from "./http1_connection.ts";
import { proxied, type ProxySettings } from "./proxies.ts";
import type { Exchange, Reply } from "./reply.ts";
import type { Ticker } from "../timing/ticker.ts";

export interface SendOptions {
  /** Absent: there are no proxies. */
  proxies?: ProxySettings;
  /** Certificates, in PEM, that are trusted besides those of the process. */
  caCerts?: string[];
}

export type Send = (exchange: Exchange, ticker: Ticker) => Promise<Reply>;

/**
 * The own client where it can; `fetch` where a proxy stands between, for servers that speak HTTP/2 alone, and on hosts
 * without sockets.
 */
export function openSend({ proxies, caCerts }: SendOptions = {}): Send {
  const hasSockets = typeof Deno.connect === "function" && typeof Deno.startTls === "function";
  const client = caCerts && Deno.createHttpClient({ caCerts });
  const byFetch: Send = (exchange, ticker) => sendByFetch(exchange, ticker, { client });
  return (exchange, ticker) => {
    const { url } = exchange;
    if (proxies !== undefined && proxied(url, proxies)) {
      return sendByFetch(exchange, ticker, { client, proxied: true });
    }
    const direct = hasSockets && !addressOf(url, exchange.once).pool.foreign;
    return direct ? sendHttp1(exchange, ticker, caCerts, byFetch) : byFetch(exchange, ticker);
  };
}
