/**
 * Observers of the starts and ends of calls in this process: the live view, and the metrics of the last
 * minutes.
 */
import type { Generation } from "../../store/mod.ts";
import type { Beginning } from "../ledger.ts";

/** Called while a call is processed: implementations must be fast and must not throw. */
export interface CallWatch {
  began(beginning: Beginning): void;
  /** Ended with a record. */
  ended(generation: Generation): void;
  /** Ended without a record. */
  released(beginning: Beginning, errorCode: string | null): void;
}
