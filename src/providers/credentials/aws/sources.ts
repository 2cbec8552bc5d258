/**
 * Where the keys for AWS come from, in the order of the vendor's own libraries: the environment, a profile that it names, a
 * web identity (EKS), the container (ECS, EKS pod identity), the profile `default`, the instance's role.
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
  /** Keys of the configuration; they win over all others. */
  keys?: AwsKeys;
  /** Null: the one that AWS_PROFILE names. */
  profile: string | null;
  /** A role to assume with whatever is found. */
  roleArn: string | null;
  externalId: string | null;
}

/** Where keys come from; with a role, those of the role, for which the others ask. */
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

/** Where no variable says anything: the profile `default`, else the instance's role. */
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
