/** What watchers of calls are told, as server-sent events, and which of it each of them wants. */
import type { BeginningView } from "../administration/views.ts";

/** Which calls a watcher wants; what is absent is any. */
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

/** A call that ended without a record: it was refused, or no provider took it. */
export interface UnrecordedView extends BeginningView {
  status: "failed";
  error_code: string | null;
  latency_ms: number;
  recorded: false;
}

/** Whose calls are told. */
export interface Seen {
  /** Which processes share the store, as far as is known, this one with them. */
  nodes: number;
  /** Of those, whose calls are told as they begin: this one's, and those that have answered. */
  told: number;
}

/** Events that a watcher was not told. */
export interface Lost {
  events: number;
  /** Those of them that were ends of calls. */
  ended: number;
}

type SaidView = BeginningView & { provider?: string | null; status?: string };

/** What has happened. Calls do not wait for its view and its text: they are made once, when somebody wants them. */
export class Said {
  readonly event: "start" | "end";
  /** Of the call. */
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

/** One server-sent event, with its blank line. */
export function frame(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A start does not yet tell who answers, and how it ends. */
export function matches(event: Said["event"], view: SaidView, filter: LiveFilter): boolean {
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
