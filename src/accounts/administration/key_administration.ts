/** Creates and changes keys. Keys of the configuration file can only be changed there. */
import { countOf } from "../../exchange/printable.ts";
import { Failure } from "../../exchange/failure.ts";
import { shownInput } from "../../schema/mistakes.ts";
import {
  type KeyConditions,
  NameTaken,
  NoSuchTeam,
  type Position,
  type Store,
  type StoredKey,
  TooManyKeys,
} from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";
import { type Configured, DEFAULT_ACCOUNT } from "../configured.ts";
import { keyBudget } from "../budgets/demands.ts";
import {
  decodeCursor,
  decodeOffset,
  encodeCursor,
  encodeOffset,
  invalid,
  isOffset,
  type KeyInput,
  type KeyQuery,
  LARGEST_PAGE,
  pageSize,
  readKeyChange,
  readNewKey,
} from "./input.ts";
import { keyReports } from "./key_reports.ts";
import { KeyContext, type KeyState, stateOf, storedOf } from "../keys/key_state.ts";
import type { Keyring } from "../keys/keyring.ts";
import type { Scope } from "../keys/scope.ts";
import { newId, newSecret } from "../keys/secrets.ts";
import type { StoreChanges } from "../store_changes.ts";
import type { StoreSync } from "../store_sync.ts";
import type { Team } from "../keys/teams.ts";
import type { Key } from "../types.ts";
import { type KeyReport, type KeyView, keyView } from "./views.ts";

export interface KeyAdministrationOptions extends Scope {
  store: Store;
  keyring: Keyring;
  sync: StoreSync;
  clock: Clock;
  changes: StoreChanges;
  configured: Configured;
}

/** How the refusal of a name begins that another key has. */
export const NAME_TAKEN = "expected a name that no other key has";
const YEAR_SECONDS = 31_536_000;

export class KeyAdministration {
  readonly #options: KeyAdministrationOptions;

  constructor(options: KeyAdministrationOptions) {
    this.#options = options;
  }

  async create(input: KeyInput): Promise<{ key: KeyReport; secret: string }> {
    const { store, keyring, clock, configured, changes, member } = this.#options;
    const written = readNewKey(input);
    // Another process may have just created the team.
    if (written.team !== null) await changes.pull();
    const team = this.#teamNamed(written.team);
    const key: StoredKey = {
      ...written,
      account: written.account ?? DEFAULT_ACCOUNT,
      id: newId("key_"),
      created: clock.now(),
      revokedAt: null,
      member: member ?? null,
    };
    this.#checkName(key.name);
    if (written.account !== null) await this.#checkAccount(written.account, team);
    const secret = newSecret();
    const mostOfMember = member === undefined ? undefined : configured.members.keys;
    await refusingConflicts(
      () => key.name,
      () => store.insertKey(key, keyring.hash(secret), { mostOfMember, ...conditionOf(team) }),
    );
    return { key: await this.get(key.id), secret };
  }

