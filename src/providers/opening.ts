/** What is asked of a model's routes, and the answer that one of them gives. */
import type { Failure } from "../exchange/failure.ts";
import type { ProviderFormat } from "../formats/format.ts";
import type { Reply } from "../outgoing/reply.ts";
import type { ProviderApi } from "./apis/mod.ts";
import type { AttemptWatch, FollowedAttempt } from "./attempt.ts";
import type { Outgoing } from "./exchange.ts";
import type { Door, Provider } from "./provider.ts";
import type { RouteOrder } from "./routes.ts";
import type { Withheld } from "./withheld.ts";

/** A provider's good answer, of which the first bytes are there. It holds one of the provider's places until closed. */
export interface Opened {
  readonly provider: Provider;
  readonly api: ProviderApi;
  /** Of the API. */
  readonly format: ProviderFormat;
  /** The provider's own name of it. */
  readonly model: string;
  readonly reply: Reply;
  /** Valid until the next bytes are read. It keeps a buffer of the connection in memory: whoever needs it no more puts an empty array here. */
  first: Uint8Array;
  /** What nothing of the answer may tell. */
  readonly withheld: Withheld;
  /** Null: telemetry is off. */
  readonly followed: FollowedAttempt | null;
  /** The answer turned into this failure. */
  failed(failure: Failure): void;
  /** Must be called once no more is read. */
  close(): void;
}

export interface Opening<T> {
  /** Makes the request for a provider's API. @param model the provider's own name of it */
  prepare(
    door: Pick<Door, "provider" | "api">,
    format: ProviderFormat,
    model: string,
  ): Outgoing | Promise<Outgoing>;
  /** Looks at the beginning of an answer. What it throws is a failure of the try, as a refusing status would be. */
  begin(opened: Opened): T | Promise<T>;
  stream: boolean;
  /** Who asks: callers take turns where places are short. */
  key: string;
  /** The callers' name of the model, for messages. */
  model: string;
  /** Calls of one conversation go to one of the routes that share the load; null: it belongs to none. */
  conversation: string | null;
  /** Absent: as the routes are written. */
  order?: RouteOrder;
  /** The door that the call goes through, where it is not the usual one. */
  through?(door: Door): Door;
  /** What the call fails with where the provider does not know its address. Absent: as the provider says. */
  missing?: Failure;
  /** Ends it before its time: nothing more is tried. */
  signal?: AbortSignal;
  /** Whether nobody waits for it, and nothing of it has begun: then it takes no place that it had to wait for. Absent: no. */
  gone?(): boolean;
  /** Whether the request that it belongs to has ended otherwise: nothing more is tried. Absent: no. */
  over?(): boolean;
  /**
   * It belongs to a request that has been asked for before: to refuse it would throw away what that has cost. It waits for a
   * place before all others, and for as long as the provider has for its first byte. Absent: no.
   */
  further?: boolean;
  /** Told of its attempts. */
  watch?: AttemptWatch;
}

/** A good answer, and what its caller has made of the beginning. */
export interface OpenAnswer<T> {
  opened: Opened;
  begun: T;
}
