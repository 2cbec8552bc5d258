/** What each method of the administration does. */
import { Failure } from "../exchange/failure.ts";
import { StoreUnavailable } from "../store/mod.ts";
import type { AdministrationOptions, OpenAdministration } from "./administration.ts";
import { concerns, concernsOfKeys } from "./concerns.ts";
import { KeyAdministration } from "./key_administration.ts";
import { Known } from "./known.ts";
import { memberAdministration } from "./member_administration.ts";
import { Reports } from "./reports.ts";
import { makeStatement } from "./statement.ts";
import { TeamAdministration } from "./team_administration.ts";
import { refuseUnknownValues } from "./traits.ts";

const RETRY_AFTER = 2;

export function administrations(options: AdministrationOptions): OpenAdministration {
  const all = administrationOf(options);
  const { configured } = options;
  return (trail) => {
    const { principal } = trail;
    if (principal.role !== "member") return all(trail);
    // Whoever has no name as a person has no keys: that of nobody is nobody's.
    const own = administrationOf({ ...options, member: principal.member ?? "" })(trail);
    return memberAdministration(own, {
      principal,
      rules: configured.members,
      hasTeam: (name) => configured.teams.get(name) !== undefined,
    });
  };
}

function administrationOf(options: AdministrationOptions): OpenAdministration {
  const keys = new KeyAdministration(options);
  const reports = new Reports(options);
  const { tokens, calls, sessions, member, sync } = options;
  const teams = new TeamAdministration(options);
  const known = new Known({ ...options, recent: () => calls.recent() });
  const needingStore = <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    sayingAway(method, options.storePrepared);
  const reading = <Args extends unknown[], Result>(
    method: (...args: Args) => Promise<Result>,
    knownHere: (...args: Args) => Result | null,
  ) =>
    sayingAway(
      orKnown(method, knownHere, options),
      () => options.tellsWhatIsKnown || options.storePrepared(),
    );
  return (trail) => ({
    createKey: needingStore(async (input) => {
      const made = await keys.create(input);
      await trail.note({ action: "key.created", key: made.key, fields: input });
      return made;
    }),
    listKeys: reading((query = {}) => keys.list(query), (query = {}) => known.keys(query)),
    getKey: reading((idOrName) => keys.get(idOrName), (idOrName) => known.key(idOrName)),
    patchKey: needingStore(async (idOrName, patch) => {
      const { before, key } = await keys.patch(idOrName, patch);
      await trail.note({ action: "key.changed", key, fields: patch, before: pick(before, patch) });
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
    createToken: needingStore((input) => tokens.create(input, trail.principal, trail)),
    listTokens: reading((query = {}) => tokens.list(query), (query = {}) => known.tokens(query)),
    revokeToken: needingStore((id) => tokens.revoke(id, trail)),
    keyStatus: needingStore((key) => reports.keyStatus(key)),
    teams: reading((query = {}) => reports.teams(query), (query = {}) => known.teams(query)),
    team: reading((name) => reports.team(name), (name) => known.team(name)),
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
      const before = await reports.team(name);
      await teams.remove(name);
      await trail.note({ action: "team.removed", target: name, fields: {} });
      return before;
    }),
    keyOf: reading((idOrName) => keys.keyOf(idOrName), (idOrName) => known.keyState(idOrName)?.key ?? null),
    closeBreakers: needingStore(async (routes) => {
      const closedAt = options.clock.now();
      await options.store.closeBreakers(routes.map((route) => ({ ...route, closedAt })));
      await trail.note({ action: "breakers.closed", fields: { routes } });
    }),
    accounts: reading((query = {}) => reports.accounts(query), (query = {}) => known.accounts(query)),
    createAccount: needingStore(async (input) => {
      const credits = await reports.createAccount(input);
      const { account } = credits;
      await trail.note({ action: "account.created", account, fields: input });
      return credits;
    }),
    credits: reading((account) => reports.credits(account), (account) => known.credits(account)),
    addCredits: needingStore(async (account, amount, { note } = {}) => {
      const credits = await reports.addCredits(account, amount, note);
      await trail.note({
        action: "credits.added",
        account,
        fields: { amount, ...(note !== undefined && { note }) },
      });
      return credits;
    }),
    usage: reading((query) => reports.usage(query), (query) => known.usage(query)),
    payloadAsked: (id) => trail.note({ action: "payload.read", fields: { generation: id.slice(0, 64) } }),
    payloadPlace: needingStore((id) => options.store.payloadPlace(id)),
    generations: reading((query) => reports.generations(query), (query) => known.generations(query)),
    statement: needingStore((query) => makeStatement(options, query)),
    auditEntries: reading((query) => reports.audit(query), (query) => known.auditEntries(query)),
    generation: reading(
      (id, { owner } = {}) => reports.generation(id, owner),
      (id, { owner } = {}) => owner === undefined ? known.generation(id) : null,
    ),
    async timeline() {
      if (member === undefined) return await calls.timeline();
      const { MemberTimeline } = await import("./member_timeline.ts");
      return new MemberTimeline({
        store: options.store,
        member,
        known: () => known.calls(),
        ready: options.storeReady,
        flush: () => sync.flush(),
      });
    },
    async watch(watched) {
      refuseUnknownValues(watched.filter);
      return (await calls.live()).watch({ ...watched, member });
    },
    concerns: needingStore(async () => {
      if (member === undefined) return await concerns(options);
      return concernsOfKeys((await keys.list({})).data, options.clock.now());
    }),
    sessions: reading(
      (query = {}) => sessions.list(query, trail.principal.credential),
      (query = {}) => sessions.known(query, trail.principal.credential),
    ),
    endSession: needingStore((id) => sessions.end(id, trail)),
    endSessionsOf: needingStore((person) => sessions.endOf(person, trail)),
  });
}

/** Of a key or a team those fields that a change names. */
function pick(before: object, patch: object): object {
  return Object.fromEntries(Object.entries(before).filter(([name]) => Object.hasOwn(patch, name)));
}

/** What the store answers, or what this process knows by itself while it is away; null: nothing. */
function orKnown<Args extends unknown[], Result>(
  method: (...args: Args) => Promise<Result>,
  knownHere: (...args: Args) => Result | null,
  { sync, storeReady, tellsWhatIsKnown }: AdministrationOptions,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    const known = () => {
      const found = knownHere(...args);
      if (found !== null) return found;
      throw new StoreUnavailable("It is not known here.");
    };
    if (tellsWhatIsKnown && !storeReady()) return known();
    try {
      return await method(...args);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || !tellsWhatIsKnown) throw error;
      // It may only be busy with reads.
      const isThere = await sync.connect().then(() => true, () => false);
      if (isThere) throw error;
      return known();
    }
  };
}

/** While the store is away, or its tables may not be there or be another gateway's, what needs it says so. */
function sayingAway<Args extends unknown[], Result>(
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
