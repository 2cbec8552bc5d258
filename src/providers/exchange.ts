/**
 * One exchange with a provider: the request with what its credential adds, up to the first bytes of the answer or what a
 * refusing status says. A refused signature is made anew once.
 */
import { Failure } from "../exchange/failure.ts";
import { decodeFailure } from "../formats/decode_failure.ts";
import type { Ticker } from "../timing/ticker.ts";
import { callHeaders, type Route, type Upstream } from "./provider.ts";
import { credentialRefused, ownCredentialRefused } from "./refusals.ts";
import type { Reply } from "../outgoing/reply.ts";
import { readRefusal } from "./reply_body.ts";
import type { Send } from "../outgoing/send.ts";
import { Withheld } from "./withheld.ts";

export interface Outgoing {
  body: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

/** What an exchange has come to, besides what it gives back. */
export interface Heard {
  measured: boolean;
  /** When the head of the answer was there. */
  head: number | null;
  /** Of a refusal. */
  status: number | null;
}

export interface Asking {
  outgoing: Outgoing;
  stream: boolean;
  /** What it fails with where the provider does not know its address. Absent: as the provider says. */
  missing?: Failure;
  signal?: AbortSignal;
  heard: Heard;
}

/** A good answer, of which the first bytes are there. */
export interface Exchanged {
  reply: Reply;
  /** Valid until the next bytes are read. */
  first: Uint8Array;
  /** What nothing of the answer may tell. */
  withheld: Withheld;
}

/** Gives the failure that a refusal or an empty answer is, and throws when there is no answer. */
export type Exchange = (upstream: Upstream, route: Route, asking: Asking) => Promise<Exchanged | Failure>;

/** Statuses that are about who asks. */
const REFUSED_CREDENTIAL: ReadonlySet<number> = new Set([401, 403]);
/** Statuses of an address that a provider does not have. */
const UNKNOWN_ADDRESS: ReadonlySet<number> = new Set([404, 405, 501]);

/**
 * A function that sends one request to a provider, and answers with the first parts or with the `Failure` that it met.
 */
export function openExchanges(send: Send, ticker: Ticker): Exchange {
  return exchange;

  async function exchange(
    upstream: Upstream,
    route: Route,
    { outgoing, again = false, ...opening }: Asking & { again?: boolean },
  ): Promise<Exchanged | Failure> {
    const { provider, api } = upstream;
    let { withheld } = upstream;
    const { credential } = provider;
    const { stream, signal, missing, heard } = opening;
    const request = {
      url: api.address(provider.baseUrl, route.model, stream),
      headers: callHeaders(upstream, outgoing.headers),
      body: outgoing.body,
      stream: stream && provider.http2 !== false,
      firstByteMs: provider.firstByteMs,
      idleMs: provider.idleMs,
      signal,
    };
    const signed = credential.sign && await credential.sign({ method: "POST", ...request });
    if (signed) {
      request.headers = { ...request.headers, ...signed };
      withheld = new Withheld({ ...upstream.headers, ...signed });
    }
    const { body } = request;
    const reply =
      await (api.reply === undefined
        ? send(request, ticker)
        : api.reply(typeof body === "string" ? body : new TextDecoder().decode(body), stream));
    if (heard.measured) heard.head = ticker.now();
    if (reply.status < 200 || reply.status >= 300) {
      heard.status = reply.status;
      const text = withheld.refusal(await readRefusal(reply, ticker));
      if (missing !== undefined && UNKNOWN_ADDRESS.has(reply.status)) return missing;
      if (upstream.passing && REFUSED_CREDENTIAL.has(reply.status)) return ownCredentialRefused(reply.status);
      const refusal = { status: reply.status, header: (name: string) => reply.header(name), text };
      if (signed === undefined || !credential.refused?.(refusal, signed)) {
        // Once more, since JSON writes each character in more than one way.
        return withheld.failure(decodeFailure(refusal));
      }
      return again
        ? credentialRefused(refusal.status)
        : exchange(upstream, route, { ...opening, outgoing, again: true });
    }
    // The reply keeps its request, possibly for an hour, and the prompt in it is no longer needed.
    request.body = outgoing.body = "";
    try {
      const reading = reply.read();
      const first = reading instanceof Promise ? await reading : reading;
      if (first !== null) return { reply, first, withheld };
      reply.close();
      return new Failure("provider_unavailable", "The provider's answer is empty.");
    } catch (thrown) {
      reply.close();
      throw thrown;
    }
  }
}
