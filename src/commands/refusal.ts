/** Failures of the accounts in terms of the command line, and warnings for a key that is created. */
import type { Failure } from "../exchange/failure.ts";
import { nearest, oneOf, shownInput } from "../schema/mistakes.ts";
import { readMoment } from "../schema/fields.ts";
import type { Command } from "./command.ts";

/** The option for each field of the administration API. */
const OPTIONS: Readonly<Record<string, string>> = {
  account: "--account",
  team: "--team",
  access_policy: "--access-policy",
  dlp_policy: "--dlp-policy",
  expires_at: "--expires",
  policy: "--policy",
};

/** The message of a failure, with the option instead of the field, or with the name that was not found. */
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

/** Reasons why a created key cannot be used yet, one line each. */
export function warningsOf(
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
