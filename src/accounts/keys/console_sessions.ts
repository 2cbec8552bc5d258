/** Console sessions for administrators: who signed in, when, and how; and ending them. */
import { Failure } from "../../exchange/failure.ts";
import { type Store, type StoredSession, StoreUnavailable } from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";
import { type EndedSessions, LONGEST_SESSION_MS } from "./ended_sessions.ts";
import type { PageQuery } from "../administration/input.ts";
import type { Trail } from "../administration/trail.ts";
import type { Listed } from "../administration/views.ts";

export interface SessionView {
  id: string;
  name: string;
  role: string;
  team: string | null;
  member: string | null;
  signed_in_with: string;
  began: string;
  /** Expiry, unless it is used again. */
  ends: string;
  /** Whether it is the requesting principal's own session. */
  own: boolean;
}

export interface SessionQuery extends PageQuery {
  /** Only sessions of this person. */
  member?: string;
}

export interface ConsoleSessionsOptions {
  store: Pick<Store, "insertSession" | "renewSession" | "listSessions" | "sessionById">;
  clock: Clock;
  ended: EndedSessions;
}

/** Maximum number of sessions waiting for the store. */
const MOST_UNWRITTEN = 1000;

export class ConsoleSessions {
  readonly #options: ConsoleSessionsOptions;
  /** Sessions not written yet, because the store was unavailable. */
  #unwritten: StoredSession[] = [];

  constructor(options: ConsoleSessionsOptions) {
    this.#options = options;
  }

  /** Records a new session; written to the store when that is available. */
  async began(session: StoredSession): Promise<void> {
    this.#unwritten.push(session);
    if (this.#unwritten.length > MOST_UNWRITTEN) this.#unwritten.shift();
    await this.flush();
  }

  /** Records the use of a session, without waiting for the store. */
  renewed(id: string, ends: number): void {
    void this.#options.store.renewSession(id, Math.round(ends)).catch(() => {});
  }

  /** Writes what is waiting to the store. */
  async flush(): Promise<void> {
    const { store } = this.#options;
    for (const session of [...this.#unwritten]) {
      try {
        await store.insertSession(session);
      } catch (error) {
        if (error instanceof StoreUnavailable) return;
        throw error;
      }
      this.#unwritten = this.#unwritten.filter((one) => one !== session);
    }
  }

  /** Active sessions, newest first. */
  async list(query: SessionQuery, own: string | null): Promise<Listed<SessionView>> {
    const { decodeCursor, encodeCursor, LARGEST_PAGE, pageSize } = await import("../administration/input.ts");
    const { store, clock, ended } = this.#options;
    const limit = pageSize(query.limit, LARGEST_PAGE);
    const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
    await this.flush();
    const now = Math.round(clock.now());
    // One row more than the page, to find out whether there is another page.
    const rows = await store.listSessions({ after, limit: limit + 1, now, member: query.member });
    const page = rows.slice(0, limit);
    const { began: created, id } = page.at(-1) ?? { began: 0, id: "" };
    return {
      data: page.filter((session) => !ended.has(session.id)).map((session) => viewOf(session, own)),
      next_cursor: rows.length > limit ? encodeCursor({ created, id }) : null,
    };
  }

  /** While the store is unavailable: the sessions not written yet. */
  known({ member }: SessionQuery, own: string | null): Listed<SessionView> {
    const found = this.#unwritten.filter((session) =>
      (member === undefined || session.member === member) && !this.#options.ended.has(session.id)
    );
    return { data: found.toReversed().map((one) => viewOf(one, own)), next_cursor: null, store: "away" };
  }

  /** Ends a session; throws `not_found`. It is rejected on this node at once, on others when they learn of it. */
  async end(id: string, trail: Trail): Promise<SessionView> {
    const { store } = this.#options;
    await this.flush();
    const session = await store.sessionById(id);
    if (session === null || session.ends <= this.#options.clock.now()) {
      throw new Failure("not_found", "There is no such session.", { param: "id" });
    }
    await this.#end(session, trail);
    return viewOf(session, trail.principal.credential);
  }

  /** Ends all sessions of a person, and returns them. */
  async endOf(member: string, trail: Trail): Promise<SessionView[]> {
    const { LARGEST_PAGE } = await import("../administration/input.ts");
    const ended: SessionView[] = [];
    let cursor: string | undefined;
    for (;;) {
      const page = await this.list({ member, limit: LARGEST_PAGE, cursor }, trail.principal.credential);
      for (const { id } of page.data) ended.push(await this.end(id, trail));
      if (page.next_cursor === null) return ended;
      cursor = page.next_cursor;
    }
  }

  async #end({ id, began, name, member, role }: StoredSession, trail: Trail): Promise<void> {
    await this.#options.ended.add(id, began + LONGEST_SESSION_MS);
    await trail.note({ action: "session.ended", target: id, fields: { of: name, member, role } });
  }
}

function viewOf(session: StoredSession, own: string | null): SessionView {
  const { id, name, role, team, member, way, began, ends } = session;
  return {
    id,
    name,
    role,
    team,
    member,
    signed_in_with: way,
    began: new Date(began).toISOString(),
    ends: new Date(ends).toISOString(),
    own: id === own,
  };
}
