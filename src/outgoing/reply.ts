/** An HTTP exchange with a provider: what is sent, what comes back, and the ways in which it fails. */
import { countOf } from "../exchange/printable.ts";
import { BROKE_OFF, Failure, TIMED_OUT, UNREACHABLE } from "../exchange/failure.ts";
import { because } from "./why_unreachable.ts";
import { WireError } from "../transport/body_framing.ts";

export interface Exchange {
  /** Absent: POST. */
  method?: string;
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
  /** The answer is a stream of events, which comes over HTTP/2 where the server speaks it. */
  stream?: boolean;
  firstByteMs: number;
  idleMs: number;
  /** The address is of this exchange alone, and nothing of it is kept. */
  once?: true;
  /** Ends it before its time. */
  signal?: AbortSignal;
}

/** Takes bytes, and resolves when it can take more; null: it leaves them. It neither throws nor rejects. */
export type Pass = (bytes: Uint8Array) => Promise<void> | null;

export interface Reply {
  readonly status: number;
  header(name: string): string | null;
  /** The body has come whole: what was read last stays valid, and nothing follows it. Absent: nobody knows before the next read. */
  readonly ended?: boolean;
  /** The next bytes of the body, null at its end. They are valid until the next call. A promise only where they have to be waited for. */
  /** @param pass is shown what has to be waited for. Who waits is not told of what it takes, only of what it leaves. */
  read(pass?: Pass): Uint8Array | null | Promise<Uint8Array | null>;
  /** Must be called once no more is read; gives the connection up when the body has not ended. */
  close(): void;
}

/** @param begun the body had begun */
export function timeout(ms: number, begun = false): Failure {
  return new Failure(
    "provider_timeout",
    `${TIMED_OUT}: nothing came for ${countOf(ms / 1000, "second")}.`,
    { begun },
  );
}

/** @param proxied it was asked through a proxy */
export function unreachable(cause: unknown, proxied = false): Failure {
  const words = `the provider cannot be reached${proxied ? " through the proxy" : ""}`;
  return new Failure("provider_unavailable", UNREACHABLE, {
    cause,
    operator: because(words, cause),
  });
}

/** @param begun the body had begun */
export function broken(cause: unknown, begun = false): Failure {
  return new Failure("provider_unavailable", `${BROKE_OFF}: the connection was lost.`, {
    cause,
    begun,
    operator: cause instanceof WireError
      ? `the provider's answer cannot be read: ${cause.message}`
      : because("the provider's answer broke off", cause),
  });
}
