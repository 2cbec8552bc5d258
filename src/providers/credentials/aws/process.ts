/** Credentials that a program prints: `credential_process` of a profile. */
import { isObject, object, parse, string } from "../../../exchange/json.ts";
import { outputOf } from "../program.ts";
import { TokenError } from "../token_service.ts";
import type { AwsContext } from "./context.ts";
import { type AwsSource, keysOf } from "./keys.ts";

/** A program may ask another service, or wait for a person. */
const WITHIN_MS = 60_000;

/** @param called the profile, for messages */
export async function processKeys(
  command: string,
  called: string,
  { surroundings, clock }: AwsContext,
): ReturnType<AwsSource> {
  const name = `credential_process of ${called}`;
  const printed = parse(await outputOf(command, { name, within: WITHIN_MS }, surroundings));
  if (!isObject(printed)) throw new TokenError(`${name} printed no JSON object`);
  const { Version, SessionToken } = object(printed);
  if (Version !== 1) throw new TokenError(`${name} printed no document of Version 1`);
  const keys = keysOf({ ...printed, Token: string(SessionToken) }, name, clock);
  if (keys.lifeMs !== null && keys.lifeMs <= 0) {
    throw new TokenError(`${name} printed keys that have expired`);
  }
  return keys;
}
