/** What SQLite says when it cannot do something now, and what is done about it. */
import { StoreDamaged, StoreUnavailable } from "../engine.ts";

/**
 * Messages that say "not now": `exec` reports no result code, so the text of the library is what there is. Busy and locked
 * first, then no room, I/O, no file handle, read-only.
 */
const BUSY = /is locked/;
const TRANSIENT = /is locked|is full|disk I\/O error|unable to open|readonly database|out of memory/;
/** What a connection says for as long as it keeps a page in memory that was read while the file was harmed. */
export const HARMED = /is malformed|is not a database/;
const BUSY_ATTEMPTS = 100;
/** As a rule the other one is through in some milliseconds. */
const BUSY_DELAY_MS = 20;
const FIRST_BUSY_DELAY_MS = 2;

/** Tries again for a while where another process, or a thread of this one, is writing. */
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
