/**
 * Webhooks: delivers budget events from the outbox in the store, signed. Failed deliveries are retried with exponential backoff until the
 * receiver accepts the event or it expires.
 *
 * An event may arrive twice, with the same id, if a node dies between the receiver's answer and the update of the store. A receiver that
 * hangs or fails delays only its own events. The operator chooses the URL, so it may be in the internal network. Redirects are not
 * followed, since the receiver chooses their target.
 */
import { sha256Hex } from "../exchange/hashes.ts";
import {
  type Delivery,
  type DeliveryStore,
  StoreUnavailable,
  type WarningData,
  type WebhookRef,
} from "../store/mod.ts";
import { deliveryError } from "../outgoing/ask.ts";
import { postEvent } from "../outgoing/post_event.ts";
import type { Clock } from "../timing/clock.ts";
import { PatientTimer } from "../timing/within.ts";
import type { ConfigWebhook } from "./config.ts";
import { formatAmount } from "./budgets/money.ts";

export type DeliveryOutcome = "delivered" | "failed" | "dropped";

/** A receiver of events other than budget warnings. */
export interface EventReceiver {
  id: string;
  /** Its path in the configuration, for log messages. */
  name: string;
  /** Null: delivered; otherwise the error. */
  send(delivery: Delivery, signal: AbortSignal): Promise<unknown>;
}

export interface WebhooksOptions {
  store: DeliveryStore;
  node: string;
  clock: Clock;
  configured(): readonly ConfigWebhook[];
  /** Other receivers with events in the same outbox. */
  others?(): readonly EventReceiver[];
  /** False: the store is unavailable. */
  ready(): boolean;
  keyName(id: string): string | null;
  ended(outcome: DeliveryOutcome): void;
  warn(message: string): void;
}

/** Interval at which the store is polled for events of other nodes, and for retries, in milliseconds. */
const POLL_MS = 5000;
/** Concurrent deliveries per webhook. */
const PLACES = 4;
const ANSWER_MS = 10_000;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 3_600_000;
const GIVE_UP_MS = 3 * 86_400_000;

interface Receiver {
  ref: WebhookRef;
  name: string;
  send: EventReceiver["send"];
}

export class Webhooks {
  readonly #options: WebhooksOptions;
  /** Cached for the configuration that they were created from. */
  #receivers: { of: readonly ConfigWebhook[]; all: readonly Receiver[] } = { of: [], all: [] };
  /** Number of current deliveries by webhook. */
  readonly #busy = new Map<string, number>();
  /** Ids of deliveries under way, and of those that are over although the store does not know it: it was away. */
  readonly #underWay = new Set<string>();
  readonly #over = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  readonly #answerMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Infinity;
  #started = false;
  /** Webhooks with a logged failure, which is logged once until they work again. */
  readonly #complained = new Set<string>();

  constructor(options: WebhooksOptions, { answerMs = ANSWER_MS } = {}) {
    this.#options = options;
    this.#answerMs = answerMs;
  }

  /** Webhooks and the events that they subscribe to. */
  refs(): readonly WebhookRef[] {
    return this.#webhooks().map(({ ref }) => ref);
  }

  start(): void {
    this.#started = true;
    this.#schedule(0);
  }

