/**
 * Webhooks: delivers budget events from the outbox in the store, signed. Failed deliveries are retried with exponential backoff until the
 * receiver accepts the event or it expires.
 *
 * An event may arrive twice, with the same id, if a node dies between the receiver's answer and the update of the store. A receiver that
 * hangs or fails delays only its own events. The operator chooses the URL, so it may be in the internal network. Redirects are not
 * followed, since the receiver chooses their target.
 */
import { hmacSha256, sha256Hex } from "../exchange/hashes.ts";
import {
  type Delivery,
  type DeliveryStore,
  StoreUnavailable,
  type WarningData,
  type WebhookRef,
} from "../store/mod.ts";
import { ask, whyNotTaken } from "../outgoing/ask.ts";
import type { Clock } from "../timing/clock.ts";
import type { ConfigWebhook } from "./config.ts";
import { formatAmount } from "./budgets/money.ts";

export type DeliveryOutcome = "delivered" | "failed" | "dropped";

/** One that is told of other events than a budget's. */
export interface EventReceiver {
  id: string;
  /** Where it stands in the configuration. */
  name: string;
  /** Null: it has taken it; else why not. */
  send(delivery: Delivery, signal: AbortSignal): Promise<unknown>;
}

export interface WebhooksOptions {
  store: DeliveryStore;
  node: string;
  clock: Clock;
  configured(): readonly ConfigWebhook[];
  /** Others whose events are in the same outbox. */
  others?(): readonly EventReceiver[];
  /** False: the store cannot be asked now. */
  ready(): boolean;
  keyName(id: string): string | null;
  ended(outcome: DeliveryOutcome): void;
  warn(message: string): void;
}

/** How often the store is asked for events of other nodes and for those that are tried again. */
const POLL_MS = 5000;
/** Under way at once for one webhook. */
const PLACES = 4;
const ANSWER_MS = 10_000;
/** Of an answer, of which only the status counts. */
const MOST_UNREAD_BYTES = 16 << 10;
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
  /** Of the configuration that they were made from. */
  #receivers: { of: readonly ConfigWebhook[]; all: readonly Receiver[] } = { of: [], all: [] };
  /** Deliveries under way, by webhook. */
  readonly #busy = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  readonly #answerMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Infinity;
  #started = false;
  /** Logged once for each webhook until it works again. */
  readonly #complained = new Set<string>();

  constructor(options: WebhooksOptions, { answerMs = ANSWER_MS } = {}) {
    this.#options = options;
    this.#answerMs = answerMs;
  }

  /** Who is told of what. */
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

  /** Ends what is under way: another node, or the next start, tries it again. */
  async stop(): Promise<void> {
    this.#started = false;
    clearTimeout(this.#timer);
    this.#ending.abort();
    await Promise.all(this.#running);
  }

  /** Delivers what is due now. */
  async round(): Promise<void> {
    if (!this.#options.ready()) return;
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
    // Taken before the store answers, so that two rounds do not take more than there are.
    this.#busy.set(id, PLACES);
    let claimed: Delivery[] = [];
    try {
      claimed = await store.claimDeliveries({ webhook: id, node, now: clock.now(), most: PLACES - busy });
    } finally {
      this.#busy.set(id, (this.#busy.get(id) ?? PLACES) - (PLACES - busy) + claimed.length);
    }
    for (const delivery of claimed) {
      this.#track(
        this.#deliver(receiver, delivery).catch((error) => this.#complain(id, error)).finally(() => {
          this.#busy.set(id, this.#busy.get(id)! - 1);
          // Its place is free for the next.
          if (claimed.length === PLACES - busy) this.wake();
        }),
      );
    }
  }

  async #deliver({ ref, send }: Receiver, delivery: Delivery): Promise<void> {
    const { store, clock, ended } = this.#options;
    const trouble = await send(
      delivery,
      AbortSignal.any([this.#ending.signal, AbortSignal.timeout(this.#answerMs)]),
    );
    if (trouble === null) {
      this.#complained.delete(ref.id);
      ended("delivered");
      return await store.removeDelivery(delivery.id);
    }
    if (this.#ending.signal.aborted) return;
    this.#complain(ref.id, trouble);
    if (clock.now() - delivery.created > GIVE_UP_MS) {
      ended("dropped");
      return await store.removeDelivery(delivery.id);
    }
    ended("failed");
    const wait = Math.min(FIRST_RETRY_MS * 2 ** Math.min(delivery.attempts, 20), LAST_RETRY_MS);
    // Spread out, so that events of one failure do not come back together.
    const spread = Math.round(wait * (0.75 + Math.random() / 2));
    await store.postponeDelivery(delivery.id, clock.now() + spread);
    if (this.#started && spread < POLL_MS) this.#schedule(spread);
  }

  /** Null: the receiver has taken it. */
  async #post({ url, secret }: ConfigWebhook, delivery: Delivery, signal: AbortSignal): Promise<unknown> {
    const body = bodyOf(delivery, this.#options.keyName);
    try {
      const answer = await ask(url, {
        method: "POST",
        most: MOST_UNREAD_BYTES,
        cuts: true,
        headers: {
          "content-type": "application/json",
          "user-agent": "sluice",
          "x-svc-event": delivery.data.event,
          "x-svc-delivery": delivery.id,
          "x-svc-signature": `sha256=${hmacSha256(secret, body).toHex()}`,
        },
        body,
        signal,
      });
      return answer.ok ? null : `it answered with status ${answer.status}`;
    } catch (error) {
      return error;
    }
  }

  /** Without the address, which may hold a secret. */
  #complain(id: string, trouble: unknown): void {
    if (trouble instanceof StoreUnavailable || this.#complained.has(id)) return;
    this.#complained.add(id);
    const name = this.#all().find(({ ref }) => ref.id === id)?.name ?? "a receiver";
    this.#options.warn(
      `${name} could not be told of an event, which is tried again: ${whyNotTaken(trouble)}`,
    );
  }
}

/** The same for the same address, whatever its secret is. */
function idOf(url: string): string {
  return sha256Hex(url).slice(0, 16);
}

function bodyOf({ id, created, data: told }: Delivery, keyName: (id: string) => string | null): string {
  // Those of alerts have receivers of their own.
  const data = told as WarningData;
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
