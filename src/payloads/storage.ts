/** Where payloads are stored: one object per generation, grouped by day, so that retention deletes whole days. */

export interface PayloadStorage {
  /** The name of the place for operators. */
  readonly place: string;
  /** Throws if it cannot be written. */
  put(id: string, content: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Null: it is not here. */
  get(id: string): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Deletes some of the payloads of days before `day`, for example `2026-01-31`. False: none are left. */
  removeBefore(day: string): Promise<boolean>;
  /** Deletes incomplete files of earlier processes. */
  tidy?(): Promise<void>;
}

const ID = /^gen_([\da-f]{12})[\da-f]{20}$/;
/** The largest time that a JavaScript date supports. */
const LAST_TIME = 8.64e15;
export const DAY = /^\d{4}-\d\d-\d\d$/;

/** Whether a text is the id of a generation, and therefore safe as a name. */
export function isGenerationId(id: string): boolean {
  const match = ID.exec(id);
  return match !== null && parseInt(match[1], 16) <= LAST_TIME;
}

/** `2026-01-31/3f/gen_…`: by day, and distributed over subfolders so that none becomes too large to list. */
export function nameOf(id: string): string {
  if (!isGenerationId(id)) throw new TypeError("not the id of a generation");
  return `${dayOf(parseInt(id.slice(4, 16), 16))}/${id.slice(-2)}/${id}`;
}

/** The day of a time, in UTC. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
