/**
 * Azure Arc: a machine outside of Azure whose agent has an identity. The agent writes a secret into a file that only members of its group
 * can read, names the file in a 401, and expects the secret in a second request.
 */
import { answerOf, TokenError } from "../token_service.ts";
import type { AzureContext, IdentityRequest } from "./context.ts";

const SERVICE = "the agent of Azure Arc";

/** Timeout: the agent is on this machine. */
const WITHIN_MS = 3000;

/** The agent's folder: another file must not be read, and sent, because an answer names it. */
const KEY_FILE = /^\/var\/opt\/azcmagent\/tokens\/[\w-][\w.-]*\.key$/;
const WINDOWS_KEY_FILE = /^[a-z]:\\ProgramData\\AzureConnectedMachineAgent\\Tokens\\[\w-][\w.-]*\.key$/i;
const MOST_CHARS = 4096;

/** The request with the agent's secret. */
export async function arcRequest(
  url: string,
  { surroundings, clock }: AzureContext,
): Promise<IdentityRequest> {
  const headers = { metadata: "true" };
  const answer = await answerOf(url, { service: SERVICE, headers, within: WITHIN_MS });
  clock.learn(answer.header("date"));
  const challenge = answer.header("www-authenticate") ?? "";
  const path = /^Basic realm="?([^",]+)"?$/i.exec(challenge.trim())?.[1];
  if (answer.status !== 401 || path === undefined) {
    throw new TokenError(`${SERVICE} answered ${answer.status} without a challenge`);
  }
  if (!KEY_FILE.test(path) && !WINDOWS_KEY_FILE.test(path)) {
    throw new TokenError(`${SERVICE} names a file that is not in its folder`);
  }
  const secret = (await surroundings.readText(path).catch(() => {
    throw new TokenError(`the secret of ${SERVICE} cannot be read: this user must be in the group himds`);
  })).trim();
  if (secret === "" || secret.length > MOST_CHARS || /[^!-~]/.test(secret)) {
    throw new TokenError(`the file of ${SERVICE} holds no secret`);
  }
  return { url, headers: { ...headers, authorization: `Basic ${secret}` } };
}
