/** Workload identity federation: exchanges a token of another identity provider for a Google token (RFC 8693). */
import { Buffer } from "node:buffer";
import { isObject, type Loose, number, object, parse, string } from "../../../exchange/json.ts";
import { lifeOf } from "../bearer.ts";
import type { Expiring } from "../renewed_token.ts";
import { askForJson, askTokenService, needed, TokenError } from "../token_service.ts";
import { type GoogleContext, SCOPE } from "./context.ts";
import { impersonate } from "./impersonation.ts";

const FILE = "the credentials file";

/**
 * A Google token in exchange for a token of another identity provider.
 *
 * @param file the credentials file, parsed
 */
export async function externalAccountToken(file: Loose, context: GoogleContext): Promise<Expiring<string>> {
  const service = "the exchange of tokens of Google";
  const audience = needed(file, "audience", FILE);
  const body = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    audience,
    scope: SCOPE,
    requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
    subject_token_type: needed(file, "subject_token_type", FILE),
    subject_token: await subjectToken(file, audience, context),
  });
  const client = clientOf(file);
  const payer = string(file.workforce_pool_user_project);
  // With client authentication, the client determines the billed project.
  if (payer && client === undefined) body.set("options", JSON.stringify({ userProject: payer }));
  const url = string(file.token_url) ?? "https://sts.googleapis.com/v1/token";
  const answer = await askForJson(url, {
    service,
    method: "POST",
    headers: client,
    body,
    clock: context.clock,
  });
  const token = { value: needed(answer, "access_token", service), lifeMs: lifeOf(answer) };
  const account = string(file.service_account_impersonation_url);
  const seconds = number(object(file.service_account_impersonation).token_lifetime_seconds);
  return account ? await impersonate(account, token.value, context, { seconds }) : token;
}

/** A user of a workforce pool, signed in with gcloud. */
export async function externalUserToken(file: Loose, { clock }: GoogleContext): Promise<Expiring<string>> {
  const service = "the token service of Google";
  const body = new URLSearchParams({
    grant_type: "refresh_token",
    refresh_token: needed(file, "refresh_token", FILE),
  });
  const url = string(file.token_url) ?? "https://sts.googleapis.com/v1/oauthtoken";
  const answer = await askForJson(url, { service, method: "POST", headers: clientOf(file), body, clock });
  return { value: needed(answer, "access_token", service), lifeMs: lifeOf(answer) };
}

/** Client authentication, if the file has it. */
function clientOf(file: Loose): { authorization: string } | undefined {
  const [id, secret] = [string(file.client_id), string(file.client_secret)];
  if (id === undefined || secret === undefined) return undefined;
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}` };
}

/** Reads the subject token from a file or URL, runs a program that prints it, or makes one of an AWS identity. */
async function subjectToken(file: Loose, audience: string, context: GoogleContext): Promise<string> {
  const source = object(file.credential_source);
  if (string(source.environment_id)) {
    return await (await import("./aws_subject.ts")).awsSubjectToken(source, audience, context);
  }
  if (isObject(source.executable)) {
    return await (await import("./executable.ts")).executableSubjectToken(file, context);
  }
  const { surroundings } = context;
  const path = string(source.file);
  const url = string(source.url);
  let text: string;
  if (path !== undefined) {
    text = await surroundings.readText(path).catch(() => {
      throw new TokenError("the file of the identity token cannot be read");
    });
  } else if (url !== undefined) {
    const headers = object(source.headers) as Record<string, string>;
    text = await askTokenService(url, { service: "the source of the identity token", headers });
  } else {
    throw new TokenError("the credentials file names no credential_source.file and no credential_source.url");
  }
  const format = object(source.format);
  if (format.type !== "json") return text.trim();
  const body = parse(text);
  const field = string(format.subject_token_field_name) ?? "";
  return needed(isObject(body) ? body : {}, field, "the source of the identity token");
}
