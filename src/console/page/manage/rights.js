/** What the one who is signed in may do: pages show no button that would be refused. The gateway decides, whatever a page shows. */
import { currentSession } from "../lib/api.js";

/** Changes keys, teams, credits, providers. */
export function mayChange() {
  const role = currentSession()?.role;
  return role === "owner" || role === "operator";
}

/** Makes keys; a member the member's own. */
export function mayMakeKeys() {
  return mayChange() || currentSession()?.role === "member";
}

/** What keys of the one who is signed in may spend, where that is a member. */
export function memberRule() {
  return currentSession()?.member_rule ?? null;
}

/** Whose keys a member's are. */
export function ownTeam() {
  return currentSession()?.team ?? null;
}

/** Sees what belongs to all. */
export function seesAll() {
  return currentSession()?.role !== "member";
}
