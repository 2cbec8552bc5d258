/**
 * Records the ends of calls for the console. The modules that aggregate records, and that stream them to
 * watchers, are loaded on first use.
 */
import type { Generation } from "../../store/mod.ts";
import type { CallWatch } from "./call_watch.ts";
import type { Beginning } from "../ledger.ts";
import type { Live, LiveOptions } from "./live.ts";
import type { LiveSharing, LiveSharingOptions } from "./live_sharing.ts";
import type { Timeline, TimelineOptions, Unrecorded } from "./timeline.ts";

/** Calls aggregated at a time, which takes some tenths of a millisecond. */
const BATCH = 128;
/** Number of recently ended calls kept for new watchers, and for when the store is unavailable. */
const RECENT = 200;
const MINUTE = 60_000;
/** Delay after the end of a minute, so that all of its calls are included, in milliseconds. */
const LATER_MS = 500;

export interface CallLogOptions
  extends
    Omit<TimelineOptions, "store">,
    Pick<LiveOptions, "running" | "others" | "memberOf">,
    Omit<LiveSharingOptions, "store"> {
  store: TimelineOptions["store"] & LiveSharingOptions["store"];
}

export class CallLog implements CallWatch {
  readonly #options: CallLogOptions;
  #live: Live | null = null;
  #sharing: LiveSharing | null = null;
  #timeline: Timeline | null = null;
  #recent: Generation[] = [];
  #ended: Generation[] = [];
  #failed: Unrecorded[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(options: CallLogOptions) {
    this.#options = options;
  }

  began(beginning: Beginning): void {
    this.#live?.began(beginning);
  }

  ended(generation: Generation): void {
    this.#recent.push(generation);
    if (this.#recent.length > 2 * RECENT) this.#recent = this.#recent.slice(-RECENT);
    this.#ended.push(generation);
    this.#live?.ended(generation);
    this.#added(this.#ended.length);
  }

  released(beginning: Beginning, errorCode: string | null): void {
    // A call that was refused before any attempt is not a failure.
    if (errorCode !== null) this.#failed.push(beginning);
    this.#live?.released(beginning, errorCode);
    if (this.#sharing?.active) void this.#share(beginning, errorCode);
    this.#added(this.#failed.length);
  }

  /** The live view for watchers. */
  async live(): Promise<Live> {
    const { Live } = await import("./live.ts");
    return this.#live ??= new Live({ ...this.#options, recent: () => this.recent() });
  }

  /** Recently ended calls, oldest first. */
  recent(): readonly Generation[] {
    return this.#recent.slice(-RECENT);
  }

  /** Called when somebody watches in another process. */
  async watchedElsewhere(): Promise<void> {
    const { LiveSharing } = await import("./live_sharing.ts");
    if (this.#closed) return;
    this.#sharing ??= new LiveSharing(this.#options);
    this.#sharing.watched();
  }

  /** The metrics, including everything up to now. */
  async timeline(): Promise<Timeline> {
    const { Timeline } = await import("./timeline.ts");
    this.#timeline ??= new Timeline(this.#options);
    const [ended, failed] = [this.#ended, this.#failed];
    this.#ended = [];
    this.#failed = [];
    this.#timeline.add(ended, failed);
    return this.#timeline;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#live?.end();
    await this.#sharing?.stop().catch(() => {});
    if (this.#timeline !== null || this.#ended.length > 0 || this.#failed.length > 0) {
      await (await this.timeline()).write();
    }
  }

  async #share(beginning: Beginning, errorCode: string | null): Promise<void> {
    const { unrecordedView } = await import("./live.ts");
    this.#sharing?.unrecorded(unrecordedView(beginning, errorCode, this.#options.now()));
  }

  #added(waiting: number): void {
    if (waiting >= BATCH) void this.timeline();
    if (this.#timer !== undefined || this.#closed) return;
    // Runs at the end of each minute with calls.
    this.#timer = setTimeout(async () => {
      this.#timer = undefined;
      const more = await (await this.timeline()).write();
      if (more) this.#added(0);
    }, MINUTE - this.#options.now() % MINUTE + LATER_MS);
    Deno.unrefTimer(this.#timer);
  }
}
