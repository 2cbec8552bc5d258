/**
 * Gets the lists of models from the providers: at the start and then at a fixed interval, with one request at
 * a time per provider. The lists are saved on disk, so that a start waits at most {@link START_MS} for them.
 *
 * Processes on one machine share the file: a process that finds a list younger than the interval uses it and
 * sends no request. Other nodes send their own requests.
 */
import type { Level } from "../exchange/log_level.ts";
import { countOf } from "../exchange/printable.ts";
import { withReason } from "../outgoing/ask.ts";
import type { ConfiguredProvider } from "../providers/config.ts";
import type { Listed } from "../models/discovered/merge.ts";
import { listModels } from "../providers/list_models.ts";
import type { Provider } from "../providers/provider.ts";
import { decodeLists, encodeLists, type SavedList } from "./saved_lists.ts";

/** The longest time that a start waits for lists. */
const START_MS = 2000;
/** The longest time for the list of one provider, with all its pages. */
const LIST_MS = 30_000;
/** A younger list was requested by a process that started together with this one. */
const FRESH_MS = 60_000;
/** Delay of each process of a machine after the process before it. */
const AFTER_MS = 3000;
/** Interval after a failure. */
const RETRY_MS = 60_000;

/** A provider that is asked for its models. */
export interface Asked {
  provider: Provider;
  settings: Pick<ConfiguredProvider, "name" | "preset">;
}

export interface DiscoveryOptions {
  /** The file of the saved lists; null: none. */
  file: string | null;
  /** False: the file is only read. */
  keeps?: boolean;
  /** Number among the processes of this machine, from 1. Processes after the first use the lists that it saved. */
  follower: number;
  /** Milliseconds since the epoch. */
  now(): number;
  log(line: string, level?: Level): void;
  /** Called when a list has changed. */
  changed(): void;
}

export class Discovery {
  readonly #options: DiscoveryOptions;
  #lists = new Map<string, SavedList>();
  #asked: readonly Asked[] = [];
  #everyMs = 3_600_000;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #running = new Map<string, Promise<void>>();
  readonly #complaints = new Map<string, string>();
  /** The last message about entries that were ignored in a list. */
  readonly #partly = new Map<string, string | undefined>();
  readonly #ending = new AbortController();
  #waits = true;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** The list of a provider; null: unknown. */
  list({ provider, settings }: Asked): readonly Listed[] | null {
    const saved = this.#lists.get(settings.name);
    return saved !== undefined && saved.address === provider.baseUrl ? saved.models : null;
  }

