/** An HTTP exchange with a provider: request, reply, and failures. */
import { countOf } from "../exchange/printable.ts";
import { BROKE_OFF, Failure, TIMED_OUT, UNREACHABLE } from "../exchange/failure.ts";
import type { ClientTls } from "./client_tls.ts";
import { because, isLocal } from "./why_unreachable.ts";
import { WireError } from "../transport/body_framing.ts";

export interface Exchange {
  /** Absent: POST. */
  method?: string;
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
  /** The answer is an event stream, for which HTTP/2 is used if the server supports it. */
  stream?: boolean;
  firstByteMs: number;
  idleMs: number;
  /** The URL is used only once, so nothing is cached for it. */
  once?: true;
  /** Aborts the exchange. */
  signal?: AbortSignal;
  /** Absent: no certificate is sent, and only the usual authorities are trusted. */
  tls?: ClientTls;
}

/** The status of a request that the server does not accept on this connection. It may be sent again on another one (RFC 9110, 15.5.20). */
export const MISDIRECTED = 421;

/** Takes bytes, and resolves when it can take more; null: it does not take them. Must not throw or reject. */
export type Pass = (bytes: Uint8Array) => Promise<void> | null;

export interface Reply {
  readonly status: number;
  header(name: string): string | null;
  /** The body is complete: the last bytes stay valid. Absent: known only after the next read. */
  readonly ended?: boolean;
  /** The next bytes of the body, null at its end. They are valid until the next call. A promise only where they have to be waited for. */
  /** @param pass receives bytes that arrive after a wait. The reader gets only bytes that it does not take */
  read(pass?: Pass): Uint8Array | null | Promise<Uint8Array | null>;
  /**
   * From now on, until it is called again, a read waits at most this many milliseconds, if the idle timeout is not shorter. Absent: not
   * supported.
   */
  boundIdle?(ms: number): void;
  /** Must be called after the last read; closes the connection if the body is incomplete. */
  close(): void;
}

/** @param begun the body had started */
export function timeout(ms: number, begun = false): Failure {
  return new Failure(
    "provider_timeout",
    `${TIMED_OUT}: nothing came for ${countOf(ms / 1000, "second")}.`,
    { begun },
  );
}

/** @param proxied the request was sent through a proxy */
export function unreachable(cause: unknown, proxied = false): Failure {
  const words = `the provider cannot be reached${proxied ? " through the proxy" : ""}`;
  return new Failure("provider_unavailable", UNREACHABLE, {
    cause,
    operator: because(words, cause),
    local: isLocal(cause),
  });
}

/** @param begun the body had started */
export function broken(cause: unknown, begun = false): Failure {
  return new Failure("provider_unavailable", `${BROKE_OFF}: the connection was lost.`, {
    cause,
    begun,
    operator: cause instanceof WireError
      ? `the provider's answer cannot be read: ${cause.message}`
      : because("the provider's answer broke off", cause),
  });
}
