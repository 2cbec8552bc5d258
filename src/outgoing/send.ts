/** Which client makes an HTTP exchange with a provider. */
import { type Address, addressOf } from "./address.ts";
import type { ClientTls } from "./client_tls.ts";
import { lazy } from "../exchange/lazy.ts";
import { ForeignProtocol } from "./dial.ts";
import { sendByFetch } from "./fetch_reply.ts";
import { sendHttp1 } from "./http1.ts";
import { proxied, type ProxySettings } from "./proxies.ts";
import { type Exchange, type Reply, unreachable } from "./reply.ts";
import type { Ticker } from "../timing/ticker.ts";
import type { Tunnel } from "./tunnel.ts";

export interface SendOptions {
  /** Absent: there are no proxies. */
  proxies?: ProxySettings;
  /** Certificates, in PEM, that are trusted besides those of the process. */
  caCerts?: string[];
}

/** Needed only for streams from servers behind TLS. */
const http2Client = lazy(() => import("./http2/send.ts"));

/** Needed only for providers with TLS settings. */
const clientTls = lazy(() => import("./client_tls.ts"));

export type Send = (exchange: Exchange, ticker: Ticker) => Promise<Reply>;

/**
 * Uses the own clients, and `fetch` on hosts without sockets and for what they do not support: a proxy that is not an HTTP proxy or is
 * called over TLS, URLs without TLS through any proxy, and certificates of this gateway. Streams from servers behind TLS use HTTP/2 if the server supports it; all other
 * requests use HTTP/1.1.
 */
export function openSend({ proxies, caCerts }: SendOptions = {}): Send {
  const hasSockets = typeof Deno.connect === "function" && typeof Deno.startTls === "function";
  const client = caCerts && Deno.createHttpClient({ caCerts });
  let proxyClient: Deno.HttpClient | undefined;
  return (exchange, ticker) => {
    const { url } = exchange;
    const byProxy = proxies !== undefined && proxied(url, proxies);
    if (exchange.tls !== undefined) return sendWithTls(exchange, exchange.tls, ticker, byProxy);
    const tunnel = byProxy ? tunnelTo(url, proxies) : undefined;
    if (!hasSockets || (byProxy && tunnel === undefined)) {
      // Over HTTP/2, `fetch` keeps the body of a request that was answered before it was read until the connection closes (Deno 2.9.6).
      if (byProxy) proxyClient ??= Deno.createHttpClient({ caCerts, http2: false });
      return sendByFetch(exchange, ticker, { client: byProxy ? proxyClient : client, proxied: byProxy });
    }
    const address = addressOf(url, exchange.once, tunnel);
    return address.secure ? sendSecure(address, exchange, ticker) : sendHttp1(exchange, ticker);
  };

  async function sendWithTls(
    exchange: Exchange,
    tls: ClientTls,
    ticker: Ticker,
    byProxy: boolean,
  ): Promise<Reply> {
    const { clientWith } = await clientTls.open();
    let client: Deno.HttpClient;
    try {
      client = clientWith(tls, { caCerts, direct: proxies !== undefined && !byProxy });
    } catch (cause) {
      // The message of the error may contain a part of a file.
      const reason = cause instanceof Deno.errors.NotFound ? "cannot be read" : "cannot be used";
      throw unreachable(new Error(`its own TLS files ${reason}`));
    }
    return await sendByFetch(exchange, ticker, { client, proxied: byProxy });
  }

  async function sendSecure(address: Address, exchange: Exchange, ticker: Ticker): Promise<Reply> {
    const { http2 } = address;
    try {
      if (exchange.stream && !http2.alone) {
        const reply = await (await http2Client.open()).sendHttp2(address, exchange, ticker, { caCerts });
        if (reply !== null) return reply;
      }
      if (!http2.alone) return await sendHttp1(exchange, ticker, caCerts, address.tunnel);
    } catch (thrown) {
      if (!(thrown instanceof ForeignProtocol)) throw thrown;
      http2.alone = true;
    }
    const { sendHttp2 } = await http2Client.open();
    try {
      const reply = await sendHttp2(address, exchange, ticker, { caCerts, alone: true });
      if (reply !== null) return reply;
    } catch (thrown) {
      if (!(thrown instanceof ForeignProtocol)) throw thrown;
    }
    http2.alone = false;
    throw unreachable(new Error("The server speaks neither HTTP/1.1 nor HTTP/2."));
  }
}

function tunnelTo(url: string, { tunnel }: ProxySettings): Tunnel | undefined {
  return /^https:/i.test(url) ? tunnel ?? undefined : undefined;
}