  /** There is something to deliver. */
  wake(): void {
    if (this.#started) this.#schedule(0);
  }

  /** Cancels current deliveries: another node, or the next start, retries them. */
  async stop(): Promise<void> {
    this.#started = false;
    clearTimeout(this.#timer);
    this.#ending.abort();
    await Promise.all(this.#running);
  }

  /** Delivers what is due. */
  async round(): Promise<void> {
    if (!this.#options.ready()) return;
    await Promise.all([...this.#over].map((id) => this.#remove(id)));
    await Promise.all(this.#all().map((receiver) => this.#serve(receiver)));
  }

  #all(): readonly Receiver[] {
    const others = this.#options.others?.() ?? [];
    if (others.length === 0) return this.#webhooks();
    return [
      ...this.#webhooks(),
      ...others.map(({ id, name, send }) => ({ ref: { id, events: [] }, name, send })),
    ];
  }

  #webhooks(): readonly Receiver[] {
    const of = this.#options.configured();
    if (this.#receivers.of !== of) {
      const all = of.map((webhook, i): Receiver => ({
        ref: { id: idOf(webhook.url), events: webhook.events },
        name: `webhooks[${i}]`,
        send: (delivery, signal) => this.#post(webhook, delivery, signal),
      }));
      this.#receivers = { of, all };
    }
    return this.#receivers.all;
  }

  #schedule(ms: number): void {
    const at = performance.now() + ms;
    if (at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timerAt = Infinity;
      const round = this.round().catch((error) => this.#complain("", error));
      this.#track(round);
      if (this.#started) this.#schedule(POLL_MS);
    }, ms);
  }

  #track(work: Promise<void>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  async #serve(receiver: Receiver): Promise<void> {
    const { store, node, clock } = this.#options;
    const { id } = receiver.ref;
    const busy = this.#busy.get(id) ?? 0;
    if (busy >= PLACES || this.#ending.signal.aborted) return;
    // Reserved before the store answers, so that concurrent rounds do not claim too many.
    this.#busy.set(id, PLACES);
    let claimed: Delivery[] = [];
    try {
      claimed = await store.claimDeliveries({
        webhook: id,
        node,
        now: clock.now(),
        most: PLACES - busy,
        busy: [...this.#underWay, ...this.#over],
      });
    } finally {
      this.#busy.set(id, (this.#busy.get(id) ?? PLACES) - (PLACES - busy) + claimed.length);
    }
    for (const delivery of claimed) {
      this.#underWay.add(delivery.id);
      this.#track(
        this.#deliver(receiver, delivery).catch((error) => this.#complain(id, error)).finally(() => {
          this.#underWay.delete(delivery.id);
          this.#busy.set(id, this.#busy.get(id)! - 1);
          // The next delivery can be claimed.
          if (claimed.length === PLACES - busy) this.wake();
        }),
      );
    }
  }

  async #deliver({ ref, send }: Receiver, delivery: Delivery): Promise<void> {
    const { store, clock, ended } = this.#options;
    const late = new AbortController();
    // An answer that came while the process was suspended counts: the receiver would be told twice.
    const timer = new PatientTimer(
      this.#answerMs,
      () => late.abort(new DOMException("There was no answer in time.", "TimeoutError")),
    );
    const trouble = await send(delivery, AbortSignal.any([this.#ending.signal, late.signal]))
      .finally(() => timer.clear());
    if (trouble === null) {
      this.#complained.delete(ref.id);
      ended("delivered");
      return await this.#remove(delivery.id);
    }
    if (this.#ending.signal.aborted) return;
    this.#complain(ref.id, trouble);
    if (clock.now() - delivery.created > GIVE_UP_MS) {
      ended("dropped");
      return await this.#remove(delivery.id);
    }
    ended("failed");
    const wait = Math.min(FIRST_RETRY_MS * 2 ** Math.min(delivery.attempts, 20), LAST_RETRY_MS);
    // Random jitter, so that events of the same failure are not all retried at the same time.
    const spread = Math.round(wait * (0.75 + Math.random() / 2));
    await store.postponeDelivery(delivery.id, clock.now() + spread);
    if (this.#started && spread < POLL_MS) this.#schedule(spread);
  }

  /** Until the store knows it, the delivery is not told again. */
  async #remove(id: string): Promise<void> {
    this.#over.add(id);
    await this.#options.store.removeDelivery(id);
    this.#over.delete(id);
  }

  /** Null: the receiver has accepted it. */
  #post({ url, secret }: ConfigWebhook, delivery: Delivery, signal: AbortSignal): Promise<unknown> {
    const { id, data: { event } } = delivery;
    const body = bodyOf(delivery, this.#options.keyName);
    return postEvent(url, { body, delivery: { id, event }, secret, signal });
  }

  /** The URL is left out, since it may contain a secret. */
  #complain(id: string, trouble: unknown): void {
    if (trouble instanceof StoreUnavailable || this.#complained.has(id)) return;
    this.#complained.add(id);
    const name = this.#all().find(({ ref }) => ref.id === id)?.name ?? "a receiver";
    this.#options.warn(
      `${name} could not be told of an event, which is tried again: ${deliveryError(trouble)}`,
    );
  }
}

/** An id for the URL, independent of the secret. */
function idOf(url: string): string {
  return sha256Hex(url).slice(0, 16);
}

function bodyOf({ id, created, data: warning }: Delivery, keyName: (id: string) => string | null): string {
  // Alerts are sent by other receivers.
  const data = warning as WarningData;
  const { event, scope, owner, starts, ends, share } = data;
  const limit = BigInt(data.limit);
  const spent = BigInt(data.spent);
  return JSON.stringify({
    id,
    type: event,
    created: new Date(created).toISOString(),
    data: {
      scope,
      ...subjectOf(scope, owner, keyName),
      percent: share,
      limit: formatAmount(limit),
      spent: formatAmount(spent),
      remaining: formatAmount(limit > spent ? limit - spent : 0n),
      period: {
        starts: starts === 0 ? null : new Date(starts).toISOString(),
        ends: ends === null ? null : new Date(ends).toISOString(),
      },
    },
  });
}

function subjectOf(scope: string, owner: string, keyName: (id: string) => string | null) {
  if (scope === "account") return { account: owner };
  if (scope === "team") return { team: owner };
  const [keyId, first, second] = owner.split("\n");
  const key = { key: keyName(keyId), key_id: keyId };
  if (scope === "session") return { ...key, session: first };
  if (scope === "tag") return { ...key, tag: first, value: second };
  return key;
}
