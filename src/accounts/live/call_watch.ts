/** What sees the calls of this process begin and end: the live view, and the sums of the last minutes. */
import type { Generation } from "../../store/mod.ts";
import type { Beginning } from "../ledger.ts";

/** Called on the path of a call: nothing here takes long, and nothing throws. */
export interface CallWatch {
  began(beginning: Beginning): void;
  /** It has its record. */
  ended(generation: Generation): void;
  /** It ended without one. */
  released(beginning: Beginning, errorCode: string | null): void;
}
