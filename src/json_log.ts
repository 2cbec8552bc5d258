/**
 * The log as lines of JSON on standard output: one for each event, one for each generation once it has its record.
 *
 * Lines are gathered for some milliseconds and written together: a write of its own for each would cost as much as a tenth of
 * a call. What is gathered when the process ends is written then.
 */
import type { GenerationView } from "./accounts/mod.ts";

export type Level = "info" | "warn";

/** How long lines are gathered. */
const GATHER_MS = 20;
/** Beyond this, where nobody takes the lines, later ones are left out and counted. */
const MOST_BYTES = 8 << 20;

export interface JsonLogOptions {
  now(): number;
  /** Which of several processes writes; absent: there is one, or it serves nothing itself. */
  worker?: number;
  write(text: string): Promise<void>;
}

export class JsonLog {
  readonly #options: JsonLogOptions;
  #text = "";
  #left = 0;
  #writing: Promise<void> | null = null;

  constructor(options: JsonLogOptions) {
    this.#options = options;
  }

  event(message: string, level: Level): void {
    this.#add({ level, event: "message", message });
  }

  /** Fields are those of the record (`GET /admin/generations`); text of the conversation is none of them. */
  generation(record: GenerationView): void {
    const level = record.status === "failed" ? "warn" : "info";
    this.#add({ level, event: "generation", generation: record });
  }

  /** Resolves when all lines have been written. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  #add(fields: Record<string, unknown>): void {
    if (this.#text.length > MOST_BYTES) this.#left++;
    else this.#text += this.#line(fields);
    this.#writing ??= new Promise<void>((resolve) => setTimeout(resolve, GATHER_MS)).then(() =>
      this.#write()
    );
  }

  #line(fields: Record<string, unknown>): string {
    const { now, worker } = this.#options;
    const time = new Date(now()).toISOString();
    return `${JSON.stringify({ time, ...(worker !== undefined && { worker }), ...fields })}\n`;
  }

  async #write(): Promise<void> {
    let text = this.#text;
    if (this.#left > 0) {
      const message = `${this.#left} lines of the log were left out, because nobody took those before`;
      text += this.#line({ level: "warn", event: "message", message });
    }
    this.#text = "";
    this.#left = 0;
    try {
      await this.#options.write(text);
    } catch {
      // Whoever read the log has gone; the gateway goes on.
    }
    this.#writing = this.#text === "" && this.#left === 0 ? null : this.#write();
  }
}
