/** What watchers of calls are told, as server-sent events, and which of it each of them wants. */
import type { BeginningView, GenerationView } from "./views.ts";

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

/** A call that ended without a record: no provider took it. */
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

/** What has happened. Its text is made once, when somebody wants it. */
export type Said =
  | { event: "start"; view: BeginningView; text: string | null }
  | { event: "end"; view: GenerationView | UnrecordedView; text: string | null };

/** What all watchers that want the same are sent. */
export interface Chunk {
  bytes: Uint8Array;
  /** That happened, told or left out. */
  events: number;
}

const encoder = new TextEncoder();
export const encode = (text: string) => encoder.encode(text);

export function frame(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Null: nothing of it is wanted. */
export function chunkOf(
  events: readonly Said[],
  wants: (said: Said) => boolean,
  { most, dropped }: { most: number; dropped: number },
): Chunk | null {
  let text = "";
  let given = 0;
  let lost = dropped;
  for (const said of events) {
    if (!wants(said)) continue;
    // One fits always.
    if (given > 0 && text.length >= most) {
      lost++;
      continue;
    }
    text += said.text ??= frame(said.event, said.view);
    given++;
  }
  if (given === 0 && lost === 0) return null;
  const before = lost > 0 ? frame("lost", { events: lost }) : "";
  return { bytes: encode(before + text), events: given + lost };
}

/** A start does not yet tell who answers, and how it ends. */
export function matches(
  event: Said["event"],
  view: BeginningView & { provider?: string | null; status?: string },
  filter: LiveFilter,
): boolean {
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
