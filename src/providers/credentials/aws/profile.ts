/** Profiles of the shared files of AWS's tools: keys, or a role that is assumed from another profile or source. */
import { inHome, variable } from "../surroundings.ts";
import { TokenError } from "../token_service.ts";
import type { AwsKeys } from "./keys.ts";
import type { AwsContext } from "./context.ts";

export type Profile = ReadonlyMap<string, string>;

/** All that both files say of a profile; what the credentials file says wins. */
export async function readProfile(name: string, { surroundings }: AwsContext): Promise<Profile> {
  const credentials = variable(surroundings, "AWS_SHARED_CREDENTIALS_FILE") ??
    inHome(surroundings, ".aws/credentials");
  const config = variable(surroundings, "AWS_CONFIG_FILE") ?? inHome(surroundings, ".aws/config");
  const files = await Promise.all([config, credentials].map(async (path) => {
    try {
      return path === null ? "" : await surroundings.readText(path);
    } catch {
      return "";
    }
  }));
  const [ofConfig, ofCredentials] = files.map(sections);
  const found = new Map([
    ...(ofConfig.get(`profile ${name}`) ?? (name === "default" ? ofConfig.get(name) : undefined) ?? []),
    ...(ofCredentials.get(name) ?? []),
  ]);
  if (found.size === 0) throw new TokenError(`there is no AWS profile ${JSON.stringify(name)}`);
  return found;
}

/** The keys that stand in a profile itself; null: there are none. */
export function keysInProfile(profile: Profile): AwsKeys | null {
  const accessKeyId = profile.get("aws_access_key_id");
  const secretAccessKey = profile.get("aws_secret_access_key");
  if (!accessKeyId || !secretAccessKey) return null;
  return { accessKeyId, secretAccessKey, sessionToken: profile.get("aws_session_token") || undefined };
}

/** Sections of an INI file, as AWS's tools read it. Indented lines are nested settings, of which none matters here. */
function sections(text: string): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>();
  let current: Map<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*[#;]/.test(line)) continue;
    const head = /^\s*\[\s*(.*?)\s*\]/.exec(line);
    if (head) {
      const name = head[1].replace(/\s+/g, " ").replace(/^(profile )"(.*)"$/, "$1$2");
      current = found.get(name) ?? new Map();
      found.set(name, current);
      continue;
    }
    const pair = /^(\S[^=]*?)\s*=\s*(.*?)(?:\s+[#;].*)?$/.exec(line);
    if (pair) current?.set(pair[1].toLowerCase(), pair[2].trim());
  }
  return found;
}
