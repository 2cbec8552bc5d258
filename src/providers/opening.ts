/** A call to the routes of a model, and the answer of the route that succeeds. */
import type { Failure } from "../exchange/failure.ts";
import type { ProviderFormat } from "../formats/format.ts";
import type { Reply } from "../outgoing/reply.ts";
import type { ProviderApi } from "./apis/mod.ts";
import type { AttemptWatch, FollowedAttempt } from "./attempt.ts";
import type { Outgoing } from "./exchange.ts";
import type { Provider, Route, Upstream } from "./provider.ts";
import type { Fit } from "./refused_fields.ts";
import type { RouteOrder } from "./routes.ts";
import type { Withheld } from "../outgoing/withheld.ts";

/** A successful answer of a provider whose first bytes have arrived. It occupies one of the provider's concurrent calls until closed. */
export interface Opened {
  readonly route: Route;
  readonly provider: Provider;
  readonly api: ProviderApi;
  /** The format of the API. */
  readonly format: ProviderFormat;
  /** The provider's name of the model. */
  readonly model: string;
  readonly reply: Reply;
  /** Valid until the next bytes are read. It keeps a buffer of the connection in memory, so set it to an empty array after use. */
  first: Uint8Array;
  /** Secrets that must be removed from the answer. */
  readonly withheld: Withheld;
  /** Null: telemetry is off. */
  readonly followed: FollowedAttempt | null;
  /** Reports that the answer failed after its beginning. */
  failed(failure: Failure): void;
  /** Must be called when no more is read. */
  close(): void;
}

export interface Opening<T> {
  /**
   * Builds the request for a provider's API.
   * @param model the provider's name of the model
   * @param fit leaves out the fields that the model refuses. Absent: none are known
   */
  prepare(
    upstream: Pick<Upstream, "provider" | "api">,
    format: ProviderFormat,
    model: string,
    fit?: Fit,
  ): Outgoing | Promise<Outgoing>;
  /**
   * Leaves the proofs of earlier reasoning out of the request from now on, after a provider could not read
   * them. False: there are none. Absent: the request has no history.
   */
  withoutReasoning?(): boolean;
  /** Processes the beginning of an answer. If it throws, the attempt has failed, as with an error status. */
  begin(opened: Opened): T | Promise<T>;
  stream: boolean;
  /** The caller's key: keys take turns in the queue of a provider. */
  key: string;
  /** The catalog id of the model, for error messages. */
  model: string;
  /** Tokens that the model accepts according to the catalog. Null or absent: unknown. */
  contextLength?: number | null;
  /** The least number of tokens that the prompt has. Absent: unknown. */
  leastTokens?: number;
  /** Identifies the conversation for sticky routing; null: none. */
  conversation: string | null;
  /** Absent: the order of the configuration. */
  order?: RouteOrder;
  /** This route is tried first, since it answered the previous call of the same request. Absent: there was none. */
  previous?: Route;
  /** Replaces the upstream of a route, for example to use the caller's credential. */
  adaptUpstream?(upstream: Upstream): Upstream;
  /** The failure if the provider does not have this endpoint (404, 405, 501). Absent: the provider's own error. */
  missing?: Failure;
  /** Whether the call may try a route: not if another call of the same request does. Absent: yes. */
  claims?(route: Route): boolean;
  /** Cancels the call; nothing more is tried. */
  signal?: AbortSignal;
  /** Whether the caller has disconnected and no attempt has begun: then the call gives up its wait for capacity. Absent: no. */
  abandoned?(): boolean;
  /** Whether the request has ended for another reason: nothing more is tried. Absent: no. */
  over?(): boolean;
  /**
   * A further call of a request for which calls have been made already, whose cost would be lost if it were refused. It goes to the front
   * of the queue, and its wait is limited only by the timeout for the first byte. Absent: no.
   */
  further?: boolean;
  /** How often the route was asked before; it counts as retries. Absent: never. */
  tried?: number;
  /** Is notified of the attempts. */
  watch?: AttemptWatch;
}

/** A successful answer, and the result of `begin`. */
export interface OpenAnswer<T> {
  opened: Opened;
  begun: T;
}
