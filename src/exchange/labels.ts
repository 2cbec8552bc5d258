/** Labels of a call for records, usage and budgets: tags and session. */

export interface Labels {
  /** Null: none. */
  tags: Readonly<Record<string, string>> | null;
  /** Session id, which groups related calls; null: none. */
  session: string | null;
}

export const MOST_TAGS = 8;
export const TAG_CHARS = 64;
export const SESSION_CHARS = 128;

export const TAG_NAME = /^[A-Za-z0-9_.:\/-]{1,64}$/;
export const TAG_NAME_WORDS = "a name of a tag, 1 to 64 letters, digits and `_.:/-`";
