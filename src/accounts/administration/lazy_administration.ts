/** Loads the implementation of the administration with the first method call: calls of models do not need it. */
import type { Administration, AdministrationOptions, OpenAdministration } from "./administration.ts";

/** All methods; the type check ensures that none is missing. */
const METHODS = [
  "createKey",
  "listKeys",
  "getKey",
  "patchKey",
  "rotateKey",
  "revokeKey",
  "createToken",
  "listTokens",
  "revokeToken",
  "keyStatus",
  "teams",
  "team",
  "createTeam",
  "changeTeam",
  "removeTeam",
  "accounts",
  "createAccount",
  "keyOf",
  "closeBreakers",
  "credits",
  "addCredits",
  "usage",
  "generations",
  "statement",
  "payloadAsked",
  "payloadPlace",
  "auditEntries",
  "generation",
  "timeline",
  "watch",
  "concerns",
  "sessions",
  "endSession",
  "endSessionsOf",
] as const satisfies readonly (keyof Administration)[];

type Forwarded = { [Name in (typeof METHODS)[number]]: Administration[Name] };

export function openAdministration(options: AdministrationOptions): OpenAdministration {
  let opened: Promise<OpenAdministration> | null = null;
  const open = () =>
    opened ??= import("./administration_methods.ts").then(({ administrationMethods }) =>
      administrationMethods(options)
    );
  return (trail) => {
    let administration: Promise<Administration> | null = null;
    const forward = (name: keyof Administration) => async (...args: unknown[]) => {
      const { [name]: method } = await (administration ??= open().then((open) => open(trail)));
      return await (method as (...args: unknown[]) => Promise<unknown>)(...args);
    };
    return Object.fromEntries(METHODS.map((name) => [name, forward(name)])) as Forwarded;
  };
}
