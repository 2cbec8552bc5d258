/**
 * Log output: one line for each event, and one for each generation after its record was written, as JSON or
 * as readable text.
 *
 * Lines are collected for some milliseconds and written together: a separate write for each would cost a
 * tenth of a call. The remaining lines are written when the process ends.
 */
import type { GenerationView } from "./accounts/mod.ts";
import type { Level } from "./exchange/log_level.ts";
import { countOf, printable } from "./exchange/printable.ts";
import { atMost, pause } from "./timing/waits.ts";

export type { Level };

/** How long lines are collected, in milliseconds. */
const GATHER_MS = 20;
/** The most bytes that wait to be written. Above that, new lines are dropped and counted. */
const MOST_BYTES = 8 << 20;

/** The most bytes in one write to a stream. */
const PIECE = 1 << 16;
/** A flush ends when the reader takes nothing for this long, in milliseconds, or after so many times of it. */
const END_MS = 2000;
const ENDS = 5;

/** If an event concerns a request, its message contains the id of the request. */
const REQUEST = /\bgen_[0-9a-f]{32}\b/;

export interface LogOptions {
  form: "text" | "json";
  /** Lines of lower levels are dropped. */
  level: Level;
  now(): number;
  /** Number of the worker that writes; absent: there is only one process, or it serves nothing itself. */
  worker?: number;
  /** @param taken called each time the reader has taken a part */
  write(text: string, taken: () => void): Promise<void>;
}

export class Log {
  readonly #options: LogOptions;
  #text = "";
  #left = 0;
  #writing: Promise<void> | null = null;
  /** How many times the reader has taken something. */
  #taken = 0;

  constructor(options: LogOptions) {
    this.#options = options;
  }

  event(message: string, level: Level): void {
    if (this.#leftOut(level)) return;
    if (this.#options.form === "text") return this.#add(`${this.#time()} ${printable(message)}\n`);
    const [request_id] = REQUEST.exec(message) ?? [];
    this.#add(this.#line({ level, event: "message", ...(request_id && { request_id }), message }));
  }

  /**
   * Logs a generation with the fields of its record (`GET /admin/generations`), which contain no text of the
   * conversation.
   * @param trace id of its trace; undefined: it has none
   */
  generation(record: GenerationView, trace?: string): void {
    const level = record.status === "failed" ? "warn" : "info";
    if (this.#leftOut(level)) return;
    if (this.#options.form === "text") return this.#add(`${this.#time()} ${generationText(record, trace)}\n`);
    const ids = { request_id: record.id, ...(trace !== undefined && { trace_id: trace }) };
    this.#add(this.#line({ level, event: "generation", ...ids, generation: record }));
  }

  /** Adds a line that another process has already formed. */
  formed(line: string): void {
    this.#add(`${line}\n`);
  }

  #leftOut(level: Level): boolean {
    return this.#options.level === "warn" && level === "info";
  }

  #time(): string {
    return new Date(this.#options.now()).toISOString();
  }

  /** Resolves when all lines have been written, or when nobody reads them. */
  async flush(): Promise<void> {
    const all = async () => {
      while (this.#writing !== null) await this.#writing;
    };
    for (let waited = 0; waited < ENDS && this.#writing !== null; waited++) {
      const before = this.#taken;
      await atMost(END_MS, all());
      if (this.#taken === before) return;
    }
  }

  #add(line: string): void {
    if (this.#text.length > MOST_BYTES) this.#left++;
    else this.#text += line;
    this.#writing ??= pause(GATHER_MS).then(() => this.#write());
  }

  #line(fields: Record<string, unknown>): string {
    const { worker } = this.#options;
    return `${JSON.stringify({ time: this.#time(), ...(worker !== undefined && { worker }), ...fields })}\n`;
  }

  async #write(): Promise<void> {
    let text = this.#text;
    if (this.#left > 0) {
      const message = `${countOf(this.#left, "line")} of the log ${
        this.#left === 1 ? "was" : "were"
      } left out, because nobody took those before`;
      text += this.#options.form === "text"
        ? `${this.#time()} ${message}\n`
        : this.#line({ level: "warn", event: "message", message });
    }
    this.#text = "";
    this.#left = 0;
    try {
      await this.#options.write(text, () => this.#taken++);
    } catch {
      // The reader of the log has closed it; the gateway continues.
    }
    this.#writing = this.#text === "" && this.#left === 0 ? null : this.#write();
  }
}

/** `generation id=… status=… key=…`: names as in the record, values with spaces in quotes. */
function generationText(g: GenerationView, trace: string | undefined): string {
  const told = {
    id: g.id,
    trace_id: trace,
    status: g.status,
    error_code: g.error_code,
    key: g.key,
    team: g.team,
    format: g.format,
    model: g.model,
    provider: g.provider,
    input_tokens: g.usage?.input_tokens,
    output_tokens: g.usage?.output_tokens,
    searches: g.searches === 0 ? null : g.searches,
    ttft_ms: g.ttft_ms,
    latency_ms: g.latency_ms,
    cost: g.cost,
  };
  const pairs = Object.entries(told).filter(([, value]) => value !== null && value !== undefined);
  return `generation ${pairs.map(([name, value]) => `${name}=${word(String(value))}`).join(" ")}`;
}

function word(text: string): string {
  return /^[^\s"=]+$/.test(text) ? printable(text) : JSON.stringify(printable(text));
}

/** Writes texts to a stream of the process, as a whole. */
export function writeTo(output: { write(bytes: Uint8Array): Promise<number> }): LogOptions["write"] {
  return async (text, taken) => {
    const bytes = new TextEncoder().encode(text);
    for (let done = 0; done < bytes.length;) {
      done += await output.write(bytes.subarray(done, done + PIECE));
      taken();
    }
  };
}