  /** Keys of the configuration first, then those of the store, newest first. */
  async list(query: KeyQuery): Promise<{ data: KeyReport[]; next_cursor: string | null }> {
    const { store, keyring, member } = this.#options;
    const limit = pageSize(query.limit, LARGEST_PAGE);
    const { skip, after } = query.cursor === undefined ? { skip: 0, after: null } : placeOf(query.cursor);
    const { search, team } = query;
    const wanted = ({ key: { name }, team: of }: KeyState) =>
      (search === undefined || name.toLowerCase().includes(search.toLowerCase())) &&
      (team === undefined || of === team);
    const configured = after === null && member === undefined
      ? [...keyring.configured()].filter(wanted).slice(skip, skip + limit + 1)
      : [];
    if (configured.length > limit) {
      const data = await keyReports(this.#options, configured.slice(0, limit));
      return { data, next_cursor: encodeOffset(skip + limit) };
    }
    // One row more than the page, to find out whether there is another page.
    const context = new KeyContext([], this.#options.configured.teams);
    const stored = await store.listKeys({
      after,
      limit: limit - configured.length + 1,
      member,
      search,
      team,
    });
    const states = [...configured, ...stored.map((key) => stateOf("store", key, context))];
    const data = await keyReports(this.#options, states.slice(0, limit));
    if (states.length <= limit) return { data, next_cursor: null };
    const last = stored[stored.length - 2];
    return {
      data,
      next_cursor: last === undefined ? encodeOffset(skip + limit) : encodeCursor(last),
    };
  }

  async get(idOrName: string): Promise<KeyReport> {
    return await this.#report(await this.#find(idOrName));
  }

  /** The key as used for calls. */
  async keyOf(idOrName: string): Promise<Key> {
    return (await this.#find(idOrName)).key;
  }

  async patch(idOrName: string, patch: Partial<KeyInput>): Promise<{ before: KeyView; key: KeyReport }> {
    const changed = readKeyChange(patch);
    const state = await this.#findStored(idOrName);
    if (changed.name !== undefined) this.#checkName(changed.name);
    const before = storedOf(state);
    const team = this.#teamNamed(
      changed.team === undefined ? before.team : changed.team,
      changed.team !== undefined,
    );
    if (changed.account) await this.#checkAccount(changed.account, team);
    const { sessionLimit, account, ...others } = changed;
    const key = await this.#save(before.id, (now) => ({
      ...now,
      ...others,
      ...(sessionLimit !== undefined && { sessionLimit: sessionLimitOf(sessionLimit, now.sessionLimit) }),
      account: account === undefined ? now.account : account ?? DEFAULT_ACCOUNT,
    }), changed.team === undefined ? {} : conditionOf(team));
    if (changed.spendLimit !== undefined && changed.spendLimit !== null) {
      const { sync, clock } = this.#options;
      await sync.reportLimit("spend", keyBudget(before.id, changed.spendLimit, clock.now()));
    }
    return { before: keyView(state), key };
  }

  async rotate(idOrName: string, overlapSeconds = 0): Promise<{ key: KeyReport; secret: string }> {
    const { store, keyring, clock } = this.#options;
    if (!Number.isFinite(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > YEAR_SECONDS) {
      throw invalid(
        "overlap_seconds",
        `expected a number from 0 to ${YEAR_SECONDS}, got ${shownInput(overlapSeconds, ["overlap_seconds"])}`,
      );
    }
    const state = await this.#findStored(idOrName);
    if (state.revokedAt !== null) throw unfit(state, "a key that is valid", "which is revoked");
    const now = clock.now();
    if (state.expiresAt !== null && state.expiresAt <= now) {
      throw unfit(state, "a key that is valid", "which has ended: change its expires_at first");
    }
    const secret = newSecret();
    const until = Math.round(now + overlapSeconds * 1000);
    await store.addSecret(state.key.id, { hash: keyring.hash(secret), now, until });
    return { key: await this.get(state.key.id), secret };
  }

  async revoke(idOrName: string): Promise<KeyReport> {
    const state = await this.#findStored(idOrName);
    if (state.revokedAt !== null) return await this.#report(state);
    const at = this.#options.clock.now();
    return await this.#save(state.id, (now) => ({ ...now, revokedAt: now.revokedAt ?? at }));
  }

  async #report(state: KeyState): Promise<KeyReport> {
    return (await keyReports(this.#options, [state]))[0];
  }

  /** Reads the store first, so that a recent change by another process is seen. */
  async #find(idOrName: string): Promise<KeyState> {
    const { keyring, changes, member } = this.#options;
    await changes.pull();
    const isSeen = (state: KeyState) => member === undefined || state.member === member;
    const byId = keyring.state(idOrName);
    if (byId !== undefined && isSeen(byId)) return byId;
    const named = [...keyring.states()].filter((state) => state.key.name === idOrName && isSeen(state));
    const found = named.find((state) => state.revokedAt === null) ?? named.at(-1);
    if (found === undefined) throw noSuchKey();
    return found;
  }

  async #findStored(idOrName: string): Promise<KeyState> {
    const state = await this.#find(idOrName);
    if (state.source === "config") {
      throw unfit(state, "a key of the store", "which stands in the configuration file: change it there");
    }
    return state;
  }

