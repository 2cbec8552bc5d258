/** Who administers: the roles, what each of them may do, and who is asking now. */

export const ROLES = ["owner", "operator", "auditor", "member"] as const;

export type Role = typeof ROLES[number];

/** What an endpoint of the administration asks for, and the roles that have it. Every such endpoint names one of these. */
export const ACCESS = {
  /** Reads what belongs to all. */
  read: ["owner", "operator", "auditor"],
  /** Reads; a member sees what is the member's own, and nothing else. */
  read_own: ["owner", "operator", "auditor", "member"],
  /** Reads who may administer. */
  read_people: ["owner", "auditor"],
  /** Changes what calls meet: keys, teams, accounts, circuit breakers of providers. */
  change: ["owner", "operator"],
  /** Changes keys; a member the member's own, and nothing else. */
  change_own: ["owner", "operator", "member"],
  /** Changes who may administer. */
  change_people: ["owner"],
} as const satisfies Record<string, readonly Role[]>;

export type Access = keyof typeof ACCESS;

/** Whether a role may do what needs this access. */
export function may(role: Role, access: Access): boolean {
  return (ACCESS[access] as readonly Role[]).includes(role);
}

/** Whether what needs this leaves an entry in the audit log. */
export function changes(access: Access): boolean {
  return access.startsWith("change");
}

/** Who is asking. */
export interface Principal {
  role: Role;
  /** A name for people: of the token, of the person; `admin_key` and `command` have no other. */
  name: string;
  by: "admin_key" | "token" | "session" | "command";
  /** Id of the token, or of the session. */
  credential: string | null;
  /** The person, as keys name the one they belong to: issuer and subject of the sign-in. Null: no person is known. */
  member: string | null;
  /** The team that a member's keys belong to. */
  team: string | null;
}

/** The commands of the operating system's user, and whoever has the configuration's own key. */
export const COMMAND: Principal = withoutPerson("command");
export const ADMIN_KEY_HOLDER: Principal = withoutPerson("admin_key");

function withoutPerson(by: "command" | "admin_key"): Principal {
  return { role: "owner", name: by, by, credential: null, member: null, team: null };
}
