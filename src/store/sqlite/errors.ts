/** Classifies errors of SQLite, and retries while the database is locked. */
import { StoreDamaged, StoreUnavailable } from "../engine.ts";

/**
 * Messages of temporary conditions. `exec` reports no result code, so only the text is available. First busy
 * and locked, then disk full, I/O error, no file handle, read-only.
 */
const BUSY = /is locked/;
const TRANSIENT = /is locked|is full|disk I\/O error|unable to open|readonly database|out of memory/;
/** Messages that a connection repeats while its cache holds a page that was read when the file was damaged. */
export const HARMED = /is malformed|is not a database/;
const BUSY_ATTEMPTS = 100;
/** Delay between retries, in milliseconds. Usually the other writer is done within this time. */
const BUSY_DELAY_MS = 20;
const FIRST_BUSY_DELAY_MS = 2;

/** Retries for a while if another process, or another thread of this process, is writing. */
export async function unlessBusy<T>(work: () => T): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || attempt >= BUSY_ATTEMPTS) throw translate(error);
      await new Promise((resolve) =>
        setTimeout(resolve, Math.min(BUSY_DELAY_MS, FIRST_BUSY_DELAY_MS * attempt))
      );
    }
  }
}

export function translating<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translate(error);
  }
}

export async function translatingLater<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translate(error);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && BUSY.test(error.message);
}

export function translate(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (HARMED.test(error.message)) {
    return new StoreDamaged("The database file cannot be read as it is.", { cause: error });
  }
  return TRANSIENT.test(error.message)
    ? new StoreUnavailable("The database file cannot be written now.", { cause: error })
    : error;
}