  /** Sets the providers to ask. Resolves when all have answered, or when {@link START_MS} is over. */
  async follow(asked: readonly Asked[], everyMs: number): Promise<void> {
    this.#asked = asked;
    this.#everyMs = everyMs;
    clearTimeout(this.#timer);
    if (asked.length === 0 || this.#ending.signal.aborted) return;
    await this.#readFile();
    this.#waits = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = new Promise<void>((resolve) => timer = setTimeout(resolve, START_MS));
    await Promise.race([this.#askAll(this.#options.follower > 1 ? this.#due(asked, FRESH_MS) : asked), wait]);
    clearTimeout(timer);
    this.#waits = false;
    this.#plan(asked);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#ending.abort();
  }

  /** Only providers of the current configuration are asked again. */
  #plan(asked: readonly Asked[]): void {
    if (this.#asked !== asked || this.#ending.signal.aborted) return;
    clearTimeout(this.#timer);
    const failing = asked.some(({ settings }) => this.#complaints.has(settings.name));
    const pause = failing ? Math.min(this.#everyMs, RETRY_MS) : this.#everyMs;
    this.#timer = setTimeout(async () => {
      await this.#readFile();
      await this.#askAll(this.#due(asked, pause / 2));
      this.#plan(asked);
    }, pause + Math.min(pause, AFTER_MS) * (this.#options.follower - 1));
  }

  /** The providers that no process of this machine has asked recently. */
  #due(asked: readonly Asked[], lately: number): Asked[] {
    const now = this.#options.now();
    return asked.filter(({ settings }) => {
      const at = this.#lists.get(settings.name)?.at ?? 0;
      // A time in the future means that the clock was set back.
      return !(at > now - lately && at <= now);
    });
  }

  async #askAll(asked: readonly Asked[]): Promise<void> {
    await Promise.all(asked.map((one) => this.#ask(one)));
  }

  #ask(one: Asked): Promise<void> {
    const key = `${one.settings.name}\0${one.provider.baseUrl}\0${one.provider.credential.identity}`;
    const running = this.#running.get(key) ?? this.#askOnce(one).finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return running;
  }

  async #askOnce({ provider, settings: { name, preset } }: Asked): Promise<void> {
    const limit = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(LIST_MS)]);
    try {
      const refusals: string[] = [];
      const models = await listModels(provider, {
        preset,
        signal: limit,
        refused: (what) => refusals.push(what),
      });
      if (models === null) return;
      const before = this.#lists.get(name);
      const known = before?.address === provider.baseUrl ? before.models.length : 0;
      if (models.length === 0 && known > 0) {
        throw new Error(`the list is empty, and had ${countOf(known, "model")} before`);
      }
      const partly = refusals.length > 0
        ? `lists only some of its models: ${refusals.join(", ")}`
        : undefined;
      if (partly !== undefined && this.#partly.get(name) !== partly) {
        this.#options.log(`${name}: ${partly}`, "warn");
      }
      this.#partly.set(name, partly);
      this.#complaints.delete(name);
      this.#take({ provider: name, address: provider.baseUrl, at: this.#options.now(), models });
      await this.#writeFile();
    } catch (thrown) {
      if (this.#ending.signal.aborted) return;
      this.#complain(name, limit.aborted ? `no answer within ${LIST_MS / 1000} seconds` : reasonOf(thrown));
    }
  }

  /** Logs a message once, until it changes. */
  #complain(name: string, why: string): void {
    if (this.#complaints.get(name) === why) return;
    this.#complaints.set(name, why);
    const kept = this.#lists.get(name);
    const instead = kept ? `; its list of ${new Date(kept.at).toISOString()} stays` : "";
    this.#options.log(`${name}: cannot list its models: ${why}${instead}`, "warn");
  }

  #take(list: SavedList): void {
    const before = this.#lists.get(list.provider);
    this.#lists.set(list.provider, list);
    const same = before?.address === list.address &&
      JSON.stringify(before.models) === JSON.stringify(list.models);
    if (!same && !this.#waits) this.#options.changed();
  }

  /** Takes over lists from the file that are newer. */
  async #readFile(): Promise<void> {
    const { file } = this.#options;
    if (file === null) return;
    let lists: SavedList[];
    try {
      lists = decodeLists(await Deno.readTextFile(file));
    } catch {
      return;
    }
    for (const list of lists) {
      if (!(list.at <= (this.#lists.get(list.provider)?.at ?? 0))) this.#take(list);
    }
  }

  /** Replaces the file atomically, since another process may read it at any time. */
  async #writeFile(): Promise<void> {
    const { file, log } = this.#options;
    if (file === null || this.#options.keeps === false) return;
    const next = `${file}.${crypto.randomUUID().slice(0, 8)}`;
    try {
      await Deno.writeTextFile(next, encodeLists([...this.#lists.values()]), { mode: 0o600 });
      await Deno.rename(next, file);
    } catch (thrown) {
      await Deno.remove(next).catch(() => {});
      if (!this.#complaints.has("")) {
        log(`the lists of models cannot be stored in ${file}: ${reasonOf(thrown)}`, "warn");
      }
      this.#complaints.set("", file);
    }
  }
}

/** The reason of an error, without the URL and other text that the error of a network may contain. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "no reason is known";
  return thrown.name === "TypeError" ? withReason("no connection", thrown) : thrown.message.slice(0, 200);
}
