/**
 * Sources of AWS credentials, in the order of AWS's libraries: the environment, a profile set in it, a web
 * identity (EKS), the container (ECS, EKS Pod Identity), the profile `default`, the instance role.
 */
import { variable } from "../surroundings.ts";
import { TokenError } from "../token_service.ts";
import { containerSource } from "./container.ts";
import type { AwsContext } from "./context.ts";
import { instanceSource } from "./instance.ts";
import { type AwsKeys, type AwsSource, environmentKeys } from "./keys.ts";
import { profileKeys, usualProfileKeys } from "./profile.ts";
import { assumeRole, assumeRoleWithToken, sessionName } from "./sts.ts";

export interface SourceSettings {
  /** Keys in the configuration; they take precedence. */
  keys?: AwsKeys;
  /** Null: that of AWS_PROFILE. */
  profile: string | null;
  /** A role to assume with the credentials found. */
  roleArn: string | null;
  externalId: string | null;
}

/** The source of credentials; with a role, the role is assumed with them. */
export function awsSource(settings: SourceSettings, context: AwsContext): AwsSource {
  const found = firstSource(settings, context);
  const { roleArn } = settings;
  if (roleArn === null) return found;
  const role = {
    roleArn,
    sessionName: sessionName(context.surroundings),
    externalId: settings.externalId ?? undefined,
  };
  return async () => assumeRole(role, (await found()).value, context);
}

function firstSource({ keys, profile: named }: SourceSettings, context: AwsContext): AwsSource {
  const { surroundings } = context;
  const environment = keys ?? environmentKeys(surroundings);
  const profile = named ?? (environment ? undefined : variable(surroundings, "AWS_PROFILE"));
  if (profile !== undefined) return () => profileKeys(profile, context);
  if (environment) return () => Promise.resolve({ value: environment, lifeMs: null });
  return webIdentitySource(context) ?? containerSource(context) ?? usualSource(context);
}

/** Without any variables: the profile `default`, else the instance role. */
function usualSource(context: AwsContext): AwsSource {
  const instance = instanceSource(context);
  return async () => {
    const usual = await usualProfileKeys(context);
    if (usual !== null) return usual;
    if (instance !== undefined) return await instance();
    throw new TokenError("no source of AWS credentials is configured");
  };
}

function webIdentitySource(context: AwsContext): AwsSource | undefined {
  const roleArn = variable(context.surroundings, "AWS_ROLE_ARN");
  const file = variable(context.surroundings, "AWS_WEB_IDENTITY_TOKEN_FILE");
  if (roleArn === undefined || file === undefined) return undefined;
  return () =>
    assumeRoleWithToken({ roleArn, sessionName: sessionName(context.surroundings) }, file, context);
}
