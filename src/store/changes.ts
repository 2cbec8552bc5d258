/** Changes since a revision. */
import { type AccountChange, accountsSince } from "./accounts.ts";
import { type ClosedBreaker, closedSince } from "./closed_breakers.ts";
import type { Query } from "./engine.ts";
import { keysSince, type KeyWithSecrets } from "./keys.ts";
import { type PeopleChanges, peopleSince } from "./people.ts";
import { currentRevision } from "./revision.ts";
import { watchesSince } from "./running_calls.ts";
import { type StoredTeam, teamsSince } from "./teams.ts";

export interface Changes extends PeopleChanges {
  /**
   * The revision that the reader has after applying these changes. Lower than before: the store has lost its
   * last changes (a standby had not received them), and the reader must read everything again.
   */
  rev: number;
  keys: KeyWithSecrets[];
  accounts: AccountChange[];
  /** Changed teams, including removed ones. */
  teams: StoredTeam[];
  closedBreakers: ClosedBreaker[];
  /** Nodes at which somebody is watching calls. */
  watches: string[];
}

/** All changes after a revision; 0: everything. */
export async function changesSince(query: Query, rev: number): Promise<Changes> {
  // The revision is read first: changes made in between are reported again next time, and never missed.
  const now = await currentRevision(query);
  if (now <= rev) {
    const people = { tokens: [], endedSessions: [] };
    return { rev: now, keys: [], accounts: [], teams: [], closedBreakers: [], watches: [], ...people };
  }
  return {
    rev: now,
    keys: await keysSince(query, rev),
    accounts: await accountsSince(query, rev),
    teams: await teamsSince(query, rev),
    closedBreakers: await closedSince(query, rev),
    watches: await watchesSince(query, rev),
    ...await peopleSince(query, rev),
  };
}
