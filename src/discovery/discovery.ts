/**
 * Which models the providers have: asked on start and then every so often, one question at a time for each provider, and kept on
 * disk, so that a start waits for nobody longer than {@link START_MS}.
 *
 * Processes that share a machine share the file: whoever finds a list in it that is younger than the interval takes it and
 * asks nobody. Other nodes ask for themselves.
 */
import { countOf } from "../exchange/printable.ts";
import { withReason } from "../outgoing/ask.ts";
import type { ConfiguredProvider } from "../providers/config.ts";
import type { Listed } from "../models/discovered/merge.ts";
import { listModels } from "../providers/list_models.ts";
import type { Provider } from "../providers/provider.ts";
import { decodeLists, encodeLists, type SavedList } from "./saved_lists.ts";

/** The longest that a start waits for lists. */
const START_MS = 2000;
/** The longest that one provider may take, pages and all. */
const LIST_MS = 30_000;
/** A list so young was asked for by a process that started together with this one. */
const FRESH_MS = 60_000;
/** How much later than the process before it each process of a machine asks. */
const AFTER_MS = 3000;
/** After a failure it is asked again sooner. */
const RETRY_MS = 60_000;

/** A provider to ask. */
export interface Asked {
  provider: Provider;
  settings: Pick<ConfiguredProvider, "name" | "preset">;
}

export interface DiscoveryOptions {
  /** Where lists are kept; null: nowhere. */
  file: string | null;
  /** False: the file is only read. */
  keeps?: boolean;
  /** Place among the processes of this machine, from 1: those behind the first take what it found. */
  follower: number;
  /** Milliseconds since the epoch. */
  now(): number;
  log(line: string): void;
  /** Some list is another than before. */
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
  /** What was last said of lists that are refused beside others. */
  readonly #partly = new Map<string, string | undefined>();
  readonly #ending = new AbortController();
  #waits = true;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** The list of a provider; null: it was never heard of. */
  list({ provider, settings }: Asked): readonly Listed[] | null {
    const saved = this.#lists.get(settings.name);
    return saved !== undefined && saved.address === provider.baseUrl ? saved.models : null;
  }

  /** Asks these from now on. Resolves when all have answered, or the wait is over. */
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

  /** Only the present configuration's providers are asked again. */
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

  /** Those that no process of this machine has asked lately. */
  #due(asked: readonly Asked[], lately: number): Asked[] {
    const now = this.#options.now();
    return asked.filter(({ settings }) => {
      const at = this.#lists.get(settings.name)?.at ?? 0;
      // A list of a later time was asked for before the clock was set back.
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
      if (partly !== undefined && this.#partly.get(name) !== partly) this.#options.log(`${name}: ${partly}`);
      this.#partly.set(name, partly);
      this.#complaints.delete(name);
      this.#take({ provider: name, address: provider.baseUrl, at: this.#options.now(), models });
      await this.#writeFile();
    } catch (thrown) {
      if (this.#ending.signal.aborted) return;
      this.#complain(name, limit.aborted ? `no answer within ${LIST_MS / 1000} seconds` : reasonOf(thrown));
    }
  }

  /** Once, until it says something else. */
  #complain(name: string, why: string): void {
    if (this.#complaints.get(name) === why) return;
    this.#complaints.set(name, why);
    const kept = this.#lists.get(name);
    const instead = kept ? `; its list of ${new Date(kept.at).toISOString()} stays` : "";
    this.#options.log(`${name}: cannot list its models: ${why}${instead}`);
  }

  #take(list: SavedList): void {
    const before = this.#lists.get(list.provider);
    this.#lists.set(list.provider, list);
    const same = before?.address === list.address &&
      JSON.stringify(before.models) === JSON.stringify(list.models);
    if (!same && !this.#waits) this.#options.changed();
  }

  /** Takes what is newer than what is known here. */
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

  /** Whole or not at all: another process may read it at any time. */
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
        log(`the lists of models cannot be stored in ${file}: ${reasonOf(thrown)}`);
      }
      this.#complaints.set("", file);
    }
  }
}

/** Without the address and whatever else an error of the network may tell. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "no reason is known";
  return thrown.name === "TypeError" ? withReason("no connection", thrown) : thrown.message.slice(0, 200);
}
