/** Refusals of the accounts, in the words of a command line, and what a key is made with all the same. */
import type { Failure } from "../exchange/failure.ts";
import { nearest, oneOf, shownInput } from "../schema/mistakes.ts";
import { readMoment } from "../schema/fields.ts";
import type { Command } from "./command.ts";

/** The option that a field of the administration is given with. */
const OPTIONS: Readonly<Record<string, string>> = {
  account: "--account",
  team: "--team",
  access_policy: "--access-policy",
  dlp_policy: "--dlp-policy",
  expires_at: "--expires",
  policy: "--policy",
};

/** The message of a failure: a field of the administration as its option, and the name that nothing has. */
export function inOptions({ code, message, param = "" }: Failure, command: Command): string {
  if (code === "not_found" && command.command === "keys" && "key" in command) {
    return `There is no key ${shownInput(command.key, ["key"])}. \`keys list\` shows those that there are.`;
  }
  if (code === "not_found" && command.command === "statement") {
    return `Cannot read --account: expected an account that exists, got ${
      shownInput(command.account, ["account"])
    }`;
  }
  const option = Object.hasOwn(OPTIONS, param) ? OPTIONS[param] : undefined;
  return option === undefined
    ? message
    : message.replace(`Cannot read ${param}: `, () => `Cannot read ${option}: `);
}

/** What keeps a key that is made from being of use, a line each. */
export function doubtsOf(
  command: Command,
  { dlpPolicies, accessPolicies }: {
    dlpPolicies: Readonly<Record<string, unknown>>;
    accessPolicies: readonly { name: string }[];
  },
  now: number,
): string[] {
  if (command.command !== "keys" || command.action !== "create") return [];
  const policy = (option: string, name: string | undefined, names: readonly string[]) => {
    if (name === undefined || names.includes(name)) return [];
    const hint = nearest(name, names);
    return [
      `warning: ${option}: expected ${oneOf(names, "the policies ")}, got ${shownInput(name, ["name"])}${
        hint ? `; nearest is ${hint}` : ""
      } (calls of the key are refused until there is one)`,
    ];
  };
  const { expiresAt } = command;
  return [
    ...policy("--access-policy", command.accessPolicy, accessPolicies.map(({ name }) => name)),
    ...policy("--dlp-policy", command.dlpPolicy, Object.keys(dlpPolicies)),
    ...expiresAt !== undefined && readMoment(expiresAt)! <= now
      ? [
        `warning: --expires: expected a time later than now (calls of the key are refused), got ${
          shownInput(expiresAt, ["expires_at"])
        }`,
      ]
      : [],
  ];
}
