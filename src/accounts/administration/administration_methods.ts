/** Implements the methods of the administration. */
import { Failure } from "../../exchange/failure.ts";
import { StoreUnavailable } from "../../store/mod.ts";
import type { Administration, AdministrationOptions, OpenAdministration } from "./administration.ts";
import { concerns, concernsOfKeys } from "./concerns.ts";
import { KeyAdministration } from "./key_administration.ts";
import { OfflineReports } from "./offline_reports.ts";
import { memberAdministration } from "./member_administration.ts";
import { Reports } from "./reports.ts";
import { makeStatement } from "./statement.ts";
import { TeamAdministration } from "./team_administration.ts";
import type { Trail } from "./trail.ts";
import { refuseUnknownValues } from "./traits.ts";

const RETRY_AFTER = 2;

/** The administration by role: administrators may use everything, a member only what concerns its own keys. */
export function administrationMethods(options: AdministrationOptions): OpenAdministration {
  const all = administrationOf(options);
  const { configured } = options;
  return (trail) => {
    const { principal } = trail;
    if (principal.role !== "member") return all(trail);
    // A principal without a person has no keys: keys without a member belong to nobody.
    const own = administrationOf({ ...options, member: principal.member ?? "" })(trail);
    return memberAdministration(own, {
      principal,
      rules: configured.members,
      hasTeam: (name) => configured.teams.get(name) !== undefined,
    });
  };
}

/** The dependencies of the methods, for one principal. */
interface Basis {
  options: AdministrationOptions;
  keys: KeyAdministration;
  reports: Reports;
  offline: OfflineReports;
  trail: Trail;
  /** Wraps a method that needs the store: while it is unavailable, the method throws `service_unavailable`. */
  needingStore<Args extends unknown[], Result>(
    method: (...args: Args) => Promise<Result>,
  ): (...args: Args) => Promise<Result>;
  /**
   * Wraps a read that is answered from the memory of this process while the store is unavailable; null from
   * `knownHere`: no data.
   */
  reading<Args extends unknown[], Result>(
    method: (...args: Args) => Promise<Result>,
    knownHere: (...args: Args) => Result | null,
  ): (...args: Args) => Promise<Result>;
}

function administrationOf(options: AdministrationOptions): OpenAdministration {
  const keys = new KeyAdministration(options);
  const reports = new Reports(options);
  const teams = new TeamAdministration(options);
  const offline = new OfflineReports({ ...options, recent: () => options.calls.recent() });
  const needingStore: Basis["needingStore"] = (method) => convertUnavailable(method, options.storePrepared);
  const reading: Basis["reading"] = (method, knownHere) =>
    convertUnavailable(
      orFromMemory(method, knownHere, options),
      () => options.answersFromMemory || options.storePrepared(),
    );
  return (trail) => {
    const basis = { options, keys, reports, offline, trail, needingStore, reading };
    return {
      ...keyMethods(basis),
      ...tokenMethods(basis),
      ...teamMethods(basis, teams),
      ...accountMethods(basis),
      ...generationMethods(basis),
      ...operatorMethods(basis),
    };
  };
}

function keyMethods(
  { keys, reports, offline, trail, needingStore, reading }: Basis,
): Pick<
  Administration,
  "createKey" | "listKeys" | "getKey" | "patchKey" | "rotateKey" | "revokeKey" | "keyStatus" | "keyOf"
> {
  return {
    createKey: needingStore(async (input) => {
      const made = await keys.create(input);
      await trail.note({ action: "key.created", key: made.key, fields: input });
      return made;
    }),
    listKeys: reading((query = {}) => keys.list(query), (query = {}) => offline.keys(query)),
    getKey: reading((idOrName) => keys.get(idOrName), (idOrName) => offline.key(idOrName)),
    patchKey: needingStore(async (idOrName, patch) => {
      const { before, key } = await keys.patch(idOrName, patch);
      // A change of the team may move the key to the team's account.
      const changed = key.account === before.account ? patch : { ...patch, account: key.account };
      await trail.note({ action: "key.changed", key, fields: patch, before: pick(before, changed) });
      return key;
    }),
    rotateKey: needingStore(async (idOrName, { overlapSeconds = 0 } = {}) => {
      const rotated = await keys.rotate(idOrName, overlapSeconds);
      await trail.note({
        action: "key.rotated",
        key: rotated.key,
        fields: { overlap_seconds: overlapSeconds },
      });
      return rotated;
    }),
    revokeKey: needingStore(async (idOrName) => {
      const key = await keys.revoke(idOrName);
      await trail.note({ action: "key.revoked", key, fields: {} });
      return key;
    }),
    keyStatus: needingStore((key) => reports.keyStatus(key)),
    keyOf: reading((idOrName) => keys.keyOf(idOrName), (idOrName) => offline.keyState(idOrName)?.key ?? null),
  };
}

/** Administration tokens and console sessions. */
function tokenMethods(
  { options, offline, trail, needingStore, reading }: Basis,
): Pick<
  Administration,
  "createToken" | "listTokens" | "revokeToken" | "sessions" | "endSession" | "endSessionsOf"
> {
  const { tokens, sessions } = options;
  return {
    createToken: needingStore((input) => tokens.create(input, trail.principal, trail)),
    listTokens: reading((query = {}) => tokens.list(query), (query = {}) => offline.tokens(query)),
    revokeToken: needingStore((id) => tokens.revoke(id, trail)),
    sessions: reading(
      (query = {}) => sessions.list(query, trail.principal.credential),
      (query = {}) => sessions.known(query, trail.principal.credential),
    ),
    endSession: needingStore((id) => sessions.end(id, trail)),
    endSessionsOf: needingStore((person) => sessions.endOf(person, trail)),
  };
}

