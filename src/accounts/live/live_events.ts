/** Server-sent events about calls, and the filters of watchers. */
import type { BeginningView } from "../administration/views.ts";

/** Which calls a watcher wants; an absent field matches any. */
export interface LiveFilter {
  key?: string;
  account?: string;
  team?: string;
  session?: string;
  model?: string;
  provider?: string;
  status?: string;
  format?: string;
  /** `name=value` */
  tag?: string;
}

/** A call that ended without a record: it was refused, or no provider accepted it. */
export interface UnrecordedView extends BeginningView {
  status: "failed";
  error_code: string | null;
  latency_ms: number;
  recorded: false;
}

/** The processes whose calls are visible. */
export interface Seen {
  /** Number of processes that share the store, as far as known, including this one. */
  nodes: number;
  /** How many of them publish running calls, including this one. */
  told: number;
}

/** Numbers of events that were dropped for a watcher. */
export interface Lost {
  events: number;
  /** How many of these were ends of calls. */
  ended: number;
}

type SaidView = BeginningView & { provider?: string | null; status?: string };

/** An event. Its view and text are created on demand, at most once, so that calls do not wait for them. */
export class CallEvent {
  readonly event: "start" | "end";
  /** Id of the call. */
  readonly id: string;
  #make: (() => SaidView) | null;
  #view: SaidView | null = null;
  #text: string | null = null;

  constructor(event: "start" | "end", id: string, make: () => SaidView) {
    this.event = event;
    this.id = id;
    this.#make = make;
  }

  get view(): SaidView {
    if (this.#view === null) {
      this.#view = this.#make!();
      this.#make = null;
    }
    return this.#view;
  }

  get text(): string {
    return this.#text ??= frame(this.event, this.view);
  }
}

const encoder = new TextEncoder();
export const encode = (text: string) => encoder.encode(text);

/** A server-sent event, including the empty line. */
export function frame(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A start does not have a provider and a status yet. */
export function matches(event: CallEvent["event"], view: SaidView, filter: LiveFilter): boolean {
  if (event === "start" && (filter.status !== undefined || filter.provider !== undefined)) return false;
  const is = (wanted: string | undefined, ...found: (string | null | undefined)[]) =>
    wanted === undefined || found.includes(wanted);
  const at = filter.tag?.indexOf("=") ?? -1;
  return is(filter.key, view.key, view.key_id) && is(filter.account, view.account) &&
    is(filter.team, view.team) && is(filter.session, view.session) &&
    is(filter.model, view.model, view.requested_model) && is(filter.provider, view.provider) &&
    is(filter.status, view.status) && is(filter.format, view.format) &&
    (filter.tag === undefined ||
      (at < 0
        ? Object.hasOwn(view.tags, filter.tag)
        : view.tags[filter.tag.slice(0, at)] === filter.tag.slice(at + 1)));
}
