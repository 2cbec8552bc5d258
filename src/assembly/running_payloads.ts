/** The payload log of the configuration in force, from one reload to the next. */
import type { PayloadsConfig } from "../payloads/config.ts";
import type { OpenPayloads, PayloadLog } from "../payloads/mod.ts";

export class RunningPayloads implements PayloadLog {
  readonly #open: (section: PayloadsConfig) => Promise<OpenPayloads>;
  #inForce: OpenPayloads | null = null;
  /** Opened for a configuration that is not in force yet; null: none. */
  #next: OpenPayloads | null = null;
  /** Logs of earlier configurations that are still writing. */
  readonly #closing = new Set<Promise<void>>();

  constructor(open: (section: PayloadsConfig) => Promise<OpenPayloads>) {
    this.#open = open;
  }

  /** A call that began before a reload adds its payload to the log of the new configuration. */
  add(...payload: Parameters<PayloadLog["add"]>): void {
    this.#inForce?.add(...payload);
  }

  /** The log for a configuration: the one in force if the section has not changed. */
  async prepare(section: PayloadsConfig | null): Promise<OpenPayloads | null> {
    if (section === null) return null;
    if (JSON.stringify(this.#inForce?.config) === JSON.stringify(section)) return this.#inForce;
    return this.#next = await this.#open(section);
  }

  /** Puts a prepared log into force. The log before it writes what it has, and is closed. */
  become(log: OpenPayloads | null): void {
    this.#next = null;
    const before = this.#inForce;
    this.#inForce = log;
    if (log !== before) this.#close(before);
  }

  /** The configuration of the prepared log does not come into force. */
  discard(): void {
    this.#close(this.#next);
    this.#next = null;
  }

  /** Resolves when all logs have written what they have, or their time is over. */
  async close(): Promise<void> {
    this.#close(this.#inForce);
    await Promise.all(this.#closing);
  }

  #close(log: OpenPayloads | null): void {
    if (log === null) return;
    const closing = log.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