function teamMethods(
  { reports, offline, trail, needingStore, reading }: Basis,
  teams: TeamAdministration,
): Pick<Administration, "teams" | "team" | "createTeam" | "changeTeam" | "removeTeam"> {
  return {
    teams: reading((query = {}) => reports.teams(query), (query = {}) => offline.teams(query)),
    team: reading((name) => reports.team(name), (name) => offline.team(name)),
    createTeam: needingStore(async (input) => {
      await teams.create(input);
      await trail.note({ action: "team.created", target: input.name, fields: input });
      return await reports.team(input.name);
    }),
    changeTeam: needingStore(async (name, input) => {
      const before = await reports.team(name);
      await teams.change(name, input);
      await trail.note({ action: "team.changed", target: name, fields: input, before: pick(before, input) });
      return await reports.team(name);
    }),
    removeTeam: needingStore(async (name) => {
      const removed = await reports.team(name);
      await teams.remove(name);
      const { account, spend_limit, models, access_policy, dlp_policy } = removed;
      const before = { account, spend_limit, models, access_policy, dlp_policy };
      await trail.note({ action: "team.removed", target: name, fields: {}, before });
      return removed;
    }),
  };
}

/** Accounts: credits, usage and statements. */
function accountMethods(
  { options, reports, offline, trail, needingStore, reading }: Basis,
): Pick<Administration, "accounts" | "createAccount" | "credits" | "addCredits" | "usage" | "statement"> {
  return {
    accounts: reading((query = {}) => reports.accounts(query), (query = {}) => offline.accounts(query)),
    createAccount: needingStore(async (input) => {
      const credits = await reports.createAccount(input);
      const { account } = credits;
      await trail.note({ action: "account.created", account, fields: input });
      return credits;
    }),
    credits: reading((account) => reports.credits(account), (account) => offline.credits(account)),
    addCredits: needingStore(async (account, amount, { note } = {}) => {
      const credits = await reports.addCredits(account, amount, note);
      await trail.note({
        action: "credits.added",
        account,
        fields: { amount, ...(note !== undefined && { note }) },
      });
      return credits;
    }),
    usage: reading((query) => reports.usage(query), (query) => offline.usage(query)),
    statement: needingStore((query) => makeStatement(options, query)),
  };
}

/** Calls: records, payloads, and running calls. */
function generationMethods(
  { options, reports, offline, trail, needingStore, reading }: Basis,
): Pick<
  Administration,
  "generations" | "generation" | "payloadAsked" | "payloadPlace" | "timeline" | "watch"
> {
  const { calls, member, sync } = options;
  return {
    generations: reading((query) => reports.generations(query), (query) => offline.generations(query)),
    generation: reading(
      (id, { owner } = {}) => reports.generation(id, owner),
      (id, { owner } = {}) => owner === undefined ? offline.generation(id) : null,
    ),
    payloadAsked: (id) => trail.note({ action: "payload.read", fields: { generation: id.slice(0, 64) } }),
    payloadPlace: needingStore((id) => options.store.payloadPlace(id)),
    async timeline() {
      if (member === undefined) return await calls.timeline();
      const { MemberTimeline } = await import("./member_timeline.ts");
      return new MemberTimeline({
        store: options.store,
        member,
        known: () => offline.calls(),
        ready: options.storeReady,
        flush: () => sync.flush(),
      });
    },
    async watch(watched) {
      refuseUnknownValues(watched.filter);
      return (await calls.live()).watch({ ...watched, member });
    },
  };
}

/** Operations: circuit breakers, audit log and the like. */
function operatorMethods(
  { options, keys, reports, offline, trail, needingStore, reading }: Basis,
): Pick<Administration, "closeBreakers" | "auditEntries" | "concerns"> {
  const { member } = options;
  return {
    closeBreakers: needingStore(async (routes) => {
      const closedAt = options.clock.now();
      await options.store.closeBreakers(routes.map((route) => ({ ...route, closedAt })));
      await trail.note({ action: "breakers.closed", fields: { routes } });
    }),
    auditEntries: reading((query) => reports.audit(query), (query) => offline.auditEntries(query)),
    concerns: needingStore(async () => {
      if (member === undefined) return await concerns(options);
      return concernsOfKeys((await keys.list({})).data, options.clock.now());
    }),
  };
}

/** The fields of a key or team that a change names. */
function pick(before: object, patch: object): object {
  return Object.fromEntries(Object.entries(before).filter(([name]) => Object.hasOwn(patch, name)));
}

/** The store's answer, or while it is unavailable that of this process; null: no data. */
function orFromMemory<Args extends unknown[], Result>(
  method: (...args: Args) => Promise<Result>,
  knownHere: (...args: Args) => Result | null,
  { sync, storeReady, answersFromMemory }: AdministrationOptions,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    const known = () => {
      const found = knownHere(...args);
      if (found !== null) return found;
      throw new StoreUnavailable("It is not known here.");
    };
    if (answersFromMemory && !storeReady()) return known();
    try {
      return await method(...args);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || !answersFromMemory) throw error;
      // The store may only be busy with reads.
      const isThere = await sync.connect().then(() => true, () => false);
      if (isThere) throw error;
      return known();
    }
  };
}

/**
 * Converts errors of an unavailable store, or of one that is not prepared or belongs to another gateway, to
 * `service_unavailable`.
 */
function convertUnavailable<Args extends unknown[], Result>(
  method: (...args: Args) => Promise<Result>,
  prepared: () => boolean,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    try {
      if (!prepared()) throw new StoreUnavailable("The store has not been prepared yet.");
      return await method(...args);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      throw new Failure("service_unavailable", "The store is unavailable.", {
        retryAfter: RETRY_AFTER,
        cause: error,
      });
    }
  };
}
