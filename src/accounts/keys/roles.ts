/** Roles of administrators, their access rights, and the current principal. */

export const ROLES = ["owner", "operator", "auditor", "member"] as const;

export type Role = typeof ROLES[number];

/** Access levels of administration endpoints, and the roles that have them. Every such endpoint names one. */
export const ACCESS = {
  /** Reads shared data. */
  read: ["owner", "operator", "auditor"],
  /** Reads; a member only its own data. */
  read_own: ["owner", "operator", "auditor", "member"],
  /** Reads tokens and sessions. */
  read_people: ["owner", "auditor"],
  /** Changes what affects calls: keys, teams, accounts, circuit breakers. */
  change: ["owner", "operator"],
  /** Changes keys; a member only its own. */
  change_own: ["owner", "operator", "member"],
  /** Changes tokens and sessions. */
  change_people: ["owner"],
} as const satisfies Record<string, readonly Role[]>;

export type Access = keyof typeof ACCESS;

/** Whether a role has this access. */
export function may(role: Role, access: Access): boolean {
  return (ACCESS[access] as readonly Role[]).includes(role);
}

/** Whether this access is recorded in the audit log. */
export function changes(access: Access): boolean {
  return access.startsWith("change");
}

/** The authenticated requester. */
export interface Principal {
  role: Role;
  /** Display name: of the token or the person; otherwise `admin_key` or `command`. */
  name: string;
  by: "admin_key" | "token" | "session" | "command";
  /** Id of the token, or of the session. */
  credential: string | null;
  /** The person, by the name that keys use for their member: issuer and subject of the sign-in. Null: unknown. */
  member: string | null;
  /** The team of a member's keys. */
  team: string | null;
}

/** For commands run by the user of the operating system, and for the admin key of the configuration. */
export const COMMAND: Principal = withoutPerson("command");
export const ADMIN_KEY_HOLDER: Principal = withoutPerson("admin_key");

function withoutPerson(by: "command" | "admin_key"): Principal {
  return { role: "owner", name: by, by, credential: null, member: null, team: null };
}
