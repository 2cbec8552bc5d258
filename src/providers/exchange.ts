/**
 * One exchange with a provider: sends the request with its credential, and returns the first bytes of the
 * answer or the failure of an error status. If the credential is rejected, it is renewed and sent once more.
 */
import { Failure } from "../exchange/failure.ts";
import { decodeFailure } from "../formats/failures/decode_failure.ts";
import type { Ticker } from "../timing/ticker.ts";
import { callHeaders, type Route, type Upstream } from "./provider.ts";
import { credentialRefused, ownCredentialRefused } from "./refusals.ts";
import type { Reply } from "../outgoing/reply.ts";
import { readRefusal } from "./reply_body.ts";
import type { Send } from "../outgoing/send.ts";
import { Withheld } from "../outgoing/withheld.ts";
import { cutAnswer, isSpent } from "./spent_output.ts";

export interface Outgoing {
  body: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

/** Measurements of an exchange. */
export interface Heard {
  measured: boolean;
  /** Time at which the head of the answer had arrived. */
  head: number | null;
  /** HTTP status of a refusal. */
  status: number | null;
  /** Text of a refusal that may name fields, see refused_fields.ts; null: there is none. */
  refusal: string | null;
}

export interface Asking {
  outgoing: Outgoing;
  stream: boolean;
  /** The failure for an unknown endpoint. Absent: the provider's own error. */
  missing?: Failure;
  signal?: AbortSignal;
  heard: Heard;
}

/** A successful answer whose first bytes have arrived. */
export interface Exchanged {
  reply: Reply;
  /** Valid until the next bytes are read. */
  first: Uint8Array;
  /** Secrets to be removed from the answer. */
  withheld: Withheld;
}

/** Returns a failure for an error status or an empty answer, and throws if there is no answer. */
export type Exchange = (upstream: Upstream, route: Route, asking: Asking) => Promise<Exchanged | Failure>;

/** Statuses that may concern the credential. */
const REFUSED_CREDENTIAL: ReadonlySet<number> = new Set([401, 403]);
/** Statuses of an endpoint that the provider does not have. */
const UNKNOWN_ADDRESS: ReadonlySet<number> = new Set([404, 405, 501]);

/**
 * What Bedrock says of models that call tools only in answers that are not streamed, such as Llama 4. Such an
 * answer is requested whole: the caller gets it as a stream all the same.
 */
const STREAMS_NO_CALLS = /support tool use in streaming mode/i;

/** Statuses of an invalid request. */
const INVALID: ReadonlySet<number> = new Set([400, 422]);

/** Whether the URL alone says if the answer is streamed. */
function choosesByUrl({ provider, api }: Upstream, { model }: Route): boolean {
  return api.address(provider.baseUrl, model, true) !== api.address(provider.baseUrl, model, false);
}

/** Creates a function that sends one request to a provider and returns its answer or a `Failure`. */
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
      tls: provider.tls,
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
      if (upstream.addsFieldsLater && INVALID.has(reply.status)) heard.refusal = text;
      if (missing !== undefined && UNKNOWN_ADDRESS.has(reply.status)) return missing;
      if (upstream.usesCallerCredential && REFUSED_CREDENTIAL.has(reply.status)) {
        return ownCredentialRefused(reply.status);
      }
      const refusal = { status: reply.status, header: (name: string) => reply.header(name), text };
      if (signed === undefined || !credential.refused?.(refusal, signed)) {
        if (stream && reply.status === 400 && STREAMS_NO_CALLS.test(text) && choosesByUrl(upstream, route)) {
          heard.status = null;
          return exchange(upstream, route, { ...opening, stream: false, outgoing, again });
        }
        if (isSpent(upstream, reply.status, text)) {
          heard.status = null;
          return { ...cutAnswer(route.model), withheld };
        }
        // Filtered again after decoding, since JSON can escape characters in several ways.
        return withheld.failure(decodeFailure(refusal));
      }
      return again
        ? credentialRefused(refusal.status)
        : exchange(upstream, route, { ...opening, outgoing, again: true });
    }
    // Released, since the reply refers to its request for possibly an hour.
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
