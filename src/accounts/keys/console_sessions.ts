/** Sessions of the console as administrators see and end them: who has signed in, when, and with what. */
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
  /** When it ends, unless it is used. */
  ends: string;
  /** Whether it is that of who asks. */
  own: boolean;
}

export interface SessionQuery extends PageQuery {
  /** Only of this person. */
  member?: string;
}

export interface ConsoleSessionsOptions {
  store: Pick<Store, "insertSession" | "renewSession" | "listSessions" | "sessionById">;
  clock: Clock;
  ended: EndedSessions;
}

/** Sessions that wait for the store, at most. */
const MOST_UNTOLD = 1000;

export class ConsoleSessions {
  readonly #options: ConsoleSessionsOptions;
  /** Those that the store has not been told of, because it was away. */
  #untold: StoredSession[] = [];

  constructor(options: ConsoleSessionsOptions) {
    this.#options = options;
  }

  /** Somebody has signed in: the store is told as soon as it is there. */
  async began(session: StoredSession): Promise<void> {
    this.#untold.push(session);
    if (this.#untold.length > MOST_UNTOLD) this.#untold.shift();
    await this.tell();
  }

  /** Somebody uses a session. Nobody waits for the store to hear of it. */
  renewed(id: string, ends: number): void {
    void this.#options.store.renewSession(id, Math.round(ends)).catch(() => {});
  }

  /** Tells the store what it has not been told. */
  async tell(): Promise<void> {
    const { store } = this.#options;
    for (const session of [...this.#untold]) {
      try {
        await store.insertSession(session);
      } catch (error) {
        if (error instanceof StoreUnavailable) return;
        throw error;
      }
      this.#untold = this.#untold.filter((one) => one !== session);
    }
  }

  /** Those that last, newest first. */
  async list(query: SessionQuery, own: string | null): Promise<Listed<SessionView>> {
    const { decodeCursor, encodeCursor, LARGEST_PAGE, pageSize } = await import("../administration/input.ts");
    const { store, clock, ended } = this.#options;
    const limit = pageSize(query.limit, LARGEST_PAGE);
    const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
    await this.tell();
    const now = Math.round(clock.now());
    // One more than the page tells whether there is another.
    const rows = await store.listSessions({ after, limit: limit + 1, now, member: query.member });
    const page = rows.slice(0, limit);
    const { began: created, id } = page.at(-1) ?? { began: 0, id: "" };
    return {
      data: page.filter((session) => !ended.has(session.id)).map((session) => viewOf(session, own)),
      next_cursor: rows.length > limit ? encodeCursor({ created, id }) : null,
    };
  }

  /** While the store is away: those that it has not been told of. */
  known({ member }: SessionQuery, own: string | null): Listed<SessionView> {
    const found = this.#untold.filter((session) =>
      (member === undefined || session.member === member) && !this.#options.ended.has(session.id)
    );
    return { data: found.toReversed().map((one) => viewOf(one, own)), next_cursor: null, store: "away" };
  }

  /** Ends one; throws `not_found`. It is refused on this node at once, on the others when they hear of it. */
  async end(id: string, trail: Trail): Promise<SessionView> {
    const { store } = this.#options;
    await this.tell();
    const session = await store.sessionById(id);
    if (session === null || session.ends <= this.#options.clock.now()) {
      throw new Failure("not_found", "There is no such session.", { param: "id" });
    }
    await this.#end(session, trail);
    return viewOf(session, trail.principal.credential);
  }

  /** Ends all of a person, and answers which those were. */
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
