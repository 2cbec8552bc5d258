/** Where payloads are: one object for each generation, under its day, so that retention deletes whole days. */

export interface PayloadStorage {
  /** What an operator knows it by. */
  readonly place: string;
  /** Throws when it cannot be written. */
  put(id: string, content: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Null: it is not here. */
  get(id: string): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Deletes some of what is of days before this one, `2026-01-31`. False: none is left. */
  removeBefore(day: string): Promise<boolean>;
  /** Removes what a process left half written. */
  tidy?(): Promise<void>;
}

const ID = /^gen_([\da-f]{12})[\da-f]{20}$/;
/** The last day that a date can hold is far enough. */
const LAST_TIME = 8.64e15;
export const DAY = /^\d{4}-\d\d-\d\d$/;

/** Whether this is the id of a generation, and so a name that can be looked up. */
export function isGenerationId(id: string): boolean {
  const match = ID.exec(id);
  return match !== null && parseInt(match[1], 16) <= LAST_TIME;
}

/** `2026-01-31/3f/gen_…`: by day, and spread over folders of which none becomes too large to list. */
export function nameOf(id: string): string {
  if (!isGenerationId(id)) throw new TypeError("not the id of a generation");
  return `${dayOf(parseInt(id.slice(4, 16), 16))}/${id.slice(-2)}/${id}`;
}

/** The day of a time, in UTC. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