  /** Changes only the requested fields: another process may have changed or revoked the key meanwhile. */
  async #save(
    id: string,
    edit: (key: StoredKey) => StoredKey,
    conditions?: KeyConditions,
  ): Promise<KeyReport> {
    let name = "";
    const named = (key: StoredKey) => {
      const edited = edit(key);
      name = edited.name;
      return edited;
    };
    const saved = await refusingConflicts(
      () => name,
      () => this.#options.store.updateKey(id, named, conditions),
    );
    if (!saved) throw noSuchKey();
    return await this.get(id);
  }

  /** @param known false: a team that no longer exists is accepted */
  #teamNamed(name: string | null, known = true): Team | null {
    if (name === null) return null;
    const team = this.#options.configured.teams.get(name);
    if (team !== undefined) return team;
    if (known) throw teamUnknown(name);
    return null;
  }

  /** @param name the account that the request names for the key itself, which is used while its team has none */
  async #checkAccount(name: string, team: Team | null): Promise<void> {
    const { configured, store } = this.#options;
    if (team !== null && team.account !== null && team.account !== name) {
      const own = shownInput(team.account, ["account"]);
      throw invalid(
        "account",
        `expected ${own}, the account of the team, which pays for its keys, got ${
          shownInput(name, ["account"])
        }`,
      );
    }
    if (configured.hasAccount(name) || await store.account(name) !== null) return;
    throw invalid("account", `expected an account that exists, got ${shownInput(name, ["account"])}`);
  }

  /** Names of configured keys are not in the store, which checks all other names. */
  #checkName(name: string): void {
    for (const { source, key } of this.#options.keyring.states()) {
      if (source === "config" && key.name === name) throw nameTaken(name);
    }
  }
}

type SessionLimit = NonNullable<StoredKey["sessionLimit"]>;

/** The limits of sessions after a change, in which limits that are not named are left unchanged. */
function sessionLimitOf(
  changed: Partial<SessionLimit> | null,
  before: SessionLimit | null,
): SessionLimit | null {
  if (changed === null) return null;
  const { amount = before?.amount ?? null, requestsPerMinute = before?.requestsPerMinute ?? null } = changed;
  const limit = { amount, requestsPerMinute };
  return limit.amount === null && limit.requestsPerMinute === null ? null : limit;
}

/** The cursor is a number of configured keys, or the position of a key in the store. */
function placeOf(cursor: string): { skip: number; after: Position | null } {
  return isOffset(cursor)
    ? { skip: decodeOffset(cursor), after: null }
    : { skip: 0, after: decodeCursor(cursor) };
}

/** The team of a key has to exist when the key is written: another process may be removing it. */
function conditionOf(team: Team | null): KeyConditions {
  return team?.source === "store" ? { team: team.name } : {};
}

async function refusingConflicts<T>(name: () => string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NoSuchTeam) throw teamUnknown(error.team);
    if (error instanceof TooManyKeys) {
      throw new Failure(
        "permission_denied",
        `A member may have ${countOf(error.most, "key")} at once: revoke one before you make another.`,
      );
    }
    throw error instanceof NameTaken ? nameTaken(name()) : error;
  }
}

function teamUnknown(name: string): Failure {
  return invalid("team", `expected a team that exists, got ${shownInput(name, ["team"])}`);
}

function nameTaken(name: string): Failure {
  return invalid("name", `${NAME_TAKEN}, got ${shownInput(name, ["name"])}`);
}

function unfit({ key }: KeyState, expected: string, why: string): Failure {
  return invalid("id", `expected ${expected}, got ${shownInput(key.name, ["id"])}, ${why}`);
}

function noSuchKey(): Failure {
  return new Failure("not_found", "There is no such key.", { param: "id" });
}
