/**
 * Where the keys for AWS come from, in the order of the vendor's own libraries: the environment, a profile that it names, a
 * web identity (EKS), the container (ECS, EKS pod identity), the profile `default`, the instance's role.
 */
import { type Surroundings, variable } from "../surroundings.ts";
import { TokenError } from "../token_service.ts";
import { containerSource } from "./container.ts";
import type { AwsContext } from "./context.ts";
import { instanceSource } from "./instance.ts";
import type { AwsKeys, AwsSource } from "./keys.ts";
import { keysInProfile, type Profile, readProfile } from "./profile.ts";
import { assumeRole, assumeRoleWithToken, type RoleRequest } from "./sts.ts";

export interface SourceSettings {
  /** Keys of the configuration; they win over all others. */
  keys?: AwsKeys;
  /** Null: the one that AWS_PROFILE names. */
  profile: string | null;
  /** A role to assume with whatever is found. */
  roleArn: string | null;
  externalId: string | null;
}

/** Longest chain of profiles, each of which is assumed from the next. */
const MOST_PROFILES = 5;

export function awsSource(settings: SourceSettings, context: AwsContext): AwsSource {
  const found = firstSource(settings, context);
  const { roleArn } = settings;
  if (roleArn === null) return found;
  const role = { roleArn, sessionName: sessionName(context), externalId: settings.externalId ?? undefined };
  return async () => assumeRole(role, (await found()).value, context);
}

function firstSource({ keys, profile: named }: SourceSettings, context: AwsContext): AwsSource {
  const { surroundings } = context;
  const environment = keys ?? environmentKeys(surroundings);
  const profile = named ?? (environment ? undefined : variable(surroundings, "AWS_PROFILE"));
  if (profile !== undefined) return () => profileKeys(profile, context, 0);
  if (environment) return () => Promise.resolve({ value: environment, lifeMs: null });
  return webIdentitySource(context) ?? containerSource(context) ?? usualSource(context);
}

/** Where no variable says anything: the profile that `aws configure` writes, else the instance's role. */
function usualSource(context: AwsContext): AwsSource {
  const instance = instanceSource(context);
  return async () => {
    const profile = await readProfile("default", context).catch(() => null);
    if (profile !== null && (profile.has("role_arn") || keysInProfile(profile) !== null)) {
      return await profileKeys("default", context, 0);
    }
    if (instance !== undefined) return await instance();
    throw new TokenError("no source of AWS credentials is configured");
  };
}

function environmentKeys(surroundings: Surroundings): AwsKeys | undefined {
  const accessKeyId = variable(surroundings, "AWS_ACCESS_KEY_ID");
  const secretAccessKey = variable(surroundings, "AWS_SECRET_ACCESS_KEY");
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: variable(surroundings, "AWS_SESSION_TOKEN") };
}

function webIdentitySource(context: AwsContext): AwsSource | undefined {
  const roleArn = variable(context.surroundings, "AWS_ROLE_ARN");
  const file = variable(context.surroundings, "AWS_WEB_IDENTITY_TOKEN_FILE");
  if (roleArn === undefined || file === undefined) return undefined;
  return () => assumeRoleWithToken({ roleArn, sessionName: sessionName(context) }, file, context);
}

async function profileKeys(name: string, context: AwsContext, depth: number): ReturnType<AwsSource> {
  const profile = await readProfile(name, context);
  const roleArn = profile.get("role_arn");
  if (roleArn === undefined) {
    const keys = keysInProfile(profile);
    if (keys === null) {
      throw new TokenError(`the AWS profile ${JSON.stringify(name)} has no keys and no role`);
    }
    return { value: keys, lifeMs: null };
  }
  const role: RoleRequest = {
    roleArn,
    sessionName: profile.get("role_session_name") || sessionName(context),
    externalId: profile.get("external_id") || undefined,
  };
  const tokenFile = profile.get("web_identity_token_file");
  if (tokenFile) return await assumeRoleWithToken(role, tokenFile, context);
  return await assumeRole(role, await basisOf(profile, name, context, depth), context);
}

/** The keys that a profile's role is assumed with. */
async function basisOf(
  profile: Profile,
  name: string,
  context: AwsContext,
  depth: number,
): Promise<AwsKeys> {
  const source = profile.get("source_profile");
  if (source !== undefined) {
    const own = source === name ? keysInProfile(profile) : null;
    if (own !== null) return own;
    if (depth + 1 >= MOST_PROFILES || source === name) {
      throw new TokenError(`the AWS profile ${JSON.stringify(name)} has too long a chain of source profiles`);
    }
    return (await profileKeys(source, context, depth + 1)).value;
  }
  const kind = profile.get("credential_source")?.toLowerCase();
  const environment = environmentKeys(context.surroundings);
  if (kind === "environment" && environment) return environment;
  const other = kind === "ecscontainer"
    ? containerSource(context)
    : kind === "ec2instancemetadata"
    ? instanceSource(context)
    : undefined;
  if (other === undefined) {
    throw new TokenError(`the AWS profile ${JSON.stringify(name)} names nothing to assume its role with`);
  }
  return (await other()).value;
}

function sessionName({ surroundings }: AwsContext): string {
  return variable(surroundings, "AWS_ROLE_SESSION_NAME") ?? "sluice";
}
