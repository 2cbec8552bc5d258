/**
 * Profiles in AWS's shared files: keys, a role assumed from another profile or source, a single sign-on
 * session. The precedence is that of AWS's libraries.
 */
import { TokenError } from "../token_service.ts";
import type { AwsContext } from "./context.ts";
import { containerSource } from "./container.ts";
import { instanceSource } from "./instance.ts";
import { type AwsKeys, type AwsSource, environmentKeys } from "./keys.ts";
import { profileIn, readSharedFiles, type Section, type SharedFiles } from "../../clouds/aws_files.ts";
import { ssoKeys } from "./sso.ts";
import { assumeRole, assumeRoleWithToken, type RoleRequest, sessionName } from "./sts.ts";

/** Maximum length of a chain of source profiles. */
const MOST_PROFILES = 5;

/** The credentials of a profile, or of its role. */
export async function profileKeys(name: string, context: AwsContext): ReturnType<AwsSource> {
  return await keysOfProfile(name, { files: await readSharedFiles(context.surroundings), context, depth: 0 });
}

/** Null: there is no profile `default`, or it contains no credential. */
export async function usualProfileKeys(context: AwsContext): Promise<Awaited<ReturnType<AwsSource>> | null> {
  const files = await readSharedFiles(context.surroundings);
  const profile = profileIn(files, "default");
  if (profile === undefined || kindOf(profile) === null) return null;
  return await keysOfProfile("default", { files, context, depth: 0 });
}

type Kind = "role" | "keys" | "web identity" | "process" | "sso" | "login";

/** Null: it contains no credential. */
function kindOf(profile: Section): Kind | null {
  const role = profile.has("role_arn");
  if (role && (profile.has("source_profile") || profile.has("credential_source"))) return "role";
  if (keysIn(profile) !== null) return "keys";
  if (role && profile.has("web_identity_token_file")) return "web identity";
  if (profile.has("credential_process")) return "process";
  if (SSO.some((name) => profile.has(name))) return "sso";
  return profile.has("login_session") ? "login" : null;
}

const SSO = ["sso_session", "sso_start_url", "sso_account_id", "sso_region", "sso_role_name"];

interface Reading {
  files: SharedFiles;
  context: AwsContext;
  /** Number of profiles before this one in the chain. */
  depth: number;
}

async function keysOfProfile(name: string, reading: Reading): ReturnType<AwsSource> {
  const { files, context: { surroundings }, depth } = reading;
  const profile = profileIn(files, name);
  const called = `the AWS profile ${JSON.stringify(name)}`;
  if (profile === undefined) throw new TokenError(`there is no AWS profile ${JSON.stringify(name)}`);
  // STS is called in the profile's region.
  const context = { ...reading.context, region: profile.get("region") ?? reading.context.region };
  const keys = keysIn(profile);
  // A source profile with keys is used with these, not with its role.
  if (depth > 0 && keys !== null) return { value: keys, lifeMs: null };
  switch (kindOf(profile)) {
    case "role": {
      if (profile.has("mfa_serial")) throw new TokenError(`${called} asks for a code (mfa_serial)`);
      const basis = await basisOf(profile, name, { ...reading, context });
      return await assumeRole(roleOf(profile), basis, context);
    }
    case "keys":
      return { value: keys!, lifeMs: null };
    case "web identity":
      return await assumeRoleWithToken(
        roleOf(profile),
        profile.get("web_identity_token_file")!,
        context,
      );
    case "process":
      return await (await import("./process.ts")).processKeys(
        profile.get("credential_process")!,
        called,
        context,
      );
    case "sso":
      return await ssoKeys(profile, called, files, context);
    case "login":
      return await (await import("./console_login.ts")).consoleKeys(profile, called, context);
    case null: {
      const source = profile.get("credential_source");
      if (depth > 0 && source !== undefined) {
        return { value: await sourceKeys(source, called, context), lifeMs: null };
      }
      throw new TokenError(
        profile.has("role_arn")
          ? `${called} names nothing to assume its role with`
          : `${called} has no keys and no role`,
      );
    }
  }

  function roleOf(profile: Section): RoleRequest {
    const seconds = profile.get("duration_seconds");
    return {
      roleArn: profile.get("role_arn")!,
      sessionName: profile.get("role_session_name") ?? sessionName(surroundings),
      externalId: profile.get("external_id"),
      ...(seconds !== undefined && /^\d{1,6}$/.test(seconds) && { seconds }),
    };
  }
}

/** The credentials with which a profile's role is assumed. */
async function basisOf(profile: Section, name: string, reading: Reading): Promise<AwsKeys> {
  const called = `the AWS profile ${JSON.stringify(name)}`;
  const source = profile.get("source_profile");
  if (source === undefined) {
    return await sourceKeys(profile.get("credential_source")!, called, reading.context);
  }
  const depth = reading.depth + 1;
  if (depth >= MOST_PROFILES || (source === name && keysIn(profile) === null)) {
    throw new TokenError(`${called} has too long a chain of source profiles`);
  }
  return (await keysOfProfile(source, { ...reading, depth })).value;
}

async function sourceKeys(source: string, called: string, context: AwsContext): Promise<AwsKeys> {
  const kind = source.toLowerCase();
  const environment = environmentKeys(context.surroundings);
  if (kind === "environment" && environment) return environment;
  const other = kind === "ecscontainer"
    ? containerSource(context)
    : kind === "ec2instancemetadata"
    ? instanceSource(context)
    : undefined;
  if (other === undefined) throw new TokenError(`${called} names nothing to assume its role with`);
  return (await other()).value;
}

/** The keys in a profile itself; null: none. */
function keysIn(profile: Section): AwsKeys | null {
  const accessKeyId = profile.get("aws_access_key_id");
  const secretAccessKey = profile.get("aws_secret_access_key");
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return { accessKeyId, secretAccessKey, sessionToken: profile.get("aws_session_token") };
}
